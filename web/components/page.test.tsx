import { render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { PageHeading } from './page.tsx';

describe('PageHeading', () => {
  beforeEach(() => {
    // The document title as served.
    document.title = 'Reelmend';
  });

  it('sets the window title and leaves the first tab stop to the skip link', () => {
    render(<PageHeading title="Editor">Editor</PageHeading>);
    expect(document.title).toBe('Editor · Reelmend');
    expect(screen.getByRole('heading')).not.toHaveFocus();
  });

  it('takes the focus after navigation from another page, and not again when its title changes', () => {
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
