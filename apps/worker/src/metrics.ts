import { type Cache, cacheSamples } from '@sparkroom/cache';
import type { Auditor, Consumer, Relay, RelayMetrics } from '@sparkroom/events';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { labelOf, type Verdict, type Window, windows } from './coherence/checker.ts';

/** Milliseconds a figure may take to be had; a store that is away must not hang the scrape. */
const figureMs = 2_000;

/** The worker's figures in Prometheus' format. Figures whose store is away are left out of a scrape. */
export class WorkerMetrics {
  readonly registry = new Registry();
  readonly relay: RelayMetrics;
  readonly #onScrape: (() => Promise<void>)[] = [];

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    const published = new Counter({
      name: 'sparkroom_events_published_total',
      help: 'Events put into the stream by this relay, by type',
      labelNames: ['type'],
      registers,
    });
    const already = new Counter({
      name: 'sparkroom_events_already_stored_total',
      help: 'Events that an earlier try had put into the stream',
      registers,
    });
    const failures = new Counter({
      name: 'sparkroom_events_publish_failures_total',
      help: 'Tries to publish that failed or whose outcome is unknown',
      registers,
    });
    const delay = new Histogram({
      name: 'sparkroom_commit_to_stored_seconds',
      help: 'From commit (clock of the database) to the stream (clock of this process)',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 300],
      registers,
    });
    const lost = new Counter({
      name: 'sparkroom_events_lost_before_successor_total',
      help: 'Published events that the stream no longer had when a later one of their aggregate came up',
      registers,
    });
    this.relay = {
      published: (row, stored) => {
        published.inc({ type: row.type });
        if (stored.already) already.inc();
        delay.observe(Math.max(0, Date.now() - Date.parse(row.createdAt)) / 1_000);
      },
      failed: () => failures.inc(),
      lost: (rows) => lost.inc(rows.length),
    };
  }

  /** Adds the relay's partitions and the outbox's depth. */
  watchRelay(relay: Relay, depth: () => Promise<{ pending: number; oldestMs: number }>): void {
    const registers = [this.registry];
    const held = new Gauge({
      name: 'sparkroom_relay_partitions_held',
      help: 'Partitions whose lock this relay holds',
      registers,
    });
    const pending = new Gauge({
      name: 'sparkroom_outbox_pending',
      help: 'Committed events that are not in the stream yet',
      registers,
    });
    const oldest = new Gauge({
      name: 'sparkroom_outbox_oldest_seconds',
      help: 'Age of the oldest of them',
      registers,
    });
    this.#onScrape.push(async () => {
      held.set(relay.held().length);
      for (const gauge of [pending, oldest]) gauge.remove();
      const figures = await depth();
      pending.set(figures.pending);
      oldest.set(figures.oldestMs / 1_000);
    });
  }

  /** Adds how often a consumer gave an event up, by the server's own count. */
  watchAdvisories(count: () => Promise<number>): void {
    const advisories = new Gauge({
      name: 'sparkroom_advisories_total',
      help: 'Events that consumers gave up, own and others, as the NATS server tells',
      registers: [this.registry],
    });
    this.#onScrape.push(async () => {
      advisories.remove();
      advisories.set(await count());
    });
  }

  /** Adds what the auditor found. */
  watchAuditor(auditor: Auditor): void {
    const gauge = (name: string, help: string) =>
      new Gauge({ name: `sparkroom_auditor_${name}`, help, registers: [this.registry] });
    const lost = gauge('lost_total', 'Events the stream had lost and that were set to be published again');
    const ghosts = gauge('ghosts_total', 'Events in the stream that the database has lost');
    const last = gauge(
      'last_look_timestamp_seconds',
      'When this process last compared outbox and stream; 0: never',
    );
    this.#onScrape.push(async () => {
      const figures = auditor.figures();
      lost.set(figures.lost);
      ghosts.set(figures.ghosts);
      last.set(figures.lastAt / 1_000);
    });
  }

  /** Adds lag, ack-floor gap and counters of consumers. */
  watchConsumers(consumers: readonly Consumer[]): void {
    if (consumers.length === 0) return;
    const gauge = (name: string, help: string) =>
      new Gauge({
        name: `sparkroom_consumer_${name}`,
        help,
        labelNames: ['consumer'],
        registers: [this.registry],
      });
    const gauges = {
      lag: gauge('lag', 'Events in the stream that were not given out yet'),
      ackPending: gauge('ack_pending', 'Events given out and not acknowledged'),
      ackFloorGap: gauge(
        'ack_floor_gap',
        'Last sequence given out minus the last below which all are acknowledged',
      ),
      waiting: gauge('waiting', 'Aggregates whose next event waits for another try'),
      handled: gauge('handled_total', 'Events handled by this process'),
      failed: gauge('failed_total', 'Failures of handlers in this process'),
      deadLettered: gauge('dead_letters_total', 'Events this process made dead letters'),
    };
    for (const consumer of consumers)
      this.#onScrape.push(async () => {
        const labels = { consumer: consumer.name };
        for (const one of Object.values(gauges)) one.remove(labels);
        const figures = await consumer.figures();
        for (const name of Object.keys(gauges) as (keyof typeof gauges)[])
          gauges[name].set(labels, figures[name]);
      });
  }

  /** Adds the figures of a cache. */
  watchCache(cache: Cache): void {
    const gauges = new Map(
      cacheSamples(cache).map(({ name, help, labels }) => [
        name,
        new Gauge({ name, help, labelNames: [...labels], registers: [this.registry] }),
      ]),
    );
    this.#onScrape.push(async () => {
      for (const { name, values } of cacheSamples(cache))
        for (const { labels, value } of values) gauges.get(name)?.set(labels, value);
    });
  }

  /** Counts what the checker of caches found. Every window is there from the start, at zero. */
  coherence() {
    const registers = [this.registry];
    const incoherent = new Counter({
      name: 'cache_incoherent',
      help: 'Answers older than the database, so long after the event; confirmed by a read of the database',
      labelNames: ['window'],
      registers,
    });
    for (const window of windows) incoherent.inc({ window: labelOf(window) }, 0);
    const checks = new Counter({
      name: 'sparkroom_cache_checks_total',
      help: 'Reads of the coherence checker, by window, tier and verdict',
      labelNames: ['window', 'tier', 'verdict'],
      registers,
    });
    const skipped = new Counter({
      name: 'sparkroom_cache_checks_skipped_total',
      help: 'Events that were not checked because too many checks waited',
      registers,
    });
    return {
      checked({ window, tier, verdict }: { window: Window; tier: string; verdict: Verdict }): void {
        checks.inc({ window: labelOf(window), tier, verdict });
        if (verdict === 'incoherent') incoherent.inc({ window: labelOf(window) });
      },
      skipped: () => skipped.inc(),
    };
  }

  /** All figures now, as text. Never throws. */
  async text(): Promise<string> {
    await Promise.all(
      this.#onScrape.map(async (refresh) => {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<void>((resolve) => {
          timer = setTimeout(resolve, figureMs);
        });
        await Promise.race([refresh().catch(() => undefined), late]);
        clearTimeout(timer);
      }),
    );
    return await this.registry.metrics();
  }
}
