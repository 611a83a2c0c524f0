import { render, screen } from '@testing-library/react';
import { useRef } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { useWidth } from './use-width.ts';

function Ruler() {
  const place = useRef<HTMLParagraphElement>(null);
  return <p ref={place}>{useWidth(place, 640)}</p>;
}

afterEach(() => vi.restoreAllMocks());

describe('useWidth', () => {
  it('is measured at once, not only when the resize observer first reports', () => {
    vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 320, 10));
    render(<Ruler />);
    expect(screen.getByText('320')).toBeInTheDocument();
  });

  it('is the fallback where there is no layout', () => {
    render(<Ruler />);
    expect(screen.getByText('640')).toBeInTheDocument();
  });
});
