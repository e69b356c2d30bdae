import { reasonOf } from '@sparkroom/client';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { client, queryClient, trpc } from '../api/client.ts';
import { patchIdeas } from '../api/patch-ideas.ts';
import { type LiveEvent, LiveFeed } from './live-feed.ts';

/** What others did that is not shown yet: it waits for a click. */
export interface News {
  newIdeas: ReadonlySet<string>;
  /** Ideas whose text or status changed, or that were removed. */
  changedIdeas: ReadonlySet<string>;
  ranking: boolean;
  guidance: boolean;
  members: boolean;
}

const NO_NEWS: News = {
  newIdeas: new Set(),
  changedIdeas: new Set(),
  ranking: false,
  guidance: false,
  members: false,
};

interface Live {
  news: News;
  /** Forgets some of the news: they are shown now. */
  seen(part: Partial<News>): void;
  interrupted: boolean;
  /** The workspace that the page shown belongs to. */
  workspaceId: string | null;
  open(workspaceId: string | null): void;
}

const LiveContext = createContext<Live | null>(null);

/** News of the open workspace and the state of the stream. Only below the signed-in frame. */
export function useLive(): Live {
  const live = useContext(LiveContext);
  if (!live) throw new Error('useLive needs the signed-in frame above it');
  return live;
}

/** Says which workspace is open; its stream stays open while pages of the same workspace follow each other. */
export function useOpenWorkspace(workspaceId: string | null | undefined): void {
  const { open } = useLive();
  useEffect(() => {
    if (!workspaceId) return;
    open(workspaceId);
    return () => open(null);
  }, [workspaceId, open]);
}

/** Short interruptions are not worth a word. */
const QUIET_MS = 3_000;
/** Ratings that come together are read together. */
const COLLECT_MS = 400;
/** Beyond so many rated ideas at once the scores wait for the next look at the list. */
const MOST_SCORES = 10;

/** Reads the scores of some ideas and shows them where they stand: counters move, lists do not. */
async function refreshScores(ideaIds: readonly string[]): Promise<void> {
  await Promise.all(
    ideaIds.slice(0, MOST_SCORES).map(async (id) => {
      try {
        const { score } = await client.ideas.get.query({ id });
        patchIdeas(id, () => ({ score }));
      } catch {
        // Removed, hidden or away for a moment: the next look at the list tells.
      }
    }),
  );
}

const invalidate = (queryKey: readonly unknown[]) => void queryClient.invalidateQueries({ queryKey });

export function LiveProvider({ meId, children }: { meId: string; children: ReactNode }) {
  const [workspaceId, setWorkspaceId] = useState<string | null>(null);
  const [news, setNews] = useState<News>(NO_NEWS);
  const [interrupted, setInterrupted] = useState(false);
  const quiet = useRef<ReturnType<typeof setTimeout>>(undefined);
  const rated = useRef(new Set<string>());
  const collect = useRef<ReturnType<typeof setTimeout>>(undefined);

  useEffect(() => {
    setNews(NO_NEWS);
    if (!workspaceId) return;

    const counters = () => {
      if (collect.current !== undefined) return;
      collect.current = setTimeout(() => {
        collect.current = undefined;
        const ids = [...rated.current];
        rated.current.clear();
        void refreshScores(ids);
        invalidate(trpc.workspaces.get.queryKey({ id: workspaceId }));
        invalidate(trpc.activity.list.pathKey());
      }, COLLECT_MS);
    };
    const onEvent = ({ type, aggregate, actorId }: LiveEvent) => {
      if (type.endsWith('.bodyStored')) return;
      const own = actorId === meId;
      const { id } = aggregate;
      counters();
      if (type === 'idea.rated' || type === 'idea.unrated') {
        if (own) return;
        rated.current.add(id);
        setNews((n) => ({ ...n, ranking: true }));
      } else if (aggregate.type === 'idea') {
        if (own) {
          // Done here or in another window of mine: shown at once.
          invalidate(trpc.ideas.list.pathKey());
          invalidate(trpc.ideas.ranking.pathKey());
          invalidate(trpc.ideas.get.queryKey({ id }));
        } else if (type === 'idea.created') {
          setNews((n) => ({ ...n, newIdeas: new Set(n.newIdeas).add(id), ranking: true }));
        } else {
          setNews((n) => ({ ...n, changedIdeas: new Set(n.changedIdeas).add(id), ranking: true }));
        }
      } else if (aggregate.type === 'guidance') {
        if (own) invalidate(trpc.guidance.pathKey());
        else setNews((n) => ({ ...n, guidance: true }));
      } else if (aggregate.type === 'membership') {
        if (own) invalidate(trpc.members.pathKey());
        else setNews((n) => ({ ...n, members: true }));
        invalidate(trpc.workspaces.list.pathKey());
      } else if (aggregate.type === 'workspace') {
        invalidate(trpc.workspaces.pathKey());
      }
    };

    const feed = new LiveFeed({
      open: (lastEventId, handlers) => {
        const subscription = client.activity.live.subscribe(
          { workspaceId, lastEventId },
          {
            onData: ({ data }) => handlers.onData(data),
            onConnectionStateChange: ({ state, error }) => {
              // The link asks again every few seconds, whatever the server answers; a refusal is for the feed to judge.
              if (error && reasonOf(error) !== null) handlers.onEnd(error);
              else if (state !== 'idle') handlers.onConnected(state === 'pending');
            },
            onError: (error) => handlers.onEnd(error),
            onComplete: () => handlers.onEnd(null),
          },
        );
        return () => subscription.unsubscribe();
      },
      onEvent,
      onResync: () => {
        setNews(NO_NEWS);
        void queryClient.invalidateQueries();
      },
      onInterrupted: (value) => {
        clearTimeout(quiet.current);
        if (value) quiet.current = setTimeout(() => setInterrupted(true), QUIET_MS);
        else setInterrupted(false);
      },
      isFinal: (error) => {
        const reason = reasonOf(error);
        const final = reason === 'NOT_FOUND' || reason === 'UNAUTHENTICATED' || reason === 'ROLE_REQUIRED';
        // Not a member any more, or signed out elsewhere: let the page find that out, too.
        if (final) void queryClient.invalidateQueries();
        return final;
      },
    });
    const onVisibility = () => (document.hidden ? feed.hidden() : feed.visible());
    const onOnline = () => {
      feed.reopen();
      void queryClient.invalidateQueries();
    };
    feed.start();
    document.addEventListener('visibilitychange', onVisibility);
    window.addEventListener('online', onOnline);
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      window.removeEventListener('online', onOnline);
      clearTimeout(quiet.current);
      clearTimeout(collect.current);
      collect.current = undefined;
      setInterrupted(false);
      feed.stop();
    };
  }, [workspaceId, meId]);

  const seen = useCallback((part: Partial<News>) => setNews((n) => ({ ...n, ...part })), []);
  const live = useMemo(
    () => ({ news, seen, interrupted, workspaceId, open: setWorkspaceId }),
    [news, seen, interrupted, workspaceId],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}
