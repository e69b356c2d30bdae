import { styleText } from 'node:util';

/** Prints lines with the time since the command began, so that one sees what takes long. */
export interface Steps {
  log(line: string): void;
  /** Says what begins, and how long it took when it is over. */
  run<T>(what: string, work: () => Promise<T>): Promise<T>;
}

/** @param write where lines go; `npm run stack` keeps standard output for its addresses. */
export function startSteps(write: (line: string) => void = console.log): Steps {
  const started = performance.now();
  const log = (line: string): void => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
    write(`${styleText('dim', `${seconds} s`)}  ${line.replaceAll('\n', '\n          ')}`);
  };
  return {
    log,
    async run(what, work) {
      const began = performance.now();
      log(`${what} ...`);
      // A sign of life for whoever waits, without anything that needs a terminal.
      const timer = setInterval(() => log(`${what}: still at it (${seconds(began)})`), 15_000);
      try {
        const result = await work();
        log(`${what}: done in ${seconds(began)}`);
        return result;
      } finally {
        clearInterval(timer);
      }
    },
  };
}

/** @returns the time since `began` (of `performance.now()`) as `1.2 s`. */
export function seconds(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}
