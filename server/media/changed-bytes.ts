/** A slice of arithmetic-coded data that is wrong somewhere. */
export interface ReadableSlice<Mark extends SliceMarkAt> {
  /** The data without emulation prevention. Bytes are changed and put back during the search. */
  readonly rbsp: Uint8Array;
  /** Reads the slice from its start. `onMark` is called with places from which it can be read again, ascending. */
  read(onMark?: (mark: Mark) => void): SliceReading;
  /** Reads on from a mark; nothing in front of it may have changed. */
  readFrom(mark: Mark): SliceReading;
  /** How far wrong data are read on average before they meet something impossible, bytes. */
  readonly wrongBytes: number;
  /**
   * If a change is the only one that leads to the end of the slice, and at least this many bytes were read up to there,
   * it may be taken: that alone says enough. In HEVC slices with one wrong bit or byte, none of 79 was mended wrongly
   * so; with two wrong bytes, two of 28. Infinity where reaching the end says little.
   */
  readonly sureEndBytes: number;
  /**
   * The stretch around a mark that is read independently of the data beside it, so that neither proves anything about
   * the other.
   */
  stretchOf(mark: Mark): Stretch;
}

/** A range of bytes, from the first to one past the last. */
export interface Stretch {
  readonly first: number;
  readonly end: number;
}

export interface SliceMarkAt {
  /** The first byte of the stretch that has not been read. */
  readonly at: number;
}

export interface SliceReading {
  /** Whether every value is possible and the slice ends where its data do. */
  readonly isWhole: boolean;
  /** The first byte that had not been read when reading stopped. */
  readonly at: number;
}

export interface ChangedByte {
  /** Place in the slice. */
  readonly at: number;
  readonly value: number;
}

/** What a search may still cost, in bytes read; shared by all slices of a clip. */
export interface SearchBudget {
  bytes: number;
  /** Called many times a second during a search. */
  readonly onSpent?: () => void;
}

/**
 * How many bytes in front of a fault are tried with any change. Of 51 faults in HEVC slices, 45 are noticed within
 * this.
 */
const WINDOW = 400;
/**
 * The same for a single changed bit: at most this many bytes, and at most so many times the average length of wrong
 * data.
 */
const BIT_WINDOW = 2048;
const BIT_TIMES = 16;
/** Most changes in one slice. */
const MOST_CHANGES = 6;
/** A change that does not mend the whole slice must lead this many times farther behind the fault than any other. */
const LEAD = 3;

/**
 * Finds single changed bytes of a slice through the coding itself. Behind a wrong byte everything read is random, and
 * soon meets an impossible value or an end that does not fit; only the right byte leads to the exact end. Each byte in
 * front of the place where reading stops is tried with other values, single bits first.
 * @param dataAt the first byte that may have changed
 * @returns the changes, already made in `slice.rbsp`. Null where none is certain, because more than one byte is wrong
 * in one place or several values fit; the slice then stays as it was
 */
export async function findChangedBytes<Mark extends SliceMarkAt>(
  slice: ReadableSlice<Mark>,
  dataAt: number,
  budget: SearchBudget,
  signal?: AbortSignal,
): Promise<ChangedByte[] | null> {
  const before = Uint8Array.from(slice.rbsp);
  const changes: ChangedByte[] = [];
  for (;;) {
    const found = await findOne(slice, dataAt, budget, signal);
    if (found === 'whole') return changes;
    if (found === null || changes.length === MOST_CHANGES) break;
    slice.rbsp[found.at] = found.value;
    changes.push(found);
  }
  slice.rbsp.set(before);
  return null;
}

interface Candidate extends ChangedByte, Pick<SliceReading, 'isWhole'> {
  /** The changed bits of the byte. */
  readonly bits: number;
  /** How far reading gets with this change. */
  readonly readTo: number;
}

async function findOne<Mark extends SliceMarkAt>(
  slice: ReadableSlice<Mark>,
  dataAt: number,
  budget: SearchBudget,
  signal: AbortSignal | undefined,
): Promise<ChangedByte | 'whole' | null> {
  const { rbsp } = slice;
  const marks: Mark[] = [];
  const first = slice.read((mark) => {
    marks.push(mark);
    // A fault is never looked for farther in front than this.
    if (marks.length > MOST_MARKS)
      marks.splice(0, marks.findIndex(({ at }) => at > mark.at - BIT_WINDOW) - 1);
  });
  if (first.isWhole) return 'whole';
  const last = marks.at(-1);
  if (!last) return null;
  const stretch = slice.stretchOf(last);
  const fault = Math.min(first.at, stretch.end);
  const nearest = Math.max(
    dataAt,
    stretch.first,
    marks[0]?.at ?? fault,
    fault - BIT_TIMES * slice.wrongBytes,
  );
  const lowest = (window: number) => Math.max(nearest, fault - window);
  const trial = (at: number, bits: number, mark: Mark): Candidate => {
    const old = rbsp[at] ?? 0;
    const value = old ^ bits;
    rbsp[at] = value;
    const { isWhole, at: readTo } = slice.readFrom(mark);
    rbsp[at] = old;
    budget.bytes -= READ_COST + readTo - mark.at;
    return { at, value, isWhole, readTo, bits };
  };
  const search = createSearch(slice, fault, stretch.end);
  for (const { window, changes } of PASSES) {
    // A trial overwrites what was read of the blocks behind a mark. It ends at the first of them.
    slice.read();
    let at = fault - 1;
    for (let mark = marks.length - 1; mark >= 0 && at >= Math.max(lowest(window), search.lowest()); at -= 1) {
      while (mark > 0 && (marks[mark]?.at ?? 0) > at) mark -= 1;
      const from = marks[mark];
      if (!from || from.at > at) break;
      for (const bits of changes) search.see(trial(at, bits, from));
      if (budget.bytes <= 0) return null;
      if (search.isSure(SURE_TIMES.byte)) return search.found();
      if (at % POSITIONS_A_TURN === 0) {
        budget.onSpent?.();
        await nextTurn(signal);
      }
    }
    // A single bit is the likeliest fault, and few changes of that kind need trying.
    if (search.isSure(SURE_TIMES.bit)) return search.found();
  }
  return search.found();
}

/** Most marks that are kept: more than a window of the smallest blocks has. */
const MOST_MARKS = 8192;
/** Cost of a trial besides the bytes that it reads. */
const READ_COST = 16;
const POSITIONS_A_TURN = 8;

const SINGLE_BITS = Array.from({ length: 8 }, (_, bit) => 1 << bit);
const OTHERS = Array.from({ length: 255 }, (_, at) => at + 1).filter((bits) => !SINGLE_BITS.includes(bits));
const PASSES = [
  { window: BIT_WINDOW, changes: SINGLE_BITS },
  { window: WINDOW, changes: OTHERS },
];

/**
 * A change cannot reach the end by chance if the data left to read are this many times longer than wrong data last on
 * average. For a byte, one trial in some five hundred thousand (e^-13) gets there by chance, out of 200 000, and of
 * those one in thousands ends as it should. For single bits, a twelfth as many trials are made.
 */
const SURE_TIMES = { byte: 13, bit: 6 };
/**
 * Other changes are searched for this many times as far in front of the fault as a change that fits, plus so many
 * bytes.
 */
const BEYOND = 3;
const BEYOND_BYTES = 96;

/** Decides which of the candidates is the right one. */
function createSearch(
  { wrongBytes, sureEndBytes }: Pick<ReadableSlice<SliceMarkAt>, 'wrongBytes' | 'sureEndBytes'>,
  fault: number,
  end: number,
) {
  const isSure = (times: number) => end - fault >= times * wrongBytes;
  const whole: Candidate[] = [];
  let farthest: Candidate | null = null;
  let secondTo = fault;
  return {
    see(candidate: Candidate): void {
      if (candidate.isWhole) whole.push(candidate);
      if (!farthest || candidate.readTo > farthest.readTo) {
        if (farthest) secondTo = Math.max(secondTo, farthest.readTo);
        farthest = candidate;
      } else secondTo = Math.max(secondTo, candidate.readTo);
    },
    isSure: (times: number) => whole.length > 0 && isSure(times),
    /** Once a change fits, another that fits as well is not searched for much farther away. */
    lowest: () => Math.max(0, ...whole.map(({ at }) => fault - BEYOND * (fault - at) - BEYOND_BYTES)),
    found(): ChangedByte | null {
      const likeliest = whole.toSorted((a, b) => countOnes(a.bits) - countOnes(b.bits))[0];
      if (likeliest) {
        const isBit = countOnes(likeliest.bits) === 1;
        const isKnown = end - fault >= sureEndBytes || isSure(isBit ? SURE_TIMES.bit : SURE_TIMES.byte);
        // Bits that nothing else depends on, such as signs, may have changed together with the one that led astray.
        // Other values of that byte or its neighbour then also lead to the end, and differ little.
        const isOnePlace = whole.every(({ at }) => Math.abs(at - likeliest.at) <= 1);
        return isKnown && isOnePlace ? likeliest : null;
      }
      if (!farthest) return null;
      const ahead = farthest.readTo - fault;
      return ahead >= SURE_TIMES.byte * wrongBytes && ahead >= LEAD * (secondTo - fault) ? farthest : null;
    },
  };
}

const countOnes = (bits: number): number =>
  SINGLE_BITS.reduce((count, bit) => count + ((bits & bit) === 0 ? 0 : 1), 0);

/** Yields to other work, so that a cancelled job ends. */
async function nextTurn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}
