export { type ProjectionStores, projectBodies, removeBody } from './projection.ts';
export { reconcile } from './reconciler.ts';
export { type RoleName, readWorkerSettings, roleNames, type WorkerSettings } from './settings.ts';
export { startWorker, type Worker } from './worker.ts';
