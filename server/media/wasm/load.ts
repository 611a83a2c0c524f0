const PAGE_BYTES = 65_536;

/**
 * Gives a module that `assemble` made a memory of its own, of at least so many bytes, all zero.
 * @returns that memory, and the way to its functions, which throws a TypeError for a name that the module does not have
 */
export function loadModule(module: WebAssembly.Module, sizeBytes: number) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(sizeBytes / PAGE_BYTES) });
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return {
    buffer: memory.buffer,
    /** The function itself: some are called for every block of a picture. */
    run(name: string) {
      const found = exports[name];
      if (typeof found !== 'function') throw new TypeError(`no function ${name}`);
      return found;
    },
  };
}
