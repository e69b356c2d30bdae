export { type AppRouter, appRouter } from './router.ts';
export { type ApiContext, awayMessage } from './trpc.ts';
