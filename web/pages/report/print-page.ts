/** Maximum wait for pictures before printing; the server needs a second or two for each of a long clip. */
const WAIT_MS = 8000;

/** Resolves when a picture has loaded or failed; the page names pictures that cannot be read. */
function settled(picture: HTMLImageElement): Promise<unknown> {
  if (picture.complete && picture.currentSrc !== '') return Promise.resolve();
  return new Promise((resolve) => {
    for (const end of ['load', 'error'])
      picture.addEventListener(end, () => requestAnimationFrame(resolve), { once: true });
  });
}

/** Prints the page including pictures that have not been scrolled to, because paper cannot load them later. */
export async function printPage(): Promise<void> {
  const pictures = [...document.querySelectorAll<HTMLImageElement>('main img')];
  for (const picture of pictures) picture.loading = 'eager';
  const late = new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  await Promise.race([Promise.all(pictures.map(settled)), late]);
  window.print();
}
