/** Details of a start-up error, as far as Node, SQLite and Postgres give them. */
interface Told {
  readonly code: string;
  readonly syscall: string;
  readonly path: string;
  readonly port: string;
  readonly address: string;
}

function tell(error: Error): Told {
  const read = (name: string): string => {
    const value: unknown = Reflect.get(error, name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  return {
    code: read('code'),
    syscall: read('syscall'),
    path: read('path'),
    port: read('port'),
    address: read('address'),
  };
}

const FOLDER = 'or name another folder: DATA_DIR=/path/to/folder npm start';
const DATABASE = 'The Postgres database of DATABASE_URL';

/**
 * Says in a sentence for the user of the terminal why the server could not start, and what to do.
 * @param dataDir the data folder, as far as it is known
 * @returns null for an unexpected error, which needs its stack trace
 */
export function startFault(error: unknown, dataDir: string | null): string | null {
  // Several addresses of one host were tried.
  if (error instanceof AggregateError && error.errors.length > 0) return startFault(error.errors[0], dataDir);
  if (!(error instanceof Error)) return null;
  const { code, syscall, path, port, address } = tell(error);
  const place = path || dataDir || 'its data folder';
  if (syscall === 'listen' && port !== '') {
    if (code === 'EADDRINUSE')
      return `Port ${port} is taken by another program. Stop that one, or start on another port: PORT=${Number(port) + 1} npm start`;
    if (code === 'EACCES')
      return `Port ${port} may not be used by this user. Start on one above 1023: PORT=3000 npm start`;
    if (code === 'EADDRNOTAVAIL')
      return `${address} is no address of this machine. Set HOST to one of its own, or leave it out.`;
  }
  if (syscall === 'getaddrinfo')
    return `The address ${Reflect.get(error, 'hostname')} cannot be found. Check DATABASE_URL and HOST.`;
  if (code === 'ECONNREFUSED')
    return `${DATABASE} does not answer at ${address}:${port}. Start it, or correct DATABASE_URL.`;
  if (code === '28P01' || code === '28000') return `${DATABASE} refuses user or password.`;
  if (code === '3D000') return `${DATABASE} does not exist. Create it, or correct DATABASE_URL.`;
  if (['EACCES', 'EPERM', 'EROFS', 'SQLITE_READONLY', 'SQLITE_CANTOPEN'].includes(code))
    return `Reelmend may not write to ${place}. Let this user write there, ${FOLDER}`;
  if (code === 'ENOSPC' || code === 'SQLITE_FULL')
    return `The disk of ${place} is full. Make room on it, ${FOLDER}`;
  return null;
}
