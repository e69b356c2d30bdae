export * from './entities.ts';
export * from './events.ts';
export * from './paging.ts';
export * from './procedures.ts';
export * from './reasons.ts';
export * from './text.ts';
