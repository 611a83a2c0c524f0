import { useEffect, useState } from 'react';

/** Whether something has been going on for longer than one waits without a word. */
export function useLate(goesOn: boolean, afterMs: number): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!goesOn) return;
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [goesOn, afterMs]);
  return late;
}
