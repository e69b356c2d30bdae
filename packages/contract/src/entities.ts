import { z } from 'zod';
import { Email, Id, Instant, line, text } from './text.ts';

/** Platform role. `admin` operates the system; it does not read workspaces it is not in. */
export const PlatformRole = z.enum(['user', 'admin']);
export type PlatformRole = z.infer<typeof PlatformRole>;

/** Role inside one workspace, strongest first. */
export const Role = z.enum(['owner', 'editor', 'member', 'viewer']);
export type Role = z.infer<typeof Role>;

export const IdeaStatus = z.enum(['draft', 'open', 'shortlisted', 'accepted', 'declined', 'archived']);
export type IdeaStatus = z.infer<typeof IdeaStatus>;

/** Stars with their words: 1 "not for us" to 5 "do this now". */
export const Stars = z
  .number({ error: 'Rate with a whole number from 1 to 5.' })
  .int('Rate with a whole number from 1 to 5.')
  .min(1, 'Rate with a whole number from 1 to 5.')
  .max(5, 'Rate with a whole number from 1 to 5.');

export const Locale = z.enum(['en', 'zh']);
export type Locale = z.infer<typeof Locale>;

export const Person = z.object({ id: Id, name: z.string() });
export type Person = z.infer<typeof Person>;

export const Me = z.object({
  id: Id,
  name: z.string(),
  email: z.string(),
  role: PlatformRole,
  locale: Locale.nullable(),
});
export type Me = z.infer<typeof Me>;

export const Client = z.object({
  id: Id,
  name: z.string(),
  version: z.number().int(),
  /** Workspaces of this client that the asking person is a member of. */
  workspaceCount: z.number().int(),
  archivedAt: Instant.nullable(),
  createdAt: Instant,
  /** Whether the asking person may rename or archive it. */
  mayEdit: z.boolean(),
});
export type Client = z.infer<typeof Client>;

/** A client through one's memberships: `me.clients`. */
export const MyClient = z.object({ id: Id, name: z.string(), workspaceCount: z.number().int() });
export type MyClient = z.infer<typeof MyClient>;

export const WorkspaceSummary = z.object({
  id: Id,
  name: z.string(),
  client: z.object({ id: Id, name: z.string() }),
  role: Role,
  version: z.number().int(),
  memberCount: z.number().int(),
  /** Ideas that the asking person can see, drafts of others left out. */
  ideaCount: z.number().int(),
  archivedAt: Instant.nullable(),
  createdAt: Instant,
  /** Whether the asking person may post ideas in it now. */
  mayPost: z.boolean(),
});
export type WorkspaceSummary = z.infer<typeof WorkspaceSummary>;

export const Workspace = WorkspaceSummary.extend({
  description: z.string(),
  pulse: z.object({
    /** Ideas that can be rated now (open or shortlisted). */
    rateable: z.number().int(),
    /** Of those, written by somebody else and not rated by the asking person. */
    toRate: z.number().int(),
    /** Of those that can be rated, with at least one counted rating. */
    rated: z.number().int(),
    /** Accepted or declined. */
    decided: z.number().int(),
  }),
  may: z.object({
    edit: z.boolean(),
    archive: z.boolean(),
    manageMembers: z.boolean(),
    post: z.boolean(),
    rate: z.boolean(),
    writeGuidance: z.boolean(),
  }),
});
export type Workspace = z.infer<typeof Workspace>;

export const Member = z.object({
  userId: Id,
  name: z.string(),
  email: z.string(),
  role: Role,
  since: Instant,
});
export type Member = z.infer<typeof Member>;

export const Invitation = z.object({
  id: Id,
  email: Email,
  role: Role,
  invitedBy: Person,
  createdAt: Instant,
  expiresAt: Instant,
});
export type Invitation = z.infer<typeof Invitation>;

/** The free-form part of an idea or guidance, kept as a document. */
export const Body = z.object({ text: text(1, 20_000) });
export type Body = z.infer<typeof Body>;

export const Tags = z.array(line(1, 30)).max(8, 'Use at most 8 tags.');

/**
 * Bayesian mean of an idea's counted ratings within its workspace: `(weight * C + sum) / (weight + n)`,
 * C the workspace's mean. `low` to `high` is the 80 % interval of that mean.
 * With no rating `value`, `low` and `high` are null.
 */
export const Score = z.object({
  value: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  /** Plain mean of the counted ratings. */
  mean: z.number().nullable(),
  /** Counted ratings (the author's own is not counted). */
  raters: z.number().int(),
  /** Members who may rate this idea: all but viewers and its author. */
  eligible: z.number().int(),
});
export type Score = z.infer<typeof Score>;

export const IdeaSummary = z.object({
  id: Id,
  workspaceId: Id,
  title: z.string(),
  /** First lines of the text, at most 280 code points. */
  excerpt: z.string(),
  tags: z.array(z.string()),
  author: Person,
  status: IdeaStatus,
  version: z.number().int(),
  createdAt: Instant,
  updatedAt: Instant,
  score: Score,
  myRating: z.number().int().nullable(),
  /** Whether the asking person may rate it now. */
  mayRate: z.boolean(),
});
export type IdeaSummary = z.infer<typeof IdeaSummary>;

export const Idea = IdeaSummary.extend({
  body: Body,
  /** Reason given with the last change of status, if any. */
  statusReason: z.string().nullable(),
  may: z.object({
    edit: z.boolean(),
    remove: z.boolean(),
    /** Statuses the asking person can set now. */
    setStatus: z.array(IdeaStatus),
  }),
});
export type Idea = z.infer<typeof Idea>;

export const IdeaRevision = z.object({
  version: z.number().int(),
  kind: z.enum(['created', 'revised', 'statusChanged']),
  title: z.string(),
  /** The text as it was; null where only the status changed. */
  body: Body.nullable(),
  status: IdeaStatus,
  reason: z.string().nullable(),
  by: Person,
  at: Instant,
});
export type IdeaRevision = z.infer<typeof IdeaRevision>;

export const RankedIdea = IdeaSummary.extend({
  /** 1 is best. */
  rank: z.number().int(),
  /** Ideas whose intervals overlap their neighbour's share a band: too close to call. */
  band: z.number().int(),
});
export type RankedIdea = z.infer<typeof RankedIdea>;

export const Guidance = z.object({
  id: Id,
  workspaceId: Id,
  title: z.string(),
  excerpt: z.string(),
  author: Person,
  version: z.number().int(),
  createdAt: Instant,
  updatedAt: Instant,
  may: z.object({ edit: z.boolean() }),
});
export type Guidance = z.infer<typeof Guidance>;

export const GuidanceWithBody = Guidance.extend({ body: Body });
export type GuidanceWithBody = z.infer<typeof GuidanceWithBody>;
