import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../errors.ts';

// argon2id with the minimum of OWASP's password storage cheat sheet; 81 ms and 19 MiB each on one slow core.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const PREFIX = '$argon2id$v=19$m=19456,t=2,p=1$';
/** Maximum of simultaneous hashes: fifty logins must not use up a small machine's memory. */
const PARALLEL = 2;
/**
 * Maximum of waiting checks, a quarter of a minute in all; people would have given up before further ones were done.
 */
const MOST_WAITING = 300;

export interface Passwords {
  hash(password: string): Promise<string>;
  verify(storedHash: string, password: string): Promise<boolean>;
  /**
   * Takes as long as a real check, for names that do not exist.
   * @returns always false
   */
  verifyNobody(password: string): Promise<boolean>;
  /** Whether a stored hash was made with weaker parameters than the current ones. */
  isOutdated(storedHash: string): boolean;
}

/**
 * Hashes and compares passwords with argon2id, two at a time. All functions throw AppError `unavailable` while too many
 * wait, so an attack from many addresses cannot fill the memory.
 */
export function createPasswords(mostWaiting = MOST_WAITING): Passwords {
  const waiting: (() => void)[] = [];
  let atWork = 0;
  let nobody: Promise<string> | null = null;

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (waiting.length >= mostWaiting) throw new AppError('unavailable', undefined, { retryAfterSeconds: 5 });
    if (atWork >= PARALLEL) await new Promise<void>((resolve) => waiting.push(resolve));
    else atWork += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else atWork -= 1;
    }
  }

  const make = (password: string) => inTurn(() => hash(password, PARAMETERS));
  const compare = (stored: string, password: string) => inTurn(() => verify(stored, password));
  return {
    hash: make,
    verify: compare,
    async verifyNobody(password) {
      nobody ??= make('nobody has this password').catch((error: unknown) => {
        nobody = null;
        throw error;
      });
      await compare(await nobody, password);
      return false;
    },
    isOutdated: (stored) => !stored.startsWith(PREFIX),
  };
}
