import { useEffect, useState } from 'react';

/** Rows that scroll by quickly disappear sooner than this; rows that stay are loaded before anybody notices. */
const SETTLE_MS = 400;

/** False for a moment after mounting, so that requests wait until somebody really looks. */
export function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return settled;
}
