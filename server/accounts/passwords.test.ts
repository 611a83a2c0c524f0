import { describe, expect, it } from 'vitest';
import { createPasswords } from './passwords.ts';

describe('passwords', () => {
  it('are told right from wrong, and for an unknown account are always wrong', async () => {
    const passwords = createPasswords();
    const stored = await passwords.hash('Mended-Clip-42');
    expect(stored).not.toContain('Mended');
    expect(passwords.isOutdated(stored)).toBe(false);
    expect(await passwords.verify(stored, 'Mended-Clip-42')).toBe(true);
    expect(await passwords.verify(stored, 'mended-clip-42')).toBe(false);
    expect(await passwords.verifyNobody('Mended-Clip-42')).toBe(false);
  });

  it('are refused while too many checks wait, and accepted again afterwards', async () => {
    const passwords = createPasswords(3);
    const tries = await Promise.allSettled(Array.from({ length: 9 }, () => passwords.verifyNobody('x')));
    const refused = tries.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toHaveLength(4);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
    expect(await passwords.verifyNobody('x')).toBe(false);
  });
});
