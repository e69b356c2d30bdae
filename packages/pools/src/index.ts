export {
  type AcquireOptions,
  deadlineIn,
  Gate,
  type GateFigures,
  type GateOptions,
  type GateRefusal,
  GateRefusedError,
  type GateStats,
  type Pass,
} from './gate.ts';
export { type Outcome, type StoreName, StoreUnavailableError } from './store-unavailable.ts';
export {
  currentTimings,
  recordTiming,
  type TimingName,
  Timings,
  timingNames,
  withTimings,
} from './timings.ts';
