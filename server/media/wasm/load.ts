const PAGE_BYTES = 65_536;

/**
 * Gives a module from `assemble` a memory of its own, with at least so many bytes, all zero.
 * @returns that memory, and a function that looks up the module's functions; it throws a TypeError for an unknown name
 */
export function loadModule(module: WebAssembly.Module, sizeBytes: number) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(sizeBytes / PAGE_BYTES) });
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return {
    buffer: memory.buffer,
    /** The function itself is returned, because some are called for every block of a picture. */
    run(name: string) {
      const found = exports[name];
      if (typeof found !== 'function') throw new TypeError(`no function ${name}`);
      return found;
    },
  };
}
