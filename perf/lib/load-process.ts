/** The load generator's own process, so that its work is not counted (or felt) in the program that reports. */
import { type LoadRequest, runLoad } from './load.ts';

process.on('message', (job: { origin: string; users: LoadRequest[][] }) => {
  runLoad(job.origin, job.users).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
// Without its parent it has nobody to work for.
process.on('disconnect', () => process.exit(0));
