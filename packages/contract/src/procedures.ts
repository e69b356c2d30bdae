import { z } from 'zod';
import { Body, IdeaStatus, Locale, Role, Stars, Tags } from './entities.ts';
import { Page, TEXTS_A_PAGE } from './paging.ts';
import { Email, Id, line, text } from './text.ts';

/** The version the caller read; a stored version that differs answers CONFLICT / VERSION_CONFLICT. */
const Version = z.number().int().min(1);
/** Reference to one entity. */
export const ById = z.object({ id: Id });
const InWorkspace = z.object({ workspaceId: Id });

export const ClientName = line(1, 120);
export const WorkspaceName = line(1, 120);
export const IdeaTitle = line(1, 200);

/** Input of every procedure that takes one, named as the procedure. */
export const inputs = {
  me: {
    clients: Page.prefault({}),
    contributions: z.object({ limit: z.number().int().min(1).max(100).default(20) }).prefault({}),
    setLocale: z.object({ locale: Locale }),
  },
  clients: {
    list: Page.extend({ archived: z.boolean().default(false) }).prefault({}),
    get: ById,
    create: z.object({ name: ClientName }),
    update: z.object({ id: Id, version: Version, name: ClientName }),
    archive: z.object({ id: Id, version: Version, archived: z.boolean().default(true) }),
  },
  workspaces: {
    list: Page.extend({ archived: z.boolean().default(false) }).prefault({}),
    get: ById,
    client: ById,
    create: z.object({ clientId: Id, name: WorkspaceName, description: text(0, 2000).default('') }),
    update: z.object({
      id: Id,
      version: Version,
      name: WorkspaceName,
      description: text(0, 2000).optional(),
    }),
    archive: z.object({ id: Id, version: Version, archived: z.boolean().default(true) }),
  },
  members: {
    list: Page.extend(InWorkspace.shape),
    add: InWorkspace.extend({ email: Email, role: Role.default('member') }),
    setRole: InWorkspace.extend({ userId: Id, role: Role }),
    remove: InWorkspace.extend({ userId: Id }),
  },
  invitations: {
    list: Page.extend(InWorkspace.shape),
    create: InWorkspace.extend({ email: Email, role: Role.default('member') }),
    revoke: InWorkspace.extend({ id: Id }),
    accept: z.object({ token: z.string().min(1).max(200) }),
  },
  ideas: {
    list: Page.extend(InWorkspace.shape)
      .extend({
        sort: z.enum(['newest', 'oldest', 'active', 'title']).default('newest'),
        status: z.array(IdeaStatus).min(1).optional(),
        /** `unrated`: what I can rate and have not; `mine`: what I wrote. */
        filter: z.enum(['all', 'unrated', 'mine']).default('all'),
        /** Also read the bodies of the page (one request to Cloudant for all of them). */
        withBody: z.boolean().default(false),
      })
      .refine(({ withBody, limit }) => !withBody || limit <= TEXTS_A_PAGE, {
        path: ['limit'],
        error: `With texts a page has at most ${TEXTS_A_PAGE} ideas.`,
      }),
    get: ById,
    history: Page.extend(ById.shape).extend({
      limit: z
        .number()
        .int()
        .min(1)
        .max(TEXTS_A_PAGE, `A page of history has at most ${TEXTS_A_PAGE} versions.`)
        .default(TEXTS_A_PAGE),
    }),
    ranking: Page.extend(InWorkspace.shape),
    create: InWorkspace.extend({
      title: IdeaTitle,
      body: Body,
      tags: Tags.default([]),
      status: z.enum(['draft', 'open']).default('open'),
    }),
    update: z.object({
      id: Id,
      version: Version,
      title: IdeaTitle.optional(),
      body: Body.optional(),
      tags: Tags.optional(),
    }),
    setStatus: z.object({
      id: Id,
      version: Version,
      status: IdeaStatus,
      reason: text(0, 1000).optional(),
    }),
    remove: z.object({ id: Id, version: Version }),
  },
  ratings: {
    set: z.object({ ideaId: Id, stars: Stars }),
    clear: z.object({ ideaId: Id }),
  },
  guidance: {
    list: Page.extend(InWorkspace.shape),
    get: ById,
    create: InWorkspace.extend({ title: IdeaTitle, body: Body }),
    update: z.object({ id: Id, version: Version, title: IdeaTitle.optional(), body: Body.optional() }),
    remove: z.object({ id: Id, version: Version }),
  },
  activity: {
    list: Page.extend(InWorkspace.shape),
    live: z.object({
      workspaceId: Id,
      lastEventId: z
        .string()
        .regex(/^\d{1,19}$/)
        .nullish(),
    }),
  },
} as const;
