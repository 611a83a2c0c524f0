import { z } from 'zod';

const line = z.looseObject({
  level: z.string(),
  time: z.string(),
  msg: z.string().optional(),
  err: z.looseObject({ message: z.string().optional(), stack: z.string().optional() }).optional(),
});

/** Fields that the sentence already contains or that are written separately. */
const LEFT_OUT = new Set(['level', 'time', 'msg', 'err', 'url', 'pages', 'requestId', 'userId', 'ip']);

/**
 * Formats a log line for a person at a terminal: time of day, message, facts. Machines get the JSON.
 * @param json one line of the log; anything else is returned unchanged
 */
export function toPlainLine(json: string): string {
  const found = line.safeParse(parse(json));
  if (!found.success) return json;
  const { level, time, msg = '', err, ...facts } = found.data;
  const told = Object.entries(facts)
    .filter(([name]) => !LEFT_OUT.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
  const trace = err ? `\n${err.stack ?? err.message ?? ''}` : '';
  const word = level === 'info' ? '' : `${level.toUpperCase()} `;
  const clock = new Date(time).toTimeString().slice(0, 8);
  return `${clock} ${word}${harmless([msg, ...told].join('  '))}${trace.split('\n').map(harmless).join('\n')}\n`;
}

/** Escapes control characters, because names of files and addresses come from anybody. */
function harmless(text: string): string {
  return text.replaceAll(
    /\p{Cc}/gu,
    (char) => `\\x${(char.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`,
  );
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
