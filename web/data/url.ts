/** Resolves a path of this site, e.g. an upload address, against the page's own origin. */
export function absoluteUrl(path: string): string {
  return new URL(path, window.location.origin).href;
}
