/** Shows an element in full screen, or leaves full screen. */
export function toggleFullscreen(element: HTMLElement | null): void {
  // iPhones have no full screen for elements; their native video player has it.
  if (document.fullscreenElement) void document.exitFullscreen();
  else void element?.requestFullscreen?.().catch(() => undefined);
}
