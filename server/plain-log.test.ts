import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';
import { toPlainLine } from './plain-log.ts';

describe('the log at a terminal', () => {
  it('is sentences with a time of day, followed by facts, with traces below', () => {
    const lines: string[] = [];
    const logger = createLogger('info', { write: (line) => lines.push(toPlainLine(line)) });
    logger.info({ url: 'http://localhost:3000', port: 3000 }, 'Reelmend is ready at http://localhost:3000');
    logger.warn({ jobs: ['a'] }, 'interrupted jobs were put back');
    logger.error({ err: new Error('no such file') }, 'a sweep failed');
    logger.info({ password: 'secret' }, 'never');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d Reelmend is ready at http:\/\/localhost:3000 {2}port=3000\n$/);
    expect(lines[1]).toMatch(/ WARN interrupted jobs were put back {2}jobs=\["a"\]\n$/);
    expect(lines[2]).toMatch(/ ERROR a sweep failed\nError: no such file\n {4}at /);
    expect(lines[3]).not.toContain('secret');
  });

  it('contains no terminal control characters, whatever a file is called', () => {
    const lines: string[] = [];
    const logger = createLogger('info', { write: (line) => lines.push(toPlainLine(line)) });
    logger.info({ name: '\u001B[2Jclip\nnext' }, 'taken');
    expect(lines[0]).toMatch(/ taken {2}name=\\x1b\[2Jclip\\x0anext\n$/);
  });

  it('passes through what is not a log line', () => {
    expect(toPlainLine('Killed\n')).toBe('Killed\n');
  });
});
