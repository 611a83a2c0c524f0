import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { DropArea } from './components/drop-area.tsx';
import { renderAt } from './test/render.tsx';
import { useStrayDrops } from './use-stray-drops.ts';

function Site({ disabled = false }: { readonly disabled?: boolean }) {
  useStrayDrops();
  return (
    <>
      <h1>Words</h1>
      <input type="file" aria-label="A field of files" />
      <DropArea
        accept={{}}
        multiple
        disabled={disabled}
        label="Clips"
        onFiles={() => undefined}
        onRejected={() => undefined}
      >
        {() => <p>Drop here</p>}
      </DropArea>
    </>
  );
}

const TEXT = 'Nothing was taken here';
/** @returns whether the browser would show what was dropped in place of the page */
const leaves = (target: Element, types = ['Files']) =>
  fireEvent.drop(target, { dataTransfer: { types, files: [], items: [] } });

describe('something that is dropped on a page', () => {
  it('keeps the page and says so where nothing takes files', async () => {
    renderAt('/', <Site />);
    expect(leaves(screen.getByRole('heading'))).toBe(false);
    expect(await screen.findByText(TEXT)).toBeInTheDocument();
  });

  it('says so too at an area that is closed just now', async () => {
    renderAt('/', <Site disabled />);
    expect(leaves(screen.getByText('Drop here'))).toBe(false);
    expect(await screen.findByText(TEXT)).toBeInTheDocument();
  });

  it('is left to an area that takes it, to a file field, and to the browser where it is no file', () => {
    renderAt('/', <Site />);
    expect(leaves(screen.getByText('Drop here'))).toBe(false);
    expect(leaves(screen.getByLabelText('A field of files'))).toBe(true);
    expect(leaves(screen.getByRole('heading'), ['text/plain'])).toBe(true);
    expect(screen.queryByText(TEXT)).not.toBeInTheDocument();
  });
});
