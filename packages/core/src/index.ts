export { BODY_FAMILY } from './bodies.ts';
export type { Activity, Actor, Contributions, Core, LiveItem, Ranking } from './core.ts';
export { createCore } from './create-core.ts';
export { type CoreDeps, newId } from './deps.ts';
export { DomainError } from './errors.ts';
export { nameClients } from './name-clients.ts';
export { excerptOf } from './views.ts';
