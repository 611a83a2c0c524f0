/**
 * The words that lead the published lists of common passwords. Those lists contain hardly any password with an
 * upper-case letter and a digit. To satisfy that rule, people decorate these words: a capital and digits, a year or a
 * mark at the end, or look-alike digits for letters.
 */
const COMMON_WORDS = new Set(
  `password passwort passw pass qwerty qwertyuiop qwertz azerty asdf asdfgh asdfghjkl zxcvbn zxcvbnm qazwsx
  qazwsxedc abc abcd abcde abcdef abcdefg abcdefgh abcdefghi aabbcc welcome letmein admin administrator root
  login user guest test testing changeme default secret master monkey dragon football baseball basketball soccer
  hockey iloveyou loveyou lovely sunshine princess shadow superman batman spiderman pokemon starwars trustno
  whatever freedom computer internet samsung google facebook youtube tiktok instagram twitter snapchat spring
  summer autumn winter january february march april june july august september october november december monday
  friday sunday hello hellohello charlie michael jordan jennifer michelle daniel jessica ashley thomas robert
  matthew andrew george nicole hunter ginger pepper cookie buster tigger killer access mustang harley ranger
  maggie chelsea liverpool arsenal barcelona yankees purple orange banana cheese chocolate butterfly flower
  angel angels babygirl family friends forever blessed jesus money matrix ninja phoenix gandalf zaq qwe asd zxc
  video videos creator company business`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

const LOOK_ALIKE: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Whether a password is a common word once the usual decoration is removed. */
function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase();
  const core = lower.replace(/^[\d\W_]+/, '').replace(/[\d\W_]+$/, '');
  const spelled = core.replaceAll(/[0134579@$!]/g, (mark) => LOOK_ALIKE[mark] ?? mark);
  const letters = lower.replaceAll(/[^a-z]/g, '');
  const words = letters.length >= 6 ? [core, spelled, letters] : [core, spelled];
  // A long rest of other characters is more than decoration.
  const mostly = words.filter((word) => word.length * 2 >= lower.length);
  return mostly.some((word) => COMMON_WORDS.has(word) || isRepeated(word));
}

// "aaaaaaA1", "abcabcABC1"
function isRepeated(word: string): boolean {
  return /^(.{1,4})\1+$/.test(word);
}

/**
 * Whether a password that fits the rules is still easily guessed: a common word, or a name with digits around it. The
 * specification sets the rules (section 5), so this is advice and never a refusal.
 * @param names user name, address or whatever else others know of its owner
 */
export function isEasyToGuess(password: string, names: readonly string[]): boolean {
  const letters = lettersOf(password);
  const known = [...names.map((name) => lettersOf(name.split('@')[0] ?? '')), 'reelmend'];
  return isCommonPassword(password) || known.some((name) => name.length >= 3 && name === letters);
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z]/g, '');
}
