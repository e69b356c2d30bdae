import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LiveEvent, LiveFeed, type LiveFeedOptions } from './live-feed.ts';

const event = (seq: number): LiveEvent => ({
  kind: 'event',
  seq: String(seq),
  type: 'idea.created',
  aggregate: { type: 'idea', id: `i${seq}` },
  actorId: 'u1',
  at: '2026-11-30T12:00:00Z',
});

function harness() {
  const opened: Array<{
    after: string | null;
    handlers: Parameters<LiveFeedOptions['open']>[1];
    closed: boolean;
  }> = [];
  const events: string[] = [];
  const interrupted: boolean[] = [];
  let resyncs = 0;
  let now = 0;
  const feed = new LiveFeed({
    open: (after, handlers) => {
      const stream = { after, handlers, closed: false };
      opened.push(stream);
      return () => {
        stream.closed = true;
      };
    },
    onEvent: (e) => events.push(e.seq),
    onResync: () => {
      resyncs++;
    },
    onInterrupted: (value) => interrupted.push(value),
    isFinal: (error) => error === 'final',
    now: () => now,
  });
  const last = () => {
    const stream = opened.at(-1);
    if (!stream) throw new Error('nothing was opened');
    return stream;
  };
  return { feed, opened, events, interrupted, last, resyncs: () => resyncs, at: (ms: number) => (now = ms) };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('LiveFeed', () => {
  it('goes on after the last item when the stream ends, later and later', () => {
    const h = harness();
    h.feed.start();
    expect(h.last().after).toBeNull();
    h.last().handlers.onData(event(7));
    h.last().handlers.onEnd(new Error('gone'));
    expect(h.interrupted.at(-1)).toBe(true);
    vi.advanceTimersByTime(999);
    expect(h.opened).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(h.last().after).toBe('7');
    h.last().handlers.onEnd(new Error('gone'));
    vi.advanceTimersByTime(1_000);
    expect(h.opened).toHaveLength(2);
    vi.advanceTimersByTime(1_000);
    expect(h.opened).toHaveLength(3);
    h.last().handlers.onData({ kind: 'ready', seq: '7' });
    expect(h.interrupted.at(-1)).toBe(false);
  });

  it('tells each event once, also when the server sends it again', () => {
    const h = harness();
    h.feed.start();
    h.last().handlers.onData(event(9));
    h.last().handlers.onData(event(10));
    h.last().handlers.onData(event(10));
    h.last().handlers.onData(event(9));
    expect(h.events).toEqual(['9', '10']);
  });

  it('closes the stream of a page that stays hidden', () => {
    const h = harness();
    h.feed.start();
    h.feed.hidden();
    vi.advanceTimersByTime(29_999);
    expect(h.last().closed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(h.last().closed).toBe(true);
    h.at(30_000);
    h.feed.visible();
    expect(h.opened).toHaveLength(2);
    expect(h.last().closed).toBe(false);
  });

  it('reads again and reopens when the page was hidden for 30 s, not before', () => {
    const h = harness();
    h.feed.start();
    h.feed.hidden();
    h.at(29_999);
    h.feed.visible();
    expect(h.resyncs()).toBe(0);
    h.feed.hidden();
    h.at(60_001);
    h.feed.visible();
    expect(h.resyncs()).toBe(1);
    expect(h.opened).toHaveLength(2);
    expect(h.opened[0]?.closed).toBe(true);
  });

  it('does not hear a stream that was replaced', () => {
    const h = harness();
    h.feed.start();
    const old = h.last();
    h.feed.reopen();
    old.handlers.onData(event(3));
    old.handlers.onEnd(new Error('late'));
    vi.advanceTimersByTime(60_000);
    expect(h.events).toEqual([]);
    expect(h.opened).toHaveLength(2);
  });

  it('reads again on resync', () => {
    const h = harness();
    h.feed.start();
    h.last().handlers.onData({ kind: 'resync', seq: '12' });
    expect(h.resyncs()).toBe(1);
  });

  it('does not come back after a final refusal or after stop', () => {
    const h = harness();
    h.feed.start();
    h.last().handlers.onEnd('final');
    vi.advanceTimersByTime(60_000);
    expect(h.opened).toHaveLength(1);

    const stopped = harness();
    stopped.feed.start();
    stopped.last().handlers.onEnd(new Error('gone'));
    stopped.feed.stop();
    vi.advanceTimersByTime(60_000);
    stopped.feed.reopen();
    expect(stopped.opened).toHaveLength(1);
  });
});
