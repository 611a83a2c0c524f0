import { pino, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** One JSON line per event on standard output; secrets that could reach a line are cut out. */
export function createLogger(level: string): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['password', 'token', 'cookie', 'authorization', '*.password', '*.token', '*.cookie'],
      censor: '[cut]',
    },
  });
}
