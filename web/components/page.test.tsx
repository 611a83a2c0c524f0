import { render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { PageHeading } from './page.tsx';

describe('PageHeading', () => {
  beforeEach(() => {
    // The title of the document as it is sent.
    document.title = 'Reelmend';
  });

  it('gives the window its title and leaves the first stop to the link past the header', () => {
    render(<PageHeading title="Editor">Editor</PageHeading>);
    expect(document.title).toBe('Editor · Reelmend');
    expect(screen.getByRole('heading')).not.toHaveFocus();
  });

  it('takes the focus when one comes from another page, and not again when its title is known better', () => {
    render(<PageHeading title="Editor">Editor</PageHeading>).unmount();
    const { rerender } = render(
      <>
        <PageHeading title="Repair report: ">Repair report</PageHeading>
        <button type="button">Print</button>
      </>,
    );
    expect(screen.getByRole('heading')).toHaveFocus();
    screen.getByRole('button').focus();
    rerender(
      <>
        <PageHeading title="Repair report: pier.mp4">Repair report</PageHeading>
        <button type="button">Print</button>
      </>,
    );
    expect(document.title).toBe('Repair report: pier.mp4 · Reelmend');
    expect(screen.getByRole('button')).toHaveFocus();
  });
});
