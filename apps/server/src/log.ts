import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * JSON lines with what must never be in a log taken out.
 * @param destination where they go; standard output when left out
 */
export function createLog(name: string, level: string, destination?: DestinationStream): Logger {
  const options = {
    name,
    level,
    redact: ['req.headers.cookie', 'req.headers.authorization', 'password', 'token'],
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return destination ? pino(options, destination) : pino(options);
}
