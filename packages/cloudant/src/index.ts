export type { Applied, Bodies, Body, BodyDoc, BodyInput, BodyType } from './bodies.ts';
export { type Cloudant, openCloudant } from './cloudant.ts';
export type {
  BulkRow,
  Database,
  Explanation,
  MangoQuery,
  NewDocument,
  StoredDocument,
  ViewQuery,
  ViewRow,
} from './database.ts';
export { type DeployOptions, type DeployStep, deployDesign } from './deploy.ts';
export { type Design, type DesignDefinition, defineDesign, type ViewSource } from './design.ts';
export { CloudantBodyError, CloudantError } from './errors.ts';
export type { Legacy, LegacyClient, LegacyUser, LegacyWorkspace } from './legacy.ts';
export { type CloudantSettings, readCloudantSettings } from './settings.ts';
export type { CallOptions, RequestCallOptions, RequestClass } from './transport.ts';
