export { type App, createApp } from './app.ts';
export { createLog } from './log.ts';
export { readServerSettings, type ServerSettings } from './settings.ts';
export { openStores, type Stores } from './stores.ts';
