/** Replaces the `:name` parameters of a path by encoded values. */
export function buildPath(path: string, params: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/:([a-zA-Z]+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''));
}
