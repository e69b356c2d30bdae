import { type Logger, pino } from 'pino';

/** JSON lines with what must never be in a log taken out. */
export function createLog(name: string, level: string): Logger {
  return pino({
    name,
    level,
    redact: ['req.headers.cookie', 'req.headers.authorization', 'password', 'token'],
    formatters: { level: (label) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  });
}
