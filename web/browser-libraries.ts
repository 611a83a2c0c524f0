import { config } from 'zod';

/** Applies settings of libraries that must be set before their first use. */
export function prepareLibraries(): void {
  // Libraries that add style elements read the page's nonce from this global; without it the policy blocks them.
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  if (nonce) Object.assign(globalThis, { __webpack_nonce__: nonce });
  // The policy forbids code from text; otherwise zod tries it once, which browsers report as a violation.
  config({ jitless: true });
}
