/** One task at a time. Waiting people take turns, each with the first task that they asked for. */
export interface Turns {
  take<Made>(ownerId: string, work: () => Promise<Made>): Promise<Made>;
  /** How many tasks wait or run, in total or for one person. */
  waiting(ownerId?: string): number;
}

/** See `Turns`. */
export function createTurns(): Turns {
  /** In the order of turns. */
  const lines = new Map<string, (() => Promise<void>)[]>();
  const counts = new Map<string, number>();
  let busy = false;

  const count = (ownerId: string, by: number) => {
    const left = (counts.get(ownerId) ?? 0) + by;
    if (left > 0) counts.set(ownerId, left);
    else counts.delete(ownerId);
  };

  async function work(): Promise<void> {
    if (busy) return;
    busy = true;
    for (let next = lines.entries().next().value; next; next = lines.entries().next().value) {
      const [ownerId, line] = next;
      const first = line.shift();
      // Whoever had a turn moves behind all others.
      lines.delete(ownerId);
      if (line.length > 0) lines.set(ownerId, line);
      await first?.();
    }
    busy = false;
  }

  return {
    waiting: (ownerId) =>
      ownerId === undefined
        ? [...counts.values()].reduce((sum, one) => sum + one, 0)
        : (counts.get(ownerId) ?? 0),
    take(ownerId, make) {
      count(ownerId, 1);
      return new Promise((resolve, reject) => {
        const line = lines.get(ownerId) ?? [];
        line.push(() =>
          make()
            .then(resolve, reject)
            .finally(() => count(ownerId, -1)),
        );
        lines.set(ownerId, line);
        void work();
      });
    },
  };
}
