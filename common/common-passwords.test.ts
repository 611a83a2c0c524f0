import { describe, expect, it } from 'vitest';
import { isEasyToGuess } from './common-passwords.ts';

describe('isEasyToGuess', () => {
  it.each(['Password1', 'P4ssw0rd2024', '2024Welcome!', 'Qwertz123', 'Aaaaaaa1', 'Reelmend1'])(
    'warns about %s',
    (password) => {
      expect(isEasyToGuess(password, [])).toBe(true);
    },
  );

  it('warns about the name of its owner', () => {
    expect(isEasyToGuess('Marigold1', ['marigold', ''])).toBe(true);
    expect(isEasyToGuess('Marigold1', ['', 'marigold@mail.test'])).toBe(true);
    expect(isEasyToGuess('Marigold1', ['rose', ''])).toBe(false);
  });

  it.each(['Mended-Clip-42', 'Stitch the reel 7', 'xK9fooBar', ''])('does not warn about %j', (password) => {
    expect(isEasyToGuess(password, ['', 'ab'])).toBe(false);
  });
});
