export type { Activity, Actor, Contributions, Core, LiveItem, Ranking } from './core.ts';
export { DomainError } from './errors.ts';
