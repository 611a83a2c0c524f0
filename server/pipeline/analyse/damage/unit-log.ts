/**
 * Counts the decoder's complaints for each access unit in ffmpeg's log. Every context that reads units has an address.
 * The last one that saw all pictures is the decoder: those before it only look at the beginning, and the decoder may
 * get the address of one that is gone (9.0.2), so that its units stand behind those.
 */
export function createUnitLog() {
  const contexts = new Map<string, number[]>();
  return {
    read(line: string): void {
      const said = /^\[h264 @ ([^\]]+)\] \[(\w+)\] (.*)$/.exec(line);
      const [, address = '', level, text = ''] = said ?? [];
      if (!said) return;
      const units = contexts.get(address) ?? [];
      contexts.set(address, units);
      if (/^nal_unit_type: 9\b/.test(text)) units.push(0);
      else if (level === 'error' && /error while decoding MB/.test(text) && units.length > 0) {
        units[units.length - 1] = (units.at(-1) ?? 0) + 1;
      }
    },
    /**
     * @param count access units that the decoder was given, each with a delimiter
     * @returns complaints about each; null when no context saw them all
     */
    finish: (count: number): number[] | null =>
      [...contexts.values()].findLast((units) => units.length >= count)?.slice(-count) ?? null,
  };
}
