import type { IdeaStatus, Role } from '@sparkroom/contract';
import type { Actor } from './core.ts';
import { DomainError, notFound, roleRequired } from './errors.ts';

/**
 * Who may do what. This file decides every access; nothing else compares roles.
 *
 * Deny by default: a right exists only where a rule below gives it. Whoever is not in a workspace gets the answer of a
 * missing one for it and for all that is in it. The platform role `admin` opens no workspace.
 */

const owners: readonly Role[] = ['owner'];
const leads: readonly Role[] = ['owner', 'editor'];
const active: readonly Role[] = ['owner', 'editor', 'member'];
const everyone: readonly Role[] = ['owner', 'editor', 'member', 'viewer'];

/** Roles that a workspace action needs, and how the refusal names them. */
const rules = {
  'workspace.read': { roles: everyone, who: 'members of this workspace' },
  'workspace.edit': { roles: owners, who: 'owners of this workspace' },
  'members.manage': { roles: owners, who: 'owners of this workspace' },
  'idea.post': { roles: active, who: 'owners, editors and members of this workspace' },
  'idea.rate': { roles: active, who: 'owners, editors and members of this workspace' },
  'guidance.write': { roles: leads, who: 'owners and editors of this workspace' },
} as const;

export type WorkspaceAction = keyof typeof rules;

/** Whether a role allows an action; no role (not a member) allows nothing. */
export const allows = (role: Role | null | undefined, action: WorkspaceAction): boolean =>
  role != null && rules[action].roles.includes(role);

/**
 * Lets an action pass or throws: NOT_FOUND without membership, ROLE_REQUIRED with too weak a role.
 * @param what what the caller asked for, named in NOT_FOUND (an idea must not say whether its workspace exists)
 */
export function requireRole(
  role: Role | null | undefined,
  action: WorkspaceAction,
  what: 'workspace' | 'idea' | 'guidance' = 'workspace',
): asserts role is Role {
  if (role == null) throw notFound(what);
  if (!allows(role, action)) throw roleRequired(rules[action].who);
}

/** An archived workspace can be read by its members, and changed only by bringing it back. */
export function requireOpen(archivedAt: string | null): void {
  if (archivedAt === null) return;
  throw new DomainError(
    'WORKSPACE_ARCHIVED',
    'This workspace is archived: it can be read, not changed. An owner can bring it back.',
  );
}

/** Whether somebody counts among those whose rating is expected: all roles but viewer. */
export const mayRateAtAll = (role: Role): boolean => rules['idea.rate'].roles.includes(role);

export interface ClientFacts {
  created_by: string | null;
  /** Workspaces of the client that the actor is a member of; a count as the database writes it. */
  my_workspaces: string | number | bigint | null;
}

/** The platform admin sees every client: a client's name is not a workspace's content. */
export const seesAllClients = (actor: Actor): boolean => actor.platformRole === 'admin';

export const maySeeClient = (actor: Actor, client: ClientFacts): boolean =>
  seesAllClients(actor) || client.created_by === actor.userId || Number(client.my_workspaces ?? 0) > 0;

export const mayEditClient = (actor: Actor, client: Pick<ClientFacts, 'created_by'>): boolean =>
  actor.platformRole === 'admin' || client.created_by === actor.userId;

/** Lets a client be read, or changed with `edit`; else throws NOT_FOUND or ROLE_REQUIRED. */
export function requireClient<T extends ClientFacts>(
  actor: Actor,
  client: T | undefined,
  edit = false,
): asserts client is T {
  if (!client || !maySeeClient(actor, client)) {
    throw new DomainError('NOT_FOUND', 'This client does not exist, or you share no workspace of it.');
  }
  if (edit && !mayEditClient(actor, client))
    throw roleRequired('whoever created this client, or a platform admin,');
}

export interface IdeaFacts {
  authorId: string;
  status: IdeaStatus;
}

const isAuthor = (actor: Actor, idea: IdeaFacts): boolean => idea.authorId === actor.userId;

/** Drafts are their author's alone. */
export const maySeeIdea = (actor: Actor, role: Role | null | undefined, idea: IdeaFacts): boolean =>
  allows(role, 'workspace.read') && (idea.status !== 'draft' || isAuthor(actor, idea));

export function mayEditIdea(actor: Actor, role: Role, idea: IdeaFacts): boolean {
  if (!allows(role, 'idea.post') || idea.status === 'archived') return false;
  return isAuthor(actor, idea) || (idea.status !== 'draft' && leads.includes(role));
}

export function mayRemoveIdea(actor: Actor, role: Role, idea: IdeaFacts): boolean {
  if (isAuthor(actor, idea) && allows(role, 'idea.post') && ['draft', 'open'].includes(idea.status))
    return true;
  return owners.includes(role) && idea.status !== 'draft';
}

export const rateable: readonly IdeaStatus[] = ['open', 'shortlisted'];

/** Whether the person can rate it now. Authors may rate their own; it is kept, not counted. */
export const mayRateIdea = (role: Role, idea: IdeaFacts): boolean =>
  allows(role, 'idea.rate') && rateable.includes(idea.status);

/** The life of an idea: what can follow what, and who may say so besides owners and editors. */
export const ideaTransitions: Readonly<
  Record<IdeaStatus, ReadonlyArray<{ to: IdeaStatus; author?: boolean }>>
> = {
  draft: [{ to: 'open', author: true }],
  open: [{ to: 'shortlisted' }, { to: 'accepted' }, { to: 'declined' }, { to: 'archived', author: true }],
  shortlisted: [{ to: 'accepted' }, { to: 'declined' }, { to: 'open' }, { to: 'archived' }],
  accepted: [{ to: 'shortlisted' }, { to: 'archived' }],
  declined: [{ to: 'open' }, { to: 'archived' }],
  archived: [{ to: 'open' }],
};

/** Statuses the person can give the idea now, the usual next step first. */
export function reachableStatuses(actor: Actor, role: Role, idea: IdeaFacts): IdeaStatus[] {
  if (!allows(role, 'idea.post')) return [];
  return ideaTransitions[idea.status]
    .filter(({ author }) => {
      if (idea.status === 'draft') return isAuthor(actor, idea);
      return leads.includes(role) || (author === true && isAuthor(actor, idea));
    })
    .map(({ to }) => to);
}

/** Guidance is changed by its author (while owner or editor) and by owners. */
export const mayEditGuidance = (actor: Actor, role: Role, guidance: { authorId: string }): boolean =>
  owners.includes(role) || (allows(role, 'guidance.write') && guidance.authorId === actor.userId);
