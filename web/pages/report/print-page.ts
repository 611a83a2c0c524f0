/** How long a print waits for pictures at most; the server reads those of a long clip for a second or two each. */
const WAIT_MS = 8000;

/** Whether it is there, or will never be: a picture that cannot be read is named on the page. */
function settled(picture: HTMLImageElement): Promise<unknown> {
  if (picture.complete && picture.currentSrc !== '') return Promise.resolve();
  return new Promise((resolve) => {
    for (const end of ['load', 'error'])
      picture.addEventListener(end, () => requestAnimationFrame(resolve), { once: true });
  });
}

/** Prints the page with the pictures that nobody has scrolled to yet: paper has no second look. */
export async function printPage(): Promise<void> {
  const pictures = [...document.querySelectorAll<HTMLImageElement>('main img')];
  for (const picture of pictures) picture.loading = 'eager';
  const late = new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  await Promise.race([Promise.all(pictures.map(settled)), late]);
  window.print();
}
