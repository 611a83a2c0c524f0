/** Widths of the scale factor bands of a window, "width" or "width x count" (ISO/IEC 14496-3, 4.5.4). */
const LONG = {
  hz96000: '4x14 8x5 12x5 16x2 24 28 36 44 64x11',
  hz64000: '4x14 8x4 12x3 16x3 20 24x2 28 36 40x18',
  hz48000: '4x10 8x7 12x4 16x2 20x2 24x2 28x2 32x19 96',
  hz32000: '4x10 8x7 12x4 16x2 20x2 24x2 28x2 32x22',
  hz24000: '4x11 8x10 12x4 16x3 20x2 24x2 28x2 32 36x2 40 44 48 52x2 64x5',
  hz16000: '8x11 12x9 16x4 20x3 24x2 28x2 32 36 40x2 44 48 52 56 60 64x3',
  hz8000: '12x13 16x7 20x4 24x3 28x2 32 36x2 40 44 48 52 56 60 64 80',
} as const;
const SHORT = {
  hz96000: '4x6 8x3 16 28 36',
  hz48000: '4x5 8x3 12x3 16x3',
  hz24000: '4x7 8x3 12x2 16x2 20',
  hz16000: '4x8 8x2 12x2 16 20x2',
  hz8000: '4x7 8x4 12 16 20x2',
} as const;

/** By sampling frequency index, from 96 000 to 8000 Hz (table 1.18). */
const BY_INDEX: readonly (readonly [keyof typeof LONG, keyof typeof SHORT])[] = [
  ['hz96000', 'hz96000'],
  ['hz96000', 'hz96000'],
  ['hz64000', 'hz96000'],
  ['hz48000', 'hz48000'],
  ['hz48000', 'hz48000'],
  ['hz32000', 'hz48000'],
  ['hz24000', 'hz24000'],
  ['hz24000', 'hz24000'],
  ['hz16000', 'hz16000'],
  ['hz16000', 'hz16000'],
  ['hz16000', 'hz16000'],
  ['hz8000', 'hz8000'],
];

export interface AacBands {
  /** Band widths in a window of 1024 lines. */
  readonly long: readonly number[];
  /** Band widths in a window of 128 lines. */
  readonly short: readonly number[];
}

/** Null for an index without a rate of its own. */
export function bandsOf(frequencyIndex: number): AacBands | null {
  const names = BY_INDEX[frequencyIndex];
  return names ? { long: widths(LONG[names[0]]), short: widths(SHORT[names[1]]) } : null;
}

const widths = (text: string) =>
  text.split(' ').flatMap((run) => {
    const [width = '0', count = '1'] = run.split('x');
    return Array.from({ length: Number(count) }, () => Number(width));
  });
