export type { Activity, Actor, Contributions, Core, LiveItem, Ranking } from './core.ts';
export { createCore } from './create-core.ts';
export { type CoreDeps, newId } from './deps.ts';
export { DomainError } from './errors.ts';
export { BODY } from './families.ts';
export { invalidateTouched, leaseOf } from './invalidator.ts';
export { nameClients } from './name-clients.ts';
export { type Change, touchedBy } from './touched.ts';
export { excerptOf } from './views.ts';
