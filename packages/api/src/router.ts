import { inputs } from '@sparkroom/contract';
import { tracked } from '@trpc/server';
import { procedure, router, watchRights } from './trpc.ts';

const me = router({
  get: procedure.query(({ ctx }) => ctx.core.me.get(ctx.actor)),
  setLocale: procedure
    .input(inputs.me.setLocale)
    .mutation(({ ctx, input }) => ctx.core.me.setLocale(ctx.actor, input)),
  clients: procedure
    .input(inputs.me.clients)
    .query(({ ctx, input }) => ctx.core.me.clients(ctx.actor, input)),
  contributions: procedure
    .input(inputs.me.contributions)
    .query(({ ctx, input }) => ctx.core.me.contributions(ctx.actor, input)),
});

const clients = router({
  list: procedure
    .input(inputs.clients.list)
    .query(({ ctx, input }) => ctx.core.clients.list(ctx.actor, input)),
  get: procedure.input(inputs.clients.get).query(({ ctx, input }) => ctx.core.clients.get(ctx.actor, input)),
  create: procedure
    .input(inputs.clients.create)
    .mutation(({ ctx, input }) => ctx.core.clients.create(ctx.actor, input)),
  update: procedure
    .input(inputs.clients.update)
    .mutation(({ ctx, input }) => ctx.core.clients.update(ctx.actor, input)),
  archive: procedure
    .input(inputs.clients.archive)
    .mutation(({ ctx, input }) => ctx.core.clients.archive(ctx.actor, input)),
});

const workspaces = router({
  list: procedure
    .input(inputs.workspaces.list)
    .query(({ ctx, input }) => ctx.core.workspaces.list(ctx.actor, input)),
  get: procedure
    .input(inputs.workspaces.get)
    .query(({ ctx, input }) => ctx.core.workspaces.get(ctx.actor, input)),
  client: procedure
    .input(inputs.workspaces.client)
    .query(({ ctx, input }) => ctx.core.workspaces.client(ctx.actor, input)),
  create: procedure
    .input(inputs.workspaces.create)
    .mutation(({ ctx, input }) => ctx.core.workspaces.create(ctx.actor, input)),
  update: procedure
    .input(inputs.workspaces.update)
    .mutation(({ ctx, input }) => ctx.core.workspaces.update(ctx.actor, input)),
  archive: procedure
    .input(inputs.workspaces.archive)
    .mutation(({ ctx, input }) => ctx.core.workspaces.archive(ctx.actor, input)),
});

const members = router({
  list: procedure
    .input(inputs.members.list)
    .query(({ ctx, input }) => ctx.core.members.list(ctx.actor, input)),
  add: procedure
    .input(inputs.members.add)
    .mutation(({ ctx, input }) => ctx.core.members.add(ctx.actor, input)),
  setRole: procedure
    .input(inputs.members.setRole)
    .mutation(({ ctx, input }) => ctx.core.members.setRole(ctx.actor, input)),
  remove: procedure
    .input(inputs.members.remove)
    .mutation(({ ctx, input }) => ctx.core.members.remove(ctx.actor, input)),
});

const invitations = router({
  list: procedure
    .input(inputs.invitations.list)
    .query(({ ctx, input }) => ctx.core.invitations.list(ctx.actor, input)),
  create: procedure
    .input(inputs.invitations.create)
    .mutation(({ ctx, input }) => ctx.core.invitations.create(ctx.actor, input)),
  revoke: procedure
    .input(inputs.invitations.revoke)
    .mutation(({ ctx, input }) => ctx.core.invitations.revoke(ctx.actor, input)),
  accept: procedure
    .input(inputs.invitations.accept)
    .mutation(({ ctx, input }) => ctx.core.invitations.accept(ctx.actor, input)),
});

const ideas = router({
  list: procedure.input(inputs.ideas.list).query(({ ctx, input }) => ctx.core.ideas.list(ctx.actor, input)),
  get: procedure.input(inputs.ideas.get).query(({ ctx, input }) => ctx.core.ideas.get(ctx.actor, input)),
  history: procedure
    .input(inputs.ideas.history)
    .query(({ ctx, input }) => ctx.core.ideas.history(ctx.actor, input)),
  ranking: procedure
    .input(inputs.ideas.ranking)
    .query(({ ctx, input }) => ctx.core.ideas.ranking(ctx.actor, input)),
  create: procedure
    .input(inputs.ideas.create)
    .mutation(({ ctx, input }) => ctx.core.ideas.create(ctx.actor, input)),
  update: procedure
    .input(inputs.ideas.update)
    .mutation(({ ctx, input }) => ctx.core.ideas.update(ctx.actor, input)),
  setStatus: procedure
    .input(inputs.ideas.setStatus)
    .mutation(({ ctx, input }) => ctx.core.ideas.setStatus(ctx.actor, input)),
  remove: procedure
    .input(inputs.ideas.remove)
    .mutation(({ ctx, input }) => ctx.core.ideas.remove(ctx.actor, input)),
});

const ratings = router({
  set: procedure
    .input(inputs.ratings.set)
    .mutation(({ ctx, input }) => ctx.core.ratings.set(ctx.actor, input)),
  clear: procedure
    .input(inputs.ratings.clear)
    .mutation(({ ctx, input }) => ctx.core.ratings.clear(ctx.actor, input)),
});

const guidance = router({
  list: procedure
    .input(inputs.guidance.list)
    .query(({ ctx, input }) => ctx.core.guidance.list(ctx.actor, input)),
  get: procedure
    .input(inputs.guidance.get)
    .query(({ ctx, input }) => ctx.core.guidance.get(ctx.actor, input)),
  create: procedure
    .input(inputs.guidance.create)
    .mutation(({ ctx, input }) => ctx.core.guidance.create(ctx.actor, input)),
  update: procedure
    .input(inputs.guidance.update)
    .mutation(({ ctx, input }) => ctx.core.guidance.update(ctx.actor, input)),
  remove: procedure
    .input(inputs.guidance.remove)
    .mutation(({ ctx, input }) => ctx.core.guidance.remove(ctx.actor, input)),
});

/** Longest life of a live feed in milliseconds, so that sessions are looked at again and processes share the load. */
const LIVE_MS = 30 * 60_000;

/** Milliseconds between two looks whether a listener is still signed in and a member. */
const LOOK_MS = 30_000;

/** +-20 %, so that feeds which began together after a restart do not end together. */
const spread = (ms: number): number => Math.round(ms * (0.8 + Math.random() * 0.4));

const activity = router({
  list: procedure
    .input(inputs.activity.list)
    .query(({ ctx, input }) => ctx.core.activity.list(ctx.actor, input)),
  /** Server-sent events; the id of each is its stream sequence, so that a reconnecting client resumes anywhere. */
  live: procedure.input(inputs.activity.live).subscription(async function* ({ ctx, input, signal }) {
    const liveMs = ctx.liveMs ?? LIVE_MS;
    const lifetime = AbortSignal.timeout(spread(liveMs));
    const over = ctx.ending ? AbortSignal.any([ctx.ending, lifetime]) : lifetime;
    const left = new AbortController();
    const ended = AbortSignal.any([over, left.signal, ...(signal ? [signal] : [])]);
    const refused = watchRights(
      ctx,
      () => ctx.core.activity.mayListen(ctx.actor, input),
      spread(Math.min(LOOK_MS, liveMs / 4)),
      ended,
    );
    try {
      const items = ctx.core.activity.live(ctx.actor, input, AbortSignal.any([ended, refused]));
      for await (const item of items) {
        if (refused.aborted) break;
        yield tracked(item.seq, item);
      }
    } finally {
      left.abort();
    }
    if (refused.aborted) throw refused.reason;
    // Without a farewell the browser comes back by itself, to whichever process, and goes on behind its last id.
    if (over.aborted) throw new DOMException('The feed was open long enough', 'AbortError');
  }),
});

/** All procedures. Each is its input schema and one use case; rules live in `core`. */
export const appRouter = router({
  me,
  clients,
  workspaces,
  members,
  invitations,
  ideas,
  ratings,
  guidance,
  activity,
});

export type AppRouter = typeof appRouter;
