/**
 * Prints who has rated how many ideas of a workspace, and goes on where it was after a restart.
 *
 *   npm run subscriber -- --name acme --workspace <id>          prints {"user": ..., "password": ...}
 *   ACME_USER=acme ACME_PASSWORD=... node packages/client/examples/subscriber.ts
 */
import { connectSubscriber, fileStore, once } from '../src/subscriber.ts';

const { ACME_USER = '', ACME_PASSWORD = '', ACME_URL = 'nats://127.0.0.1:14222' } = process.env;

const subscriber = await connectSubscriber({
  url: ACME_URL,
  credentials: { user: ACME_USER, password: ACME_PASSWORD },
  name: 'ratings printer',
  ...(process.env.ACME_PREFIX ? { prefix: process.env.ACME_PREFIX } : {}),
});

const seen = await fileStore(process.env.ACME_SEEN ?? './acme-seen.txt');
const ratings = new Map<string, number>();

subscriber.subscribe(
  ['idea.rated', 'idea.unrated'],
  once(seen)(async (event) => {
    ratings.set(event.aggregate.id, event.payload.raters);
    console.log(`${event.at} ${event.type} ${event.aggregate.id}: ${event.payload.raters} raters`);
  }),
);
console.log('listening');

process.once('SIGTERM', () => void subscriber.close());
process.once('SIGINT', () => void subscriber.close());
