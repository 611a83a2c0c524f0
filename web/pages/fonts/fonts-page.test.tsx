import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { renderAt } from '../../test/render.tsx';
import { FontsPage } from './fonts-page.tsx';

describe('FontsPage', () => {
  it('lists five different pairings and says which one is in use', () => {
    renderAt('/fonts', <FontsPage />);
    const pairings = screen.getAllByRole('listitem').map((item) => {
      const heading = item.querySelector('h2')?.style.fontFamily ?? '';
      return `${heading} with ${item.querySelector('p')?.style.fontFamily ?? ''}`;
    });
    expect(pairings).toHaveLength(5);
    expect(new Set(pairings).size).toBe(5);
    expect(screen.getAllByText('In use')).toHaveLength(1);
  });
});
