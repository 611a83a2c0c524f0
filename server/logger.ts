import { type DestinationStream, pino, type Logger as PinoLogger } from 'pino';
import { toPlainLine } from './plain-log.ts';

export type Logger = PinoLogger;

/** Standard output: plain lines for a terminal, JSON lines for machines. */
export function logOutput(): DestinationStream {
  if (!process.stdout.isTTY) return pino.destination({ dest: 1, sync: true });
  return { write: (line) => process.stdout.write(toPlainLine(line)) };
}

/** Writes one JSON line per event and removes secrets that could reach it. */
export function createLogger(level: string, output: DestinationStream = logOutput()): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: ['password', 'token', 'cookie', 'authorization', '*.password', '*.token', '*.cookie'],
      censor: '[cut]',
    },
  };
  return pino(options, output);
}
