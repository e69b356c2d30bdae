export { type AppRouter, appRouter } from './router.ts';
export { type ApiContext, awayMessage, nameRequest } from './trpc.ts';
