import { useEffect, useState } from 'react';

/** Whether something takes longer than people wait without an explanation. */
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
