import { render, screen } from '@testing-library/react';
import { useRef } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { useWidth } from './use-width.ts';

function Ruler() {
  const place = useRef<HTMLParagraphElement>(null);
  return <p ref={place}>{useWidth(place, 640)}</p>;
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe('useWidth', () => {
  it('is measured at once, not only when the resize observer first reports', () => {
    vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 320, 10));
    render(<Ruler />);
    expect(screen.getByText('320')).toBeInTheDocument();
  });

  it('is there before the paint when it changes, which comes right behind the observer', () => {
    let report: (entries: readonly { contentRect: DOMRect }[]) => void = () => undefined;
    class Observer {
      constructor(told: typeof report) {
        report = told;
      }
      observe(): void {}
      disconnect(): void {}
    }
    vi.stubGlobal('ResizeObserver', Observer);
    render(<Ruler />);
    report([{ contentRect: new DOMRect(0, 0, 275, 10) }]);
    expect(screen.getByText('275')).toBeInTheDocument();
  });

  it('is the fallback where there is no layout', () => {
    render(<Ruler />);
    expect(screen.getByText('640')).toBeInTheDocument();
  });
});
