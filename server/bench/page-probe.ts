/** What the probe has observed in a page since `reset()`. */
export interface ProbeFigures {
  /** Milliseconds between animation frames, one entry per frame. */
  readonly frames: number[];
  /** Blocking time of each long animation frame, in which no input is answered, ms. */
  readonly blocked: number[];
  /**
   * One entry per pushed state of a video: the time from its arrival to the paint after it, and the cards rendered for
   * it.
   */
  readonly updates: { readonly toPaintMs: number; readonly cards: number }[];
  /** Total number of rendered cards. */
  readonly cards: number;
}

export interface PageProbe {
  reset(): void;
  read(): ProbeFigures;
}

/**
 * Runs in the page before its own code. Counts the library cards that React renders, through the hook that its
 * production build offers to developer tools. A fiber was rendered when its subtree was entered and its `PerformedWork`
 * flag is set. Also follows the animation frames of the page and the states that arrive over the socket.
 * Self-contained, because this module's scope does not exist in the page.
 */
export function installProbe(): void {
  const PERFORMED_WORK = 1;
  const MEMO_TAGS: readonly unknown[] = [14, 15];
  const HOST_TAG = 5;
  type Fiber = Readonly<Record<string, unknown>>;
  const isFiber = (value: unknown): value is Fiber =>
    typeof value === 'object' && value !== null && 'alternate' in value && 'sibling' in value;
  const figures: { frames: number[]; blocked: number[]; updates: ProbeFigures['updates']; cards: number } = {
    frames: [],
    blocked: [],
    updates: [],
    cards: 0,
  };

  const firstHost = (fiber: Fiber): Fiber | null => {
    for (let at: unknown = fiber; isFiber(at); at = at['child']) if (at['tag'] === HOST_TAG) return at;
    return null;
  };
  const isCard = (fiber: Fiber): boolean => {
    if (!MEMO_TAGS.includes(fiber['tag'])) return false;
    const element = firstHost(fiber)?.['stateNode'];
    return element instanceof HTMLElement && element.dataset['video'] !== undefined;
  };
  const visit = (fiber: Fiber): void => {
    const before = fiber['alternate'];
    const drawn = (Number(fiber['flags']) & PERFORMED_WORK) !== 0;
    if (drawn && isCard(fiber)) figures.cards += 1;
    // A subtree that React skipped keeps the same child objects.
    if (isFiber(before) && before['child'] === fiber['child']) return;
    for (let child = fiber['child']; isFiber(child); child = child['sibling']) visit(child);
  };
  // Runs after the paint that follows a message: a task posted from within an animation frame runs once that frame is
  // painted.
  const afterPaint = (then: () => void): void => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = then;
      port2.postMessage(null);
    });
  };
  const waiting: { arrivedAt: number; cardsBefore: number }[] = [];
  const onCommit = (root: Fiber): void => {
    const cardsBefore = figures.cards;
    visit(root);
    if (figures.cards === cardsBefore || waiting.length === 0) return;
    const answered = waiting.splice(0);
    afterPaint(() => {
      for (const { arrivedAt, cardsBefore: known } of answered)
        figures.updates.push({ toPaintMs: performance.now() - arrivedAt, cards: figures.cards - known });
    });
  };
  Object.assign(globalThis, {
    __REACT_DEVTOOLS_GLOBAL_HOOK__: {
      supportsFiber: true,
      renderers: new Map(),
      inject: () => 1,
      onCommitFiberUnmount: () => undefined,
      onCommitFiberRoot: (_renderer: unknown, root: Readonly<Record<string, unknown>>) => {
        if (isFiber(root['current'])) onCommit(root['current']);
      },
    },
  });

  let last = performance.now();
  const onFrame = (now: number): void => {
    figures.frames.push(now - last);
    last = now;
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
  if (PerformanceObserver.supportedEntryTypes.includes('long-animation-frame'))
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if ('blockingDuration' in entry) figures.blocked.push(Number(entry.blockingDuration));
    }).observe({ type: 'long-animation-frame' });

  const Native = WebSocket;
  globalThis.WebSocket = class extends Native {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      this.addEventListener('message', ({ data }) => {
        if (typeof data !== 'string' || !data.includes('"video:status"')) return;
        waiting.push({ arrivedAt: performance.now(), cardsBefore: figures.cards });
      });
    }
  };
  const probe: PageProbe = {
    reset() {
      waiting.length = 0;
      Object.assign(figures, { frames: [], blocked: [], updates: [], cards: 0 });
    },
    read: () => figures,
  };
  Object.assign(globalThis, { probe });
}
