import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { ThreadProgress } from './thread-progress.tsx';

describe('ThreadProgress', () => {
  it('announces every quarter politely and stays silent in between', () => {
    const bar = (percent: number) => (
      <ThreadProgress label="harbour.mp4" percent={percent} valueText={`Uploading, ${percent} percent`} />
    );
    const { rerender } = render(bar(0));
    // Screen readers announce only regions that existed before their text.
    const region = screen.getByRole('status');
    const said = new Set<string>();
    for (let percent = 0; percent <= 100; percent += 1) {
      rerender(bar(percent));
      expect(screen.getByRole('status')).toBe(region);
      said.add(region.textContent ?? '');
      expect(screen.getByRole('progressbar')).toHaveAttribute('aria-valuenow', String(percent));
    }
    expect([...said]).toEqual([
      '',
      'harbour.mp4: 25 %',
      'harbour.mp4: 50 %',
      'harbour.mp4: 75 %',
      'harbour.mp4: 100 %',
    ]);
  });
});
