import type { AnyDomainEvent } from '@sparkroom/contract';
import type { Events } from './connection.ts';
import { type Log, reasonOf } from './log.ts';
import { follow, StreamChangedError } from './stream-reader.ts';
import { growing, pause } from './waiting.ts';
import { decodeEvent } from './wire.ts';

export interface ChangeFeedOptions {
  events: Events;
  log: Log;
  /** Every event that is stored from now on, in stream order. */
  onEvent(event: AnyDomainEvent): void;
  /** All that the stream had at `at` (`performance.now()`) has been given to `onEvent`. */
  onBeat(at: number): void;
  /** Events may have been missed. The next ones come after whatever was stored when this is called. */
  onInterrupted(): void;
  /** Milliseconds between two questions how far the stream is. Default 1,000. */
  beatMs?: number;
}

export interface ChangeFeed {
  /** Last sequence seen; 0 before the first. */
  readonly seq: number;
  close(): Promise<void>;
}

/**
 * Follows the stream for this process alone, from its end on, and proves in short intervals that it is not late: a beat
 * compares what was delivered with the stream's own last sequence. A message gap, missed heartbeats, a stream that was
 * made anew or an event newer than this program count as an interruption; it goes on by itself.
 */
export function openChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { events, log, onEvent, onBeat, onInterrupted, beatMs = 1_000 } = options;
  const closing = new AbortController();
  let seq = 0;
  /** What must have been delivered for the next beat; one at a time, so that a slow feed still beats, late. */
  let goal: { seq: number; at: number } | undefined;

  function reach(): void {
    if (!goal || seq < goal.seq) return;
    onBeat(goal.at);
    goal = undefined;
  }

  async function askForBeats(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!goal) {
        const at = performance.now();
        const { state } = await events.streamInfo();
        if (signal.aborted) return;
        if (state.last_seq < seq) throw new StreamChangedError('the stream was made anew');
        goal = { seq: state.last_seq, at };
        reach();
      }
      await pause(beatMs, signal);
    }
  }

  const running = (async (): Promise<void> => {
    for (let trouble = 0; !closing.signal.aborted; trouble++) {
      const attempt = new AbortController();
      const signal = AbortSignal.any([closing.signal, attempt.signal]);
      let failure: unknown;
      const ended = (error?: unknown): void => {
        failure ??= error;
        attempt.abort();
      };
      try {
        const { state } = await events.streamInfo();
        goal = undefined;
        seq = state.last_seq;
        // Whatever was stored up to here was committed before anything that is read from now on.
        onInterrupted();
        await Promise.all([
          follow(
            events,
            seq + 1,
            (message) => {
              trouble = 0;
              seq = message.seq;
              try {
                onEvent(decodeEvent(message, message.seq));
              } catch (error) {
                log.debug({ seq, error: reasonOf(error) }, 'event not understood by the change feed');
                onInterrupted();
              }
              reach();
            },
            signal,
          ).then(() => ended(), ended),
          askForBeats(signal).then(() => ended(), ended),
        ]);
      } catch (error) {
        failure = error;
      }
      if (closing.signal.aborted) break;
      onInterrupted();
      log.debug({ error: reasonOf(failure) }, 'change feed interrupted, following again');
      await pause(growing(trouble + 1, 100, 2_000), closing.signal);
    }
  })();

  return {
    get seq() {
      return seq;
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
