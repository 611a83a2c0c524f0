import { config } from 'zod';

/** Settings of libraries that must stand before they are first used. */
export function prepareLibraries(): void {
  // Libraries that add style elements find the page's nonce under this name; without it the policy refuses them.
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  if (nonce) Object.assign(globalThis, { __webpack_nonce__: nonce });
  // The policy forbids code from text; without this zod tries it once, and browsers report that as a violation.
  config({ jitless: true });
}
