import { createServer } from 'node:net';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { startFault } from './start-fault.ts';

const faultOf = (task: Promise<unknown>) =>
  task.then(
    () => null,
    (error: unknown) => startFault(error, '/srv/data'),
  );
const withCode = (code: string, more: object = {}) => Object.assign(new Error('x'), { code, ...more });

describe('why a server could not start', () => {
  it('names the port that is taken, and another one to type', async () => {
    const first = createServer().listen(0, '127.0.0.1');
    await once(first, 'listening');
    const address = first.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const second = createServer();
    const failed = once(second, 'listening');
    second.listen(port, '127.0.0.1');
    expect(await faultOf(failed)).toBe(
      `Port ${port} is taken by another program. Stop that one, or start on another port: PORT=${port + 1} npm start`,
    );
    first.close();
  });

  it('names the folder that cannot be written', () => {
    expect(startFault(withCode('EACCES', { syscall: 'mkdir', path: '/ro/data' }), '/ro')).toMatch(
      /^Reelmend may not write to \/ro\/data\. .*DATA_DIR=/,
    );
    expect(startFault(withCode('SQLITE_CANTOPEN'), '/ro')).toMatch(/may not write to \/ro\./);
  });

  it('says that the disk is full', async () => {
    expect(await faultOf(writeFile('/dev/full', 'x'))).toMatch(
      /^The disk of \/srv\/data is full\. Make room/,
    );
    expect(startFault(withCode('SQLITE_FULL'), '/srv/data')).toMatch(/is full/);
  });

  it('says that Postgres cannot be reached, without its password', () => {
    const refused = withCode('ECONNREFUSED', { syscall: 'connect', address: '127.0.0.1', port: 5432 });
    expect(startFault(new AggregateError([refused]), null)).toMatch(/does not answer at 127\.0\.0\.1:5432/);
    expect(startFault(withCode('28P01'), null)).toMatch(/refuses user or password/);
    expect(startFault(withCode('3D000'), null)).toMatch(/does not exist/);
  });

  it('is a stack trace for unexpected errors', () => {
    expect(startFault(new TypeError('x is undefined'), null)).toBeNull();
    expect(startFault('text', null)).toBeNull();
  });
});
