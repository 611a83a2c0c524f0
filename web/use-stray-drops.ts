import { useEffect } from 'react';
import { useShowToast } from './data/toasts.ts';
import { appTexts } from './texts/app.ts';

/** Whether something that takes files itself deals with this event: an area prevented it, or the field is a file field. */
function isTaken(event: DragEvent): boolean {
  const { target } = event;
  return event.defaultPrevented || (target instanceof HTMLInputElement && target.type === 'file');
}

/**
 * Files that are dropped where nothing takes them: browsers would leave the page to show the file, and with the page go
 * uploads and whatever was typed. It is said where they can be dropped instead.
 */
export function useStrayDrops(): void {
  const showToast = useShowToast();
  useEffect(() => {
    const catchFiles = (event: DragEvent): void => {
      if (isTaken(event) || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      if (event.type === 'drop')
        showToast({ title: appTexts.stray, description: appTexts.strayDetail, tone: 'notice' });
    };
    // On the window, which is reached after every area of a page had its turn.
    window.addEventListener('dragover', catchFiles);
    window.addEventListener('drop', catchFiles);
    return () => {
      window.removeEventListener('dragover', catchFiles);
      window.removeEventListener('drop', catchFiles);
    };
  }, [showToast]);
}
