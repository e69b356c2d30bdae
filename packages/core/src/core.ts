import type {
  Client,
  Guidance,
  GuidanceWithBody,
  Idea,
  IdeaRevision,
  IdeaSummary,
  Invitation,
  inputs,
  Me,
  Member,
  MyClient,
  Paged,
  RankedIdea,
  Score,
  Workspace,
  WorkspaceSummary,
} from '@sparkroom/contract';
import type { z } from 'zod';

/** Who asks. Made by the host from a valid session, never from input. */
export interface Actor {
  userId: string;
  platformRole: 'user' | 'admin';
  /** Travels with every event and audit row that the request causes. */
  requestId: string;
  /**
   * Version of the person's own lists, if the host has read it with the session, in this request. Without it the use
   * cases ask.
   */
  listsVersion?: number;
}

type In<T extends z.ZodType> = z.output<T>;
type I = typeof inputs;

/** What the asking person wrote, newest first. */
export interface Contributions {
  ideas: Array<IdeaSummary & { workspaceName: string }>;
  guidance: Array<Guidance & { workspaceName: string }>;
}

export interface Ranking extends Paged<RankedIdea> {
  /** Prior of the Bayesian mean: the workspace's mean (3 while nothing is rated) with the weight of so many ratings. */
  prior: { mean: number; weight: number };
  /** Ideas in the ranking. */
  total: number;
}

/** One line of a workspace's activity. */
export interface Activity {
  id: string;
  type: string;
  at: string;
  actor: { id: string; name: string } | null;
  subject: { type: string; id: string; title: string | null };
}

/**
 * Every use case. All of them:
 * - take an actor and a validated input, and answer plain data of `@sparkroom/contract`;
 * - throw {@link import('./errors.ts').DomainError} with a reason of the closed list: `NOT_FOUND` for what is missing
 *   *and* for what the actor may not know of (both alike to the letter), `ROLE_REQUIRED` where the actor sees the
 *   thing but may not do this, `VERSION_CONFLICT` (with `currentVersion`) for a stale edit;
 * - every change inside an archived workspace is refused with `WORKSPACE_ARCHIVED`;
 * - throw `StoreUnavailableError` naming the store that did not answer.
 */
export interface Core {
  me: {
    /** The asking person. */
    get(actor: Actor): Promise<Me>;
    /** Sets the language of the asking person. */
    setLocale(actor: Actor, input: In<I['me']['setLocale']>): Promise<Me>;
    /** Clients of the workspaces the person is in, by name: one SQL join. */
    clients(actor: Actor, input: In<I['me']['clients']>): Promise<Paged<MyClient>>;
    /** Ideas and guidance the person wrote: both read at once. */
    contributions(actor: Actor, input: In<I['me']['contributions']>): Promise<Contributions>;
  };
  clients: {
    /** Clients the person created or shares a workspace of (all of them for the platform admin), by name. */
    list(actor: Actor, input: In<I['clients']['list']>): Promise<Paged<Client>>;
    /** One client, if the person may see it. */
    get(actor: Actor, input: In<I['clients']['get']>): Promise<Client>;
    /** Anybody signed in may create a client. */
    create(actor: Actor, input: In<I['clients']['create']>): Promise<Client>;
    /** Renames. Its creator or the platform admin. Errors: VERSION_CONFLICT. */
    update(actor: Actor, input: In<I['clients']['update']>): Promise<Client>;
    /** Archives or brings back. Errors: VERSION_CONFLICT, CLIENT_IN_USE while it has a workspace that is not archived. */
    archive(actor: Actor, input: In<I['clients']['archive']>): Promise<Client>;
  };
  workspaces: {
    /** The person's workspaces by name, each with its client's name in O(n + m). */
    list(actor: Actor, input: In<I['workspaces']['list']>): Promise<Paged<WorkspaceSummary>>;
    /** One workspace with its pulse and what the person may do there. */
    get(actor: Actor, input: In<I['workspaces']['get']>): Promise<Workspace>;
    /** The client of a workspace. */
    client(actor: Actor, input: In<I['workspaces']['client']>): Promise<Client>;
    /** Opens a workspace for a client the person can see; the person becomes its owner. Errors: CLIENT_ARCHIVED. */
    create(actor: Actor, input: In<I['workspaces']['create']>): Promise<Workspace>;
    /** Owners. Errors: VERSION_CONFLICT, WORKSPACE_ARCHIVED. */
    update(actor: Actor, input: In<I['workspaces']['update']>): Promise<Workspace>;
    /** Owners. An archived workspace can be read, not changed. Errors: VERSION_CONFLICT, CLIENT_ARCHIVED. */
    archive(actor: Actor, input: In<I['workspaces']['archive']>): Promise<Workspace>;
  };
  members: {
    /** Members of a workspace, strongest role first. */
    list(actor: Actor, input: In<I['members']['list']>): Promise<Paged<Member>>;
    /** Owners. Adds somebody who has an account. Errors: USER_NOT_REGISTERED (invite instead), ALREADY_MEMBER. */
    add(actor: Actor, input: In<I['members']['add']>): Promise<Member>;
    /** Owners. Whoever stops being one has their open invitations withdrawn. Errors: LAST_OWNER. */
    setRole(actor: Actor, input: In<I['members']['setRole']>): Promise<Member>;
    /**
     * Owners, or oneself. The leaver's ratings stop counting until they return, their open invitations are withdrawn.
     * Errors: LAST_OWNER.
     */
    remove(actor: Actor, input: In<I['members']['remove']>): Promise<{ removed: true }>;
  };
  invitations: {
    /** Owners. Open invitations, newest first. */
    list(actor: Actor, input: In<I['invitations']['list']>): Promise<Paged<Invitation>>;
    /** Owners. The token is shown this once; only its hash is kept. Errors: INVITATION_EXISTS, ALREADY_MEMBER. */
    create(actor: Actor, input: In<I['invitations']['create']>): Promise<Invitation & { token: string }>;
    /** Owners. */
    revoke(actor: Actor, input: In<I['invitations']['revoke']>): Promise<{ revoked: true }>;
    /**
     * Joins with a token: single use, 14 days, bound to the invited address.
     * Errors: INVITATION_INVALID (unknown, used, revoked, expired, or of somebody who may not invite any more, all
     * alike), INVITATION_OTHER_PERSON.
     */
    accept(actor: Actor, input: In<I['invitations']['accept']>): Promise<Workspace>;
  };
  ideas: {
    /** Ideas of a workspace; drafts only their author's. `body` is there when `withBody` was asked. */
    list(
      actor: Actor,
      input: In<I['ideas']['list']>,
    ): Promise<Paged<IdeaSummary & { body?: { text: string } }>>;
    /** One idea with its text, score, the person's rating and what they may do. Errors: a text that is away: 503 cloudant. */
    get(actor: Actor, input: In<I['ideas']['get']>): Promise<Idea>;
    /** Versions, newest first, with the text as it was. */
    history(actor: Actor, input: In<I['ideas']['history']>): Promise<Paged<IdeaRevision>>;
    /** Open, shortlisted and accepted ideas, best first, by Bayesian mean and a total order of tie-breaks. */
    ranking(actor: Actor, input: In<I['ideas']['ranking']>): Promise<Ranking>;
    /** Owners, editors, members. Errors: WORKSPACE_ARCHIVED. */
    create(actor: Actor, input: In<I['ideas']['create']>): Promise<Idea>;
    /** Author, owners, editors (drafts: author). Errors: VERSION_CONFLICT. */
    update(actor: Actor, input: In<I['ideas']['update']>): Promise<Idea>;
    /**
     * See `ideaTransitions` of the policy. Errors: VERSION_CONFLICT, STATUS_NOT_REACHABLE (with `reachable`),
     * INVALID_INPUT when an idea is declined without a reason.
     */
    setStatus(actor: Actor, input: In<I['ideas']['setStatus']>): Promise<Idea>;
    /** Author while draft or open, owners always. Errors: VERSION_CONFLICT. */
    remove(actor: Actor, input: In<I['ideas']['remove']>): Promise<{ removed: true }>;
  };
  ratings: {
    /**
     * One rating per person and idea, the last one counts; the author's own is kept but not counted. Idempotent.
     * Errors: NOT_RATEABLE unless the idea is open or shortlisted.
     */
    set(
      actor: Actor,
      input: In<I['ratings']['set']>,
    ): Promise<{ ideaId: string; myRating: number; score: Score }>;
    /** Takes one's rating back. Idempotent. Errors: NOT_RATEABLE. */
    clear(
      actor: Actor,
      input: In<I['ratings']['clear']>,
    ): Promise<{ ideaId: string; myRating: null; score: Score }>;
  };
  guidance: {
    /** Newest first. */
    list(actor: Actor, input: In<I['guidance']['list']>): Promise<Paged<Guidance>>;
    /** One piece of guidance with its text. */
    get(actor: Actor, input: In<I['guidance']['get']>): Promise<GuidanceWithBody>;
    /** Owners and editors. */
    create(actor: Actor, input: In<I['guidance']['create']>): Promise<GuidanceWithBody>;
    /** Author or owners. Errors: VERSION_CONFLICT. */
    update(actor: Actor, input: In<I['guidance']['update']>): Promise<GuidanceWithBody>;
    /** Author or owners. Errors: VERSION_CONFLICT. */
    remove(actor: Actor, input: In<I['guidance']['remove']>): Promise<{ removed: true }>;
  };
  activity: {
    /** What happened in a workspace, newest first. Drafts and removed ideas leave no trace for others. */
    list(actor: Actor, input: In<I['activity']['list']>): Promise<Paged<Activity>>;
    /**
     * What happens in a workspace, as it happens: one item per domain event, `seq` the stream sequence (decimal text).
     * With `lastEventId` it first replays what came since. `resync` means: refetch, something was skipped.
     * Ends when `signal` aborts or when the actor is no longer a member.
     */
    live(actor: Actor, input: In<I['activity']['live']>, signal: AbortSignal): AsyncIterable<LiveItem>;
    /** Lets a listener of `live` stay. Errors: NOT_FOUND when they are no longer a member. */
    mayListen(actor: Actor, input: { workspaceId: string }): Promise<void>;
  };
}

export type LiveItem =
  | { kind: 'ready' | 'resync'; seq: string }
  | {
      kind: 'event';
      seq: string;
      type: string;
      aggregate: { type: string; id: string };
      actorId: string | null;
      at: string;
    };
