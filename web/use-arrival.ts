import { useEffect } from 'react';
import { useLocation, useNavigationType } from 'react-router-dom';

/** How long to wait for an anchor to appear before giving up scrolling to it, ms. */
const ANCHOR_PATIENCE_MS = 3000;

/** Scrolls to the anchor of an address once it exists and focuses it; without an anchor, scrolls to the top. */
export function useArrival(): void {
  const { pathname, hash, key } = useLocation();
  const navigation = useNavigationType();
  useEffect(() => {
    if (hash === '') {
      // Back and forward keep the position that the browser restores.
      if (navigation !== 'POP') window.scrollTo(0, 0);
      return;
    }
    const until = Date.now() + ANCHOR_PATIENCE_MS;
    let frame = 0;
    const look = (): void => {
      const target = document.getElementById(decodeURIComponent(hash.slice(1)));
      if (target) {
        target.scrollIntoView();
        target.focus({ preventScroll: true });
      } else if (Date.now() < until) frame = requestAnimationFrame(look);
    };
    frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
    // The key makes the same link work again after scrolling away.
  }, [pathname, hash, key, navigation]);
}
