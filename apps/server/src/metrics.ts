import { cacheSamples } from '@sparkroom/cache';
import type { Gate } from '@sparkroom/pools';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Stores } from './stores.ts';

/** Figures of this process, as Prometheus reads them. */
export function createMetrics(
  stores: Pick<Stores, 'mysql' | 'authDatabase' | 'cloudant' | 'live' | 'cache'>,
) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'sparkroom_http_request_seconds',
    help: 'Time to answer, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10],
    registers: [registry],
  });
  const gates: Record<string, Gate> = {
    mysql: stores.mysql.gate,
    mysql_auth: stores.authDatabase.gate,
    cloudant: stores.cloudant.gates.main,
    cloudant_slow: stores.cloudant.gates.slow,
  };
  for (const figure of ['size', 'busy', 'waiting'] as const) {
    new Gauge({
      name: `sparkroom_pool_${figure}`,
      help: { size: 'Places.', busy: 'Places taken.', waiting: 'Callers in the queue.' }[figure],
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const [pool, gate] of Object.entries(gates)) this.set({ pool }, gate.stats()[figure]);
      },
    });
  }
  new Gauge({
    name: 'sparkroom_live_readers',
    help: 'Open live feeds.',
    registers: [registry],
    collect() {
      this.set(stores.live.figures().readers);
    },
  });
  for (const { name, help, labels } of cacheSamples(stores.cache)) {
    new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      collect() {
        const sample = cacheSamples(stores.cache).find((one) => one.name === name);
        for (const { labels, value } of sample?.values ?? []) this.set(labels, value);
      },
    });
  }
  return {
    text: () => registry.metrics(),
    contentType: registry.contentType,
    /** @param seconds from the request's arrival to the end of the answer */
    observe: (method: string, route: string, status: number, seconds: number) =>
      requests.observe({ method, route, status: String(status) }, seconds),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
