import { useEffect, useState } from 'react';

/** Rows that scroll by at speed are gone sooner than this; what stays in sight is loaded before it is missed. */
const SETTLE_MS = 400;

/** False for a moment after mounting: what costs a request waits until it is clear that somebody looks. */
export function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return settled;
}
