import { useEffect } from 'react';

/**
 * While something is being sent, warns before the page is left and keeps the screen awake, because a sleeping phone
 * stops its transfers. Both end with `active`.
 */
export function useUploadGuards(active: boolean): void {
  useEffect(() => {
    if (!active) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [active]);

  useEffect(() => {
    if (!active || !('wakeLock' in navigator)) return;
    let lock: WakeLockSentinel | null = null;
    let ended = false;
    const take = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return;
      // Refused at low battery; the upload continues without it.
      const taken = await navigator.wakeLock.request('screen').catch(() => null);
      if (ended) void taken?.release();
      else lock = taken;
    };
    void take();
    document.addEventListener('visibilitychange', take);
    return () => {
      ended = true;
      document.removeEventListener('visibilitychange', take);
      void lock?.release();
    };
  }, [active]);
}
