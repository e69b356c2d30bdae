const stops: (() => unknown)[] = [];
let ending = false;

/** Stops something when the program is interrupted (SIGINT, SIGTERM): the last registered first. A second signal ends at once. */
export function atEnd(stop: () => unknown): void {
  stops.push(stop);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (ending) process.exit(130);
    ending = true;
    console.error('stopping; once more ends at once');
    void (async () => {
      for (const stop of stops.reverse()) await Promise.resolve(stop()).catch(() => undefined);
      process.exit(130);
    })();
  });
