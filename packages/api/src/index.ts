export { type AppRouter, appRouter } from './router.ts';
export type { ApiContext } from './trpc.ts';
