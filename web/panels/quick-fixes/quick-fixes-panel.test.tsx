import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { delay, HttpResponse } from 'msw';
import { describe, expect, it, vi } from 'vitest';
import {
  type ClipVersionDto,
  type FixOutcome,
  type FixRunDto,
  type QuickFixesDto,
  quickFixesApi,
} from '#common/api/quick-fixes.ts';
import { videosApi } from '#common/api/videos.ts';
import { FIXES, type FixId } from '#common/fixes.ts';
import { NO_ISSUES } from '#common/video.ts';
import { applyFixRun } from '../../data/videos/quick-fixes.ts';
import { renderAt } from '../../test/render.tsx';
import { makeVersion, makeVideo } from '../../test/samples.ts';
import { on, refusal, server } from '../../test/server.ts';
import { quickFixTexts } from '../../texts/quick-fixes.ts';
import { QuickFixesPanel } from './quick-fixes-panel.tsx';

const person = userEvent.setup({ delay: null });
const EMPTY: QuickFixesDto = { run: null, done: [], versions: [], exports: [] };
const outcome = (id: FixId, state: FixOutcome['state'], change: Partial<FixOutcome> = {}): FixOutcome => ({
  id,
  state,
  detail: '',
  figures: [],
  ...change,
});
const makeRun = (change: Partial<FixRunDto> = {}): FixRunDto => ({
  jobId: 'j1',
  state: 'working',
  remainingSeconds: null,
  progress: 30,
  fixes: [outcome('sharpen', 'working')],
  sourceVersionId: 'r1',
  resultVersionId: null,
  message: null,
  revision: 2,
  ...change,
});

/** Each read takes the next answer; the last one repeats. */
function open(answers: readonly Partial<QuickFixesDto>[], issues = NO_ISSUES) {
  const asked: unknown[] = [];
  let reads = 0;
  server.use(
    on(quickFixesApi.read, () => {
      const answer = answers[Math.min(reads, answers.length - 1)];
      reads += 1;
      return HttpResponse.json({ ...EMPTY, ...answer });
    }),
    on(videosApi.applyFixes, async (request) => {
      asked.push(await request.json());
      return HttpResponse.json({ fixesApplied: 1, jobId: 'j1' });
    }),
  );
  const frame = renderAt('/', <QuickFixesPanel video={makeVideo({ id: 'v1', issues })} />);
  return { asked, ...frame };
}
const item = (name: string) => screen.findByRole('button', { name: new RegExp(`^${name}`) });
const applyButton = () => screen.findByRole('button', { name: /^Apply/ });

describe('QuickFixesPanel', () => {
  it('lists the nine fixes in three categories of three', async () => {
    open([EMPTY]);
    for (const name of ['Audio', 'Visual', 'Platform']) {
      const group = within(await screen.findByRole('group', { name }));
      const labels = FIXES.filter(({ category }) => category === name.toLowerCase()).map(
        ({ label }) => label,
      );
      expect(labels).toHaveLength(3);
      for (const label of labels)
        expect(group.getByRole('button', { name: new RegExp(label) })).toBeInTheDocument();
      expect(group.getAllByRole('button')).toHaveLength(3);
    }
  });

  it('toggles a fix by click and by key, and enables the button with one selected', async () => {
    open([EMPTY]);
    expect(await applyButton()).toBeDisabled();
    const sharpen = await item('Sharpen Video');
    expect(sharpen).toHaveAttribute('aria-pressed', 'false');
    await person.click(sharpen);
    expect(sharpen).toHaveAttribute('aria-pressed', 'true');
    expect(await screen.findByRole('button', { name: 'Apply 1 fix' })).toBeEnabled();
    sharpen.focus();
    await person.keyboard(' ');
    expect(sharpen).toHaveAttribute('aria-pressed', 'false');
    expect(await applyButton()).toBeDisabled();
  });

  it('says how long a request still takes, as soon as that is known', async () => {
    open([{ run: makeRun({ remainingSeconds: 61 }) }]);
    expect(await screen.findByText('Applying the fixes, 30 percent, 2 min remaining')).toBeInTheDocument();
    cleanup();
    open([{ run: makeRun({ remainingSeconds: null }) }]);
    expect(await screen.findByText('Applying the fixes, 30 percent')).toBeInTheDocument();
  });

  it('says what the server measured when it answers again, wherever the timer had moved the bar', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const { client } = open([{ run: makeRun() }]);
    await screen.findByText('Applying the fixes, 30 percent');
    await act(() => vi.advanceTimersByTimeAsync(40_000));
    expect(screen.getByText(/No news from the server/)).toBeInTheDocument();
    act(() => applyFixRun(client, 'v1', makeRun({ progress: 40, revision: 3 })));
    expect(await screen.findByText('Applying the fixes, 40 percent')).toBeInTheDocument();
    vi.useRealTimers();
  });

  it('says what each figure means beside it', () => {
    const { figureMeaning } = quickFixTexts;
    expect(figureMeaning('loudness', -30, -14.2)).toBe('As loud as the platforms play clips.');
    expect(figureMeaning('loudness', -43, -24.1)).toBe('Clearly quieter than the platforms play clips.');
    expect(figureMeaning('true peak', 0.1, -1.8)).toContain('clear of crackling');
    expect(figureMeaning('shake', 0.81, 0.21)).toBe('What is left of the shake: 26 %.');
    expect(figureMeaning('edge contrast', 9, 10.3)).toBe('Edges are 14 % clearer.');
    expect(figureMeaning('edge contrast', 9, null)).toBeNull();
    expect(figureMeaning('size', 1, 2)).toBeNull();
  });

  it('says when nothing is selected on a script path, and sends nothing', async () => {
    const { asked } = open([EMPTY]);
    const form = (await item('Sharpen Video')).closest('form');
    if (!form) throw new Error('no form');
    fireEvent.submit(form);
    expect(await screen.findByText('No fixes selected')).toBeInTheDocument();
    expect(screen.getByText('Please select at least one enhancement to apply.')).toBeInTheDocument();
    expect(asked).toEqual([]);
  });

  it('recommends what the analysis flagged', async () => {
    open([EMPTY], { ...NO_ISSUES, shakyFootage: true, poorLighting: true });
    expect(await item('Stabilize Footage')).toHaveTextContent('Recommended');
    expect(await item('Color Correction')).toHaveTextContent('Recommended');
    expect(await item('Sharpen Video')).not.toHaveTextContent('Recommended');
  });

  it('goes from selected to processing to completed, which cannot be toggled', async () => {
    const applied = outcome('sharpen', 'applied', {
      detail: 'Edges are 17 % clearer.',
      figures: [{ name: 'edge contrast', unit: '%', before: 7.8, after: 9.1 }],
    });
    const finished = {
      run: makeRun({ state: 'done', progress: 100, fixes: [applied], revision: 9 }),
      done: [applied],
    };
    const { asked, client } = open([EMPTY, { run: makeRun() }, finished]);
    await person.click(await item('Sharpen Video'));
    await person.click(await applyButton());
    expect(asked).toEqual([{ fixes: ['sharpen'] }]);
    const sharpen = await item('Sharpen Video');
    await waitFor(() => expect(sharpen).toHaveTextContent('Working'));
    expect(sharpen).toHaveAttribute('aria-disabled', 'true');
    await person.click(sharpen);
    expect(sharpen).toHaveAttribute('data-state', 'processing');
    // Others may be chosen meanwhile, but not applied.
    await person.click(await item('Stabilize Footage'));
    expect(await applyButton()).toBeDisabled();
    const bar = screen.getByRole('progressbar', { name: 'Quick fixes' });
    expect(bar).toHaveAttribute('aria-valuenow', '30');
    act(() => applyFixRun(client, 'v1', makeRun({ progress: 100, revision: 3 })));
    await waitFor(() => expect(bar).toHaveAttribute('aria-valuenow', '100'));
    act(() => applyFixRun(client, 'v1', makeRun({ progress: 20, revision: 2 })));
    expect(bar).toHaveAttribute('aria-valuenow', '100');
    act(() => applyFixRun(client, 'v1', finished.run));
    await waitFor(() => expect(sharpen).toHaveAttribute('data-state', 'completed'));
    expect(sharpen).toHaveTextContent('Applied');
    expect(screen.getByText('edge contrast: 7.8 → 9.1 %')).toBeInTheDocument();
    expect(screen.getAllByText(/Edges are 17 % clearer/)).toHaveLength(1);
    await person.click(sharpen);
    expect(sharpen).toHaveAttribute('data-state', 'completed');
    expect(await screen.findByText('Fixes applied')).toBeInTheDocument();
    expect(screen.queryByRole('progressbar')).not.toBeInTheDocument();
    expect(await applyButton()).toBeEnabled();
  });

  it('keeps fixes at work until their results can be read, and the room of their progress afterwards', async () => {
    const applied = outcome('sharpen', 'applied', { detail: 'Edges are 17 % clearer.' });
    const run = makeRun({ state: 'done', progress: 100, fixes: [applied], revision: 9 });
    const { client } = open([{ run: makeRun() }]);
    const sharpen = await item('Sharpen Video');
    await waitFor(() => expect(sharpen).toHaveAttribute('data-state', 'processing'));
    const states: (string | null)[] = [];
    const watch = new MutationObserver(() => states.push(sharpen.getAttribute('data-state')));
    watch.observe(sharpen, { attributeFilter: ['data-state'] });
    server.use(on(quickFixesApi.read, () => HttpResponse.json({ ...EMPTY, run, done: [applied] })));
    act(() => applyFixRun(client, 'v1', run));
    expect(sharpen).toHaveAttribute('data-state', 'processing');
    expect(await screen.findByText('Fixes applied: 1 applied.')).toBeInTheDocument();
    expect(states).toEqual(['completed']);
    watch.disconnect();
  });

  it('has lines for what is being made, and keeps a result that a newer version took away', async () => {
    const made = outcome('tiktok-optimize', 'applied', { detail: 'A file for TikTok was made.' });
    const fixes = [outcome('sharpen', 'working'), outcome('instagram-optimize', 'waiting')];
    const { client } = open([{ done: [made] }, { run: makeRun({ fixes }), done: [made] }, EMPTY]);
    expect(await item('Optimize for TikTok')).toHaveTextContent('File made');
    await act(() => client.invalidateQueries());
    const files = within(await screen.findByRole('region', { name: 'Files for platforms' }));
    expect(files.getByRole('listitem')).toHaveTextContent('InstagramBeing made');
    await act(() => client.invalidateQueries());
    const tiktok = await item('Optimize for TikTok');
    await waitFor(() => expect(tiktok).toHaveTextContent('from an earlier version'));
    expect(tiktok).toHaveAttribute('data-state', 'unselected');
    expect(tiktok).toHaveAccessibleDescription('A file for TikTok was made.');
  });

  it('keeps the lines of what was not made in the end, with the reason', async () => {
    const answer = (state: FixRunDto['state'], ends: readonly FixOutcome['state'][]) => ({
      versions: [makeVersion()],
      run: makeRun({
        state,
        revision: state === 'working' ? 2 : 9,
        fixes: [outcome('sharpen', ends[0] ?? 'waiting'), outcome('youtube-optimize', ends[1] ?? 'waiting')],
      }),
    });
    const cases = [
      ['done', ['unchanged', 'failed'], 'Nothing had to be made', 'Could not be made'],
      ['cancelled', ['working', 'waiting'], 'Cancelled, so it was not made', 'Cancelled, so it was not made'],
      ['failed', ['failed', 'failed'], 'Could not be made', 'Could not be made'],
    ] as const;
    for (const [state, ends, version, file] of cases) {
      const { client } = open([answer('working', []), answer(state, ends)]);
      const lines = async (name: string) =>
        within(await screen.findByRole('region', { name }))
          .getAllByRole('listitem')
          .map((line) => line.textContent);
      expect((await lines('Versions of the clip'))[1]).toBe('With quick fixesBeing made');
      await act(() => client.invalidateQueries());
      await waitFor(async () =>
        expect((await lines('Versions of the clip'))[1]).toBe(`With quick fixes${version}`),
      );
      expect(await lines('Files for platforms')).toEqual([`YouTube${file}`]);
      cleanup();
      // A request that ended before the page was opened has no lines.
      open([answer(state, ends)]);
      await item('Sharpen Video');
      expect(screen.queryByRole('region', { name: 'Files for platforms' })).not.toBeInTheDocument();
      cleanup();
    }
  });

  it('cancels what is at work: the choice stays, the focus moves to Apply, and nothing says that it failed', async () => {
    const { client } = open([{ run: makeRun() }]);
    const cancelled = makeRun({ state: 'cancelled', revision: 3 });
    const asked: string[] = [];
    server.use(
      on(quickFixesApi.cancel, (request) => {
        asked.push(new URL(request.url).pathname);
        return HttpResponse.json({ ...EMPTY, run: cancelled });
      }),
    );
    await person.click(await screen.findByRole('button', { name: 'Cancel the fixes' }));
    expect(await screen.findByText('Fixes cancelled')).toBeInTheDocument();
    expect(screen.getByText('Your clip is as it was.')).toBeInTheDocument();
    expect(asked).toEqual(['/api/videos/v1/fixes/cancel']);
    await waitFor(() => expect(screen.queryByRole('progressbar')).not.toBeInTheDocument());
    expect(await item('Sharpen Video')).toHaveAttribute('data-state', 'selected');
    await waitFor(() => expect(screen.getByRole('button', { name: 'Apply 1 fix' })).toHaveFocus());
    // Updates from before the end arrive late.
    act(() => applyFixRun(client, 'v1', makeRun({ progress: 60 })));
    expect(screen.queryByRole('progressbar')).not.toBeInTheDocument();
  });

  it('keeps the choice when the work is pushed and cancelled before its request is answered', async () => {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { client } = open([EMPTY]);
    server.use(
      on(videosApi.applyFixes, async () => {
        await answered;
        return HttpResponse.json({ fixesApplied: 1, jobId: 'j1' });
      }),
      on(quickFixesApi.read, () =>
        HttpResponse.json({ ...EMPTY, run: makeRun({ state: 'cancelled', revision: 3 }) }),
      ),
      on(quickFixesApi.cancel, () =>
        HttpResponse.json({ ...EMPTY, run: makeRun({ state: 'cancelled', revision: 3 }) }),
      ),
    );
    const sharpen = await item('Sharpen Video');
    await person.click(sharpen);
    await person.click(await applyButton());
    act(() => applyFixRun(client, 'v1', makeRun()));
    await person.click(await screen.findByRole('button', { name: 'Cancel the fixes' }));
    answer();
    await waitFor(async () => expect(await applyButton()).toBeEnabled());
    expect(sharpen).toHaveAttribute('data-state', 'selected');
  });

  it('shows what was finished before it could be cancelled, and says if cancelling failed', async () => {
    const applied = outcome('sharpen', 'applied');
    open([{ run: makeRun() }]);
    server.use(on(quickFixesApi.cancel, () => refusal('internal')));
    await person.click(await screen.findByRole('button', { name: 'Cancel the fixes' }));
    expect(await screen.findByText('The fixes could not be cancelled')).toBeInTheDocument();
    const run = makeRun({ state: 'done', progress: 100, fixes: [applied], revision: 9 });
    server.use(on(quickFixesApi.cancel, () => HttpResponse.json({ ...EMPTY, run, done: [applied] })));
    await person.click(await screen.findByRole('button', { name: 'Cancel the fixes' }));
    expect(await screen.findByText('Fixes applied')).toBeInTheDocument();
    expect(await item('Sharpen Video')).toHaveAttribute('data-state', 'completed');
  });

  it('disables the button while the request is pending', async () => {
    open([EMPTY]);
    let answer: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    server.use(
      on(videosApi.applyFixes, async () => {
        await gate;
        return HttpResponse.json({ fixesApplied: 1, jobId: 'j1' });
      }),
    );
    await person.click(await item('Sharpen Video'));
    await person.click(await applyButton());
    expect(await screen.findByRole('button', { name: 'Applying...' })).toBeDisabled();
    answer();
    await waitFor(() =>
      expect(screen.queryByRole('button', { name: 'Applying...' })).not.toBeInTheDocument(),
    );
  });

  it('advances at the specified pace when the server names no job', async () => {
    open([EMPTY]);
    server.use(on(videosApi.applyFixes, () => HttpResponse.json({ fixesApplied: 1 })));
    const sharpen = await item('Sharpen Video');
    await person.click(sharpen);
    vi.useFakeTimers({ shouldAdvanceTime: true });
    try {
      fireEvent.click(await applyButton());
      await waitFor(() => expect(sharpen).toHaveAttribute('data-state', 'processing'));
      await act(() => vi.advanceTimersByTimeAsync(2000));
      const percent = Number(screen.getByRole('progressbar').getAttribute('aria-valuenow'));
      expect(percent).toBeGreaterThanOrEqual(5);
      expect(percent).toBeLessThanOrEqual(40);
      fireEvent.click(await item('Stabilize Footage'));
      expect(await applyButton()).toBeDisabled();
      for (let second = 0; second < 45; second += 1) await act(() => vi.advanceTimersByTimeAsync(1000));
      expect(sharpen).toHaveAttribute('data-state', 'completed');
      expect(screen.queryByRole('progressbar')).not.toBeInTheDocument();
      expect(await applyButton()).toBeEnabled();
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps the choice and says so when the fixes could not be requested', async () => {
    open([EMPTY]);
    server.use(on(videosApi.applyFixes, () => refusal('internal')));
    await person.click(await item('Sharpen Video'));
    await person.click(await applyButton());
    expect(await screen.findByText('Failed to apply fixes')).toBeInTheDocument();
    expect(screen.getByText('Please try again later.')).toBeInTheDocument();
    expect(await item('Sharpen Video')).toHaveAttribute('aria-pressed', 'true');
  });

  it('says what needed no change, and lets a failed fix be chosen again', async () => {
    const calm = outcome('wind-noise', 'unchanged', { detail: 'No wind was heard.' });
    const lacking = outcome('stabilize', 'failed', { detail: 'This ffmpeg cannot.' });
    const run = makeRun({
      state: 'failed',
      fixes: [calm, lacking],
      message: 'It broke. Your clip is as it was.',
    });
    open([{ run, done: [calm] }]);
    expect(await item('Remove Wind Noise')).toHaveTextContent('No change needed');
    expect(screen.getByText('No wind was heard.')).toBeInTheDocument();
    const stabilize = await item('Stabilize Footage');
    expect(stabilize).toHaveTextContent('Not possible');
    expect(stabilize).toHaveAccessibleDescription('This ffmpeg cannot.');
    await person.click(stabilize);
    expect(stabilize).toHaveAttribute('data-state', 'selected');
    expect(screen.getByText('It broke. Your clip is as it was.')).toBeInTheDocument();
  });

  it('says once why a request failed as a whole, and tries the same fixes again', async () => {
    const lost = [outcome('sharpen', 'failed'), outcome('stabilize', 'failed')];
    const run = makeRun({ state: 'failed', fixes: lost, message: 'It broke. Your clip is as it was.' });
    const { asked } = open([{ run }]);
    expect(await item('Sharpen Video')).toHaveTextContent('Not applied');
    expect(await item('Stabilize Footage')).toHaveTextContent('Not applied');
    expect(screen.getAllByText('It broke. Your clip is as it was.')).toHaveLength(1);
    await person.click(screen.getByRole('button', { name: 'Try again with the same fixes' }));
    await waitFor(() => expect(asked).toEqual([{ fixes: ['sharpen', 'stabilize'] }]));
  });

  it('lists versions, restores one, and says so when it is current', async () => {
    const version = (id: string, kind: ClipVersionDto['kind'], current: boolean) =>
      makeVersion({ id, kind, current, fixes: kind === 'fixes' ? [outcome('sharpen', 'applied')] : [] });
    const before = [
      version('original', 'original', false),
      version('f1', 'fixes', true),
      version('r1', 'repair', false),
    ];
    const after = before.map((one) => ({ ...one, current: one.id === 'original' }));
    open([{ versions: before }, { versions: after }]);
    const restored: string[] = [];
    server.use(
      on(quickFixesApi.restore, (request) => {
        restored.push(new URL(request.url).pathname);
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    const list = within(await screen.findByRole('region', { name: 'Versions of the clip' }));
    expect(list.getAllByRole('listitem').map((line) => line.textContent?.includes('current'))).toEqual([
      false,
      true,
      false,
    ]);
    expect(list.getByText(/Sharpen Video/)).toBeInTheDocument();
    await person.click(list.getByRole('button', { name: 'Restore: Original, as uploaded' }));
    expect(await screen.findByText('Version restored')).toBeInTheDocument();
    expect(restored).toEqual(['/api/videos/v1/versions/original/restore']);
    await waitFor(() => expect(list.getAllByRole('listitem')[0]).toHaveTextContent('current'));
  });

  it('offers platform files for download and deletes one after asking', async () => {
    const file = {
      id: 'e1',
      fix: 'tiktok-optimize' as const,
      createdAt: '2026-05-04T10:00:00.000Z',
      sizeBytes: 2048,
      ofCurrent: false,
      detail: '',
      figures: [],
    };
    open([{ exports: [file] }, EMPTY]);
    server.use(on(quickFixesApi.removeExport, () => HttpResponse.json({ message: 'ok' })));
    const list = within(await screen.findByRole('region', { name: 'Files for platforms' }));
    expect(list.getByText('from an earlier version')).toBeInTheDocument();
    const link = list.getByRole('link', { name: 'Download the file for TikTok' });
    expect(link).toHaveAttribute('href', '/api/videos/v1/exports/e1/download');
    const confirm = vi.spyOn(window, 'confirm').mockReturnValueOnce(false).mockReturnValueOnce(true);
    await person.click(list.getByRole('button', { name: 'Delete the file for TikTok' }));
    expect(list.getByRole('listitem')).toBeInTheDocument();
    await person.click(list.getByRole('button', { name: 'Delete the file for TikTok' }));
    await waitFor(() =>
      expect(screen.queryByRole('region', { name: 'Files for platforms' })).not.toBeInTheDocument(),
    );
    expect(confirm).toHaveBeenCalledTimes(2);
    confirm.mockRestore();
  });

  it('says when it could not be loaded, and loads again without losing what was chosen', async () => {
    server.use(on(quickFixesApi.read, () => refusal('internal')));
    renderAt('/', <QuickFixesPanel video={makeVideo({ id: 'v1' })} />);
    const failure = await screen.findByText('The quick fixes could not be loaded.');
    const sharpen = await item('Sharpen Video');
    await person.click(sharpen);
    server.use(
      on(quickFixesApi.read, async () => {
        await delay(100);
        return HttpResponse.json(EMPTY);
      }),
    );
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    await waitFor(() => expect(failure).not.toBeInTheDocument());
    expect(sharpen).toBeInTheDocument();
    expect(sharpen).toHaveAttribute('aria-pressed', 'true');
  });
});
