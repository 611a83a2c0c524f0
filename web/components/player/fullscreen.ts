/** Fills the screen with an element, or leaves full screen. */
export function toggleFullscreen(element: HTMLElement | null): void {
  // iPhones have no element full screen; the native player of the video is theirs.
  if (document.fullscreenElement) void document.exitFullscreen();
  else void element?.requestFullscreen?.().catch(() => undefined);
}
