import type { BuildOptions } from 'esbuild';

export function serverBundle(
  outdir: string,
): BuildOptions & { readonly entryPoints: Readonly<Record<string, string>> };
