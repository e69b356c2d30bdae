export {
  createSparkroomClient,
  type EventSourceConstructor,
  type SparkroomClient,
  type SparkroomClientOptions,
} from './create-client.ts';
export { errorDataOf, reasonOf } from './errors.ts';
