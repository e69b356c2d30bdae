import type { AnyDomainEvent } from '@sparkroom/contract';

/** The public reads that an event shows in. */
export type Reading =
  | { procedure: 'ideas.list'; input: { workspaceId: string } }
  | { procedure: 'ideas.ranking'; input: { workspaceId: string } }
  | { procedure: 'members.list'; input: { workspaceId: string } }
  | { procedure: 'workspaces.get'; input: { id: string } }
  | { procedure: 'workspaces.list'; input: null }
  | { procedure: 'me.clients'; input: null };

/** One read and what must be true of its answer once the event has happened. */
export interface Expectation {
  reading: Reading;
  /** As whom. */
  userId: string;
  /** True: shows the event. False: may be older than it, or newer. Null: does not tell (another page, no right). */
  shows(answer: unknown): boolean | null;
}

interface Item {
  id?: string;
  userId?: string;
  title?: string;
  name?: string;
  status?: string;
  role?: string;
  client?: { id: string; name: string };
  score?: { raters: number };
}

/** Items of a page, or null when there is none (the reader has no right). */
const itemsOf = (answer: unknown): { items: Item[]; all: boolean } | null => {
  const page = answer as { items?: Item[]; nextCursor?: string | null } | null;
  return page?.items ? { items: page.items, all: page.nextCursor === null } : null;
};

/** Looks for an item; when the page is not the whole list, its absence says nothing. */
function found(answer: unknown, is: (item: Item) => boolean, then: (item: Item) => boolean): boolean | null {
  const page = itemsOf(answer);
  if (!page) return null;
  const item = page.items.find(is);
  if (item) return then(item);
  return page.all ? false : null;
}

function absent(answer: unknown, is: (item: Item) => boolean): boolean | null {
  const page = itemsOf(answer);
  return page && !page.items.some(is);
}

/**
 * What the public reads must show after an event. Nothing for drafts, for events without a person, and for those that
 * no cached read shows.
 */
export function expectationsOf(event: AnyDomainEvent): Expectation[] {
  const { aggregate, workspaceId, actorId } = event;
  if (actorId === null) return [];
  const expect = (reading: Reading, shows: Expectation['shows'], userId = actorId): Expectation => ({
    reading,
    userId,
    shows,
  });
  const thisOne = (item: Item) => item.id === aggregate.id;
  if (workspaceId === null) {
    return event.type === 'client.updated'
      ? [
          expect({ procedure: 'me.clients', input: null }, (answer) => {
            const item = itemsOf(answer)?.items.find(thisOne);
            return item ? item.name === event.payload.name : null;
          }),
        ]
      : [];
  }
  const input = { workspaceId };
  switch (event.type) {
    case 'idea.created':
      // The newest is on the first page, unless others came after it.
      return event.payload.status === 'draft'
        ? []
        : [
            expect({ procedure: 'ideas.list', input }, (a) =>
              found(a, thisOne, (item) => item.title === event.payload.title),
            ),
          ];
    case 'idea.revised':
      return event.payload.status === 'draft'
        ? []
        : (['ideas.list', 'ideas.ranking'] as const).map((procedure) =>
            expect({ procedure, input }, (a) => {
              const item = itemsOf(a)?.items.find(thisOne);
              return item ? item.title === event.payload.title : null;
            }),
          );
    case 'idea.statusChanged':
      return [
        expect({ procedure: 'ideas.list', input }, (a) =>
          found(a, thisOne, (item) => item.status === event.payload.to),
        ),
      ];
    case 'idea.removed':
      return (['ideas.list', 'ideas.ranking'] as const).map((procedure) =>
        expect({ procedure, input }, (a) => absent(a, thisOne)),
      );
    case 'idea.rated':
    case 'idea.unrated':
      return (['ideas.list', 'ideas.ranking'] as const).map((procedure) =>
        expect({ procedure, input }, (a) => {
          const item = itemsOf(a)?.items.find(thisOne);
          return item?.score ? item.score.raters === event.payload.raters : null;
        }),
      );
    case 'membership.added':
    case 'membership.roleChanged': {
      const { userId } = event.payload;
      const role = event.type === 'membership.added' ? event.payload.role : event.payload.to;
      return [
        expect({ procedure: 'members.list', input }, (a) =>
          found(
            a,
            (item) => item.userId === userId,
            (item) => item.role === role,
          ),
        ),
        expect(
          { procedure: 'workspaces.list', input: null },
          (a) =>
            found(
              a,
              (item) => item.id === workspaceId,
              (item) => item.role === role,
            ),
          userId,
        ),
      ];
    }
    case 'membership.removed': {
      const { userId } = event.payload;
      return [
        expect({ procedure: 'members.list', input }, (a) => absent(a, (item) => item.userId === userId)),
        expect(
          { procedure: 'workspaces.list', input: null },
          (a) => absent(a, (item) => item.id === workspaceId),
          userId,
        ),
      ];
    }
    case 'workspace.updated':
      return [
        expect({ procedure: 'workspaces.get', input: { id: workspaceId } }, (a) => {
          const name = (a as Item | null)?.name;
          return name === undefined ? null : name === event.payload.name;
        }),
        expect({ procedure: 'workspaces.list', input: null }, (a) => {
          const item = itemsOf(a)?.items.find((one) => one.id === workspaceId);
          return item ? item.name === event.payload.name : null;
        }),
      ];
    default:
      return [];
  }
}
