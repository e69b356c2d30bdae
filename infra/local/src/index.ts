export { type Site, type SiteOptions, startSite } from './site.ts';
export { defaultPorts, type Stack, type StackOptions, startStack } from './stack.ts';
export { type Steps, startSteps } from './steps.ts';
export { type StoreName, storeNames } from './stores/store.ts';
export { startTestStack } from './test-stack.ts';
export { LauncherError, type RunningLauncher, type TroubleCode } from './trouble.ts';
