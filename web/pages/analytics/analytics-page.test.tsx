import { screen, within } from '@testing-library/react';
import axe from 'axe-core';
import { HttpResponse } from 'msw';
import { describe, expect, it } from 'vitest';
import { analyticsApi, type AnalyticsBody, type AnalyticsMonth } from '#common/api/analytics.ts';
import type { SessionUser } from '#common/api/auth.ts';
import { useSession } from '../../data/account/session.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server, signedIn, user } from '../../test/server.ts';
import { AnalyticsPage } from './analytics-page.tsx';
import { formatMinutes, formatMonth, niceTop } from './figures.ts';

const NONE = {
  stuttered_cut: 0,
  dropped_frames: 0,
  corrupted_section: 0,
  audio_sync: 0,
  wind_noise: 0,
  shaky_footage: 0,
  poor_lighting: 0,
  blurry_section: 0,
};

function makeMonth(month: string, change: Partial<AnalyticsMonth> = {}): AnalyticsMonth {
  return {
    month,
    videos: 0,
    completed: 0,
    failed: 0,
    defects: NONE,
    issuesFixed: 0,
    minutesMended: 0,
    minutesSaved: 0,
    addedBytes: 0,
    storedBytes: 0,
    ...change,
  };
}
const may = makeMonth('2026-05', {
  videos: 4,
  completed: 3,
  failed: 1,
  defects: { ...NONE, wind_noise: 2, dropped_frames: 7 },
  issuesFixed: 9,
  minutesMended: 2.25,
  minutesSaved: 45,
  storedBytes: 3 * 1024 ** 2,
});
const body: AnalyticsBody = { months: [makeMonth('2026-04'), may], totals: may };
const nothing: AnalyticsBody = { months: [makeMonth('2026-05')], totals: makeMonth('2026-05') };
const pro: SessionUser = { ...user, plan: 'business' };

function Gate() {
  return useSession().status === 'signed-in' ? <AnalyticsPage /> : null;
}

async function open(figures: AnalyticsBody = body) {
  server.use(
    signedIn(pro),
    on(analyticsApi.monthly, () => HttpResponse.json(figures)),
  );
  const page = renderAt('/analytics', <Gate />);
  await screen.findByRole('table');
  return page;
}

describe('AnalyticsPage', () => {
  it('invites users of other plans and sends no request', async () => {
    let asked = 0;
    server.use(
      signedIn(),
      on(analyticsApi.monthly, () => {
        asked += 1;
        return refusal('plan_required');
      }),
    );
    renderAt('/analytics', <Gate />);
    expect(await screen.findByText('Requires Creator Pro+')).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Compare plans' })).toHaveAttribute('href', '/upgrade');
    expect(screen.queryByRole('link', { name: 'Download CSV' })).not.toBeInTheDocument();
    expect(asked).toBe(0);
  });

  it('lists the months newest first with a row of totals', async () => {
    await open();
    const rows = screen
      .getAllByRole('row')
      .map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent));
    expect(rows[1]).toEqual(['May 2026', '4', '3', '1', '9', '9', '2.3 min', '45 min', '3 MB']);
    expect(rows[2]?.[0]).toBe('April 2026');
    expect(rows.at(-1)?.slice(0, 2)).toEqual(['Total', '4']);
  });

  it('describes its charts in sentences for screen readers', async () => {
    await open();
    expect(
      screen.getByRole('img', { name: 'Videos per month. April 2026: 0, May 2026: 4' }),
    ).toBeInTheDocument();
    expect(
      screen.getByRole('img', { name: 'Minutes mended per month. April 2026: 0, May 2026: 2.3' }),
    ).toBeInTheDocument();
  });

  it('names the defects that were found, most frequent first', async () => {
    await open();
    const chart = within(screen.getByRole('region', { name: 'Issues by kind' }));
    expect(chart.getAllByRole('term').map((term) => term.textContent)).toEqual([
      'Dropped frames',
      'Wind noise',
    ]);
    expect(chart.getAllByRole('definition').map((value) => value.textContent)).toEqual(['7', '2']);
  });

  it('offers the same figures as CSV by a plain link', async () => {
    await open();
    expect(screen.getByRole('link', { name: 'Download CSV' })).toHaveAttribute('href', '/api/analytics.csv');
  });

  it('says that there are no videos yet', async () => {
    await open(nothing);
    expect(screen.getByText(/No videos in these months yet/)).toBeInTheDocument();
    expect(screen.getByText('No issues were found.')).toBeInTheDocument();
  });

  it('says when the figures cannot be loaded', async () => {
    server.use(
      signedIn(pro),
      on(analyticsApi.monthly, () => refusal('internal')),
    );
    renderAt('/analytics', <Gate />);
    expect(await screen.findByText('The figures could not be loaded.')).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Retry' })).toBeEnabled();
  });

  it('has no accessibility problem that a tool can find', async () => {
    const { container } = await open();
    const { violations } = await axe.run(container, { rules: { 'color-contrast': { enabled: false } } });
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
  });
});

describe('figures', () => {
  it.each([
    [0, '0 min'],
    [0.04, '0 min'],
    [2.25, '2.3 min'],
    [9.97, '10 min'],
    [59.4, '59 min'],
    [60, '1 h'],
    [125, '2 h 5 min'],
  ])('write %d minutes as %s', (minutes, words) => expect(formatMinutes(minutes)).toBe(words));

  it('keep the UTC month in every time zone', () => {
    expect(formatMonth('2026-01', 'long')).toBe('January 2026');
    expect(formatMonth('2026-12', 'short')).toBe('Dec');
  });

  it.each([
    [[], 1],
    [[0, 0], 1],
    [[0.3], 1],
    [[3], 3],
    [[7], 8],
    [[9], 10],
    [[31], 40],
    [[11, 140], 150],
  ])('end the axis of %j at %d', (values, top) => expect(niceTop(values)).toBe(top));
});
