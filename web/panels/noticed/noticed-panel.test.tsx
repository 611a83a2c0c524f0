import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { useState } from 'react';
import { describe, expect, it, vi } from 'vitest';
import {
  type ClipVersionDto,
  type FixOutcome,
  type FixRunDto,
  type QuickFixesDto,
  quickFixesApi,
} from '#common/api/quick-fixes.ts';
import type { VideoDto } from '#common/api/videos.ts';
import type { ChangeId } from '#common/fixes.ts';
import { MOST_PLACES } from '#common/noticed.ts';
import type { RepairReport } from '#common/report.ts';
import { addPlace } from '../../data/videos/noticed.ts';
import { applyFixRun } from '../../data/videos/quick-fixes.ts';
import { renderAt } from '../../test/render.tsx';
import { makeReport, makeVersion, makeVideo } from '../../test/samples.ts';
import { on, refusal, server } from '../../test/server.ts';
import { QuickFixesPanel } from '../quick-fixes/quick-fixes-panel.tsx';
import { NoticedPanel } from './noticed-panel.tsx';
import { parseShift } from './noticed-sound.tsx';

const person = userEvent.setup({ delay: null });
const EMPTY: QuickFixesDto = { run: null, done: [], versions: [], exports: [] };
const outcome = (id: ChangeId, state: FixOutcome['state'], detail = ''): FixOutcome => ({
  id,
  state,
  detail,
  figures: [],
});
const makeRun = (change: Partial<FixRunDto> = {}): FixRunDto => ({
  jobId: 'j1',
  state: 'working',
  remainingSeconds: 61,
  progress: 30,
  fixes: [outcome('freeze-here', 'working')],
  sourceVersionId: 'r1',
  resultVersionId: null,
  message: null,
  revision: 2,
  ...change,
});

interface Page {
  readonly video?: Partial<VideoDto>;
  readonly report?: RepairReport;
  readonly isCompared?: boolean;
  /** Shows the quick fixes of the same clip too. */
  readonly withFixes?: boolean;
}

/** Each read takes the next answer; the last one repeats. */
function open(answers: readonly Partial<QuickFixesDto>[] = [EMPTY], page: Page = {}) {
  const asked: unknown[] = [];
  let reads = 0;
  server.use(
    on(quickFixesApi.read, () => {
      const answer = answers[Math.min(reads, answers.length - 1)];
      reads += 1;
      return HttpResponse.json({ ...EMPTY, ...answer });
    }),
    on(quickFixesApi.mendNoticed, async (request) => {
      asked.push(await request.json());
      return HttpResponse.json({ jobId: 'j1' });
    }),
  );
  let ms = 0;
  const player = { seek: vi.fn<(ms: number) => void>(), nowMs: () => ms };
  function Shown() {
    const [sha, setSha] = useState('a'.repeat(64));
    const [isOpen, setOpen] = useState(true);
    const video = makeVideo({ id: 'v1', resultSha256: sha, ...page.video });
    return (
      <>
        <button type="button" onClick={() => setSha('b'.repeat(64))}>
          other version
        </button>
        <button type="button" onClick={() => setOpen(!isOpen)}>
          leave
        </button>
        {isOpen && (
          <NoticedPanel
            video={video}
            player={player}
            isCompared={page.isCompared ?? false}
            report={page.report}
          />
        )}
        {page.withFixes && <QuickFixesPanel video={video} />}
      </>
    );
  }
  const frame = renderAt('/', <Shown />);
  const panel = within(screen.getByRole('region', { name: 'Still something wrong?' }));
  const mark = async (kind: 'freeze' | 'jump', atMs: number): Promise<void> => {
    ms = atMs;
    await person.click(panel.getByRole('button', { name: `It ${kind}s here` }));
  };
  return { asked, player, panel, mark, ...frame };
}
type Shown = ReturnType<typeof open>['panel'];
const marks = (panel: Shown) => panel.queryAllByRole('listitem').map((line) => line.textContent);
const mendButton = (panel: Shown) => panel.getByRole('button', { name: 'Mend what I marked' });
const range = (panel: Shown) => panel.getByRole('slider', { name: 'Move the sound' });
const number = (panel: Shown) => panel.getByRole('spinbutton', { name: /^Milliseconds/ });

describe('NoticedPanel', () => {
  it('marks what is seen at the player’s time, in order of time, and goes there a second earlier', async () => {
    const { panel, mark, player } = open();
    expect(panel.getByText('Nothing is marked yet.')).toBeInTheDocument();
    expect(mendButton(panel)).toBeDisabled();
    await mark('jump', 8250.4);
    await mark('freeze', 3400);
    expect(panel.getByRole('status')).toHaveTextContent('Freeze at 0:03.400 is marked.');
    expect(marks(panel)).toEqual(['Freeze0:03.400Go thereRemove', 'Jump0:08.250Go thereRemove']);
    expect(mendButton(panel)).toBeEnabled();
    await person.click(panel.getByRole('button', { name: 'Go there: Jump at 0:08.250' }));
    expect(player.seek).toHaveBeenLastCalledWith(7250);
  });

  it('removes a mark, and leaves the focus at the next one', async () => {
    const { panel, mark } = open();
    await mark('freeze', 500);
    await mark('freeze', 2000);
    await person.click(panel.getByRole('button', { name: 'Remove: Freeze at 0:00.500' }));
    expect(panel.getByRole('button', { name: 'Remove: Freeze at 0:02.000' })).toHaveFocus();
    await person.keyboard('{Enter}');
    expect(marks(panel)).toEqual([]);
    expect(panel.getByRole('button', { name: 'It freezes here' })).toHaveFocus();
    expect(panel.getByRole('status')).toHaveTextContent('Freeze at 0:02.000 is not marked any more.');
  });

  it('takes a second mark of the same kind close by for the same place, and no more than may be sent', async () => {
    const { panel, mark } = open();
    await mark('freeze', 1000);
    await mark('freeze', 1200);
    expect(panel.getByRole('status')).toHaveTextContent('Freeze at 0:01.200 is marked already.');
    await mark('jump', 1200);
    await mark('freeze', 1201);
    expect(marks(panel)).toHaveLength(3);
    const full = Array.from({ length: MOST_PLACES }, (_unused, index) => ({
      kind: 'jump' as const,
      atMs: index * 1000,
    }));
    expect(addPlace(full, { kind: 'freeze', atMs: 50 })).toBe('full');
    expect(addPlace(full, { kind: 'jump', atMs: 50 })).toBe('already');
  });

  it('says when there are too many marks', async () => {
    const { panel, mark } = open();
    for (let index = 0; index <= MOST_PLACES; index += 1) await mark('jump', index * 1000);
    expect(marks(panel)).toHaveLength(MOST_PLACES);
    expect(panel.getByRole('status')).toHaveTextContent('12 places are the most at once.');
  });

  it('sends exactly what was marked, follows it, and tells once what became of it', async () => {
    const made = makeVersion({ id: 'f1', kind: 'fixes', fixes: [outcome('freeze-here', 'applied')] });
    const repair = makeVersion({ id: 'r1', kind: 'repair', current: false });
    const before = [makeVersion({ current: false }), { ...repair, current: true }];
    const ends = [
      outcome('freeze-here', 'applied', '1 freeze was mended at 0:03.2.'),
      outcome('sound-moved', 'unchanged', 'The sound would have been empty.'),
    ];
    const asks = makeRun({ fixes: [outcome('freeze-here', 'working'), outcome('sound-moved', 'waiting')] });
    const done = makeRun({ state: 'done', progress: 100, revision: 9, fixes: ends, resultVersionId: 'f1' });
    const { asked, panel, mark, client } = open([
      { versions: before },
      { versions: before, run: asks },
      { versions: [makeVersion({ current: false }), made, repair], run: done },
    ]);
    await mark('freeze', 3400);
    fireEvent.change(range(panel), { target: { value: '-120' } });
    expect(panel.getByText('The sound will come 120 ms earlier.')).toBeInTheDocument();
    await person.click(mendButton(panel));
    expect(asked).toEqual([{ places: [{ kind: 'freeze', atMs: 3400 }], soundShiftMs: -120 }]);
    const bar = await panel.findByRole('progressbar', { name: 'What you marked' });
    expect(bar).toHaveAttribute('aria-valuenow', '30');
    expect(panel.getByText('Mending what you marked, 30 percent, 2 min remaining')).toBeInTheDocument();
    expect(mendButton(panel)).toBeDisabled();
    expect(panel.getByRole('button', { name: 'It freezes here' })).toBeDisabled();
    expect(panel.getByRole('button', { name: 'Remove: Freeze at 0:03.400' })).toBeDisabled();
    const outcomes = within(panel.getByRole('list', { name: 'What became of it' }));
    expect(outcomes.getAllByRole('listitem').map((line) => line.textContent)).toEqual([
      'Freezes you markedWorking',
      'Sound you movedWaiting',
    ]);
    act(() => applyFixRun(client, 'v1', done));
    expect(await panel.findByText('Mended again: 1 applied, 1 needed no change.')).toBeInTheDocument();
    expect(outcomes.getAllByRole('listitem').map((line) => line.textContent)).toEqual([
      'Freezes you markedApplied1 freeze was mended at 0:03.2.',
      'Sound you movedNo change neededThe sound would have been empty.',
    ]);
    expect(await screen.findByText('Mended again')).toBeInTheDocument();
    await waitFor(() => expect(panel.queryByRole('list', { name: 'Marked places' })).not.toBeInTheDocument());
    expect(panel.getByText('Nothing is marked yet.')).toBeInTheDocument();
    expect(panel.getByText('The sound stays as it is.')).toBeInTheDocument();
    expect(panel.getByRole('button', { name: 'Take it back' })).toBeEnabled();
  });

  it('takes it back to the version that was current before, and says that it is kept', async () => {
    const version = (id: string, kind: ClipVersionDto['kind'], current: boolean) =>
      makeVersion({
        id,
        kind,
        current,
        hasReport: id === 'f2',
        fixes: id === 'f2' ? [outcome('freeze-here', 'applied')] : [],
      });
    const original = version('original', 'original', false);
    // Somebody had gone back from the quick fixes to the repair.
    const early = [original, version('f1', 'fixes', false), version('r1', 'repair', true)];
    const late = (current: string) =>
      ['original', 'f2', 'f1', 'r1'].map((id) =>
        version(id, id === 'original' ? id : id === 'r1' ? 'repair' : 'fixes', id === current),
      );
    const fixes = [outcome('freeze-here', 'applied', 'Done.')];
    const done = makeRun({ state: 'done', revision: 9, fixes, resultVersionId: 'f2' });
    const restored: string[] = [];
    server.use(
      on(quickFixesApi.restore, (request) => {
        restored.push(new URL(request.url).pathname);
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    const { panel, client } = open([
      { run: makeRun(), versions: early },
      { run: done, versions: late('f2') },
      { run: done, versions: late('r1') },
    ]);
    await panel.findByRole('progressbar');
    act(() => applyFixRun(client, 'v1', done));
    const proof = await panel.findByRole('link', { name: 'Report of what became of your marks' });
    expect(proof).toHaveAttribute('href', '/videos/v1/report/f2');
    await person.click(await panel.findByRole('button', { name: 'Take it back' }));
    expect(restored).toEqual(['/api/videos/v1/versions/r1/restore']);
    expect(await panel.findByText(/^You took it back/)).toBeInTheDocument();
    expect(panel.queryByRole('button', { name: 'Take it back' })).not.toBeInTheDocument();
    await waitFor(() => expect(panel.getByRole('button', { name: 'It freezes here' })).toHaveFocus());
  });

  it('offers the way back to who opens the page later, or to the upload where the version before is gone', async () => {
    const restored: string[] = [];
    const fixes = [outcome('sound-moved', 'applied', 'Moved.')];
    const made = makeVersion({ id: 'f1', kind: 'fixes', fixes });
    const run = makeRun({ state: 'done', fixes, sourceVersionId: null, resultVersionId: 'f1' });
    server.use(
      on(quickFixesApi.restore, (request) => {
        restored.push(new URL(request.url).pathname);
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    const { panel } = open([{ run, versions: [makeVersion({ current: false }), made] }]);
    await person.click(await panel.findByRole('button', { name: 'Take it back' }));
    expect(restored).toEqual(['/api/videos/v1/versions/original/restore']);
    expect(screen.queryByText('Mended again')).not.toBeInTheDocument();
  });

  it('keeps the marks when the mending is cancelled, or fails', async () => {
    const cancelled = makeRun({ state: 'cancelled', revision: 3 });
    const { panel, mark, client } = open([EMPTY, { run: makeRun() }]);
    server.use(on(quickFixesApi.cancel, () => HttpResponse.json({ ...EMPTY, run: cancelled })));
    await mark('freeze', 3400);
    await person.click(mendButton(panel));
    await person.click(await panel.findByRole('button', { name: 'Cancel the mending' }));
    expect(await screen.findByText('Mending cancelled')).toBeInTheDocument();
    const outcomes = within(await panel.findByRole('list', { name: 'What became of it' }));
    expect(outcomes.getByRole('listitem')).toHaveTextContent('Not applied');
    await waitFor(() => expect(mendButton(panel)).toHaveFocus());
    const lost = makeRun({ jobId: 'j2', state: 'failed', revision: 7, message: 'It broke.' });
    act(() => applyFixRun(client, 'v1', { ...lost, state: 'working', message: null, revision: 6 }));
    await panel.findByRole('progressbar');
    server.use(on(quickFixesApi.read, () => HttpResponse.json({ ...EMPTY, run: lost })));
    act(() => applyFixRun(client, 'v1', lost));
    expect(await panel.findByText('It broke.')).toBeInTheDocument();
    expect(await screen.findByText('What you marked could not be mended')).toBeInTheDocument();
    expect(panel.getByRole('button', { name: 'Go there: Freeze at 0:03.400' })).toBeEnabled();
  });

  it('says why it could not be asked for, and keeps the marks', async () => {
    const { panel, mark } = open();
    server.use(on(quickFixesApi.mendNoticed, () => refusal('conflict', 'Something else is at work.')));
    await mark('jump', 100);
    await person.click(mendButton(panel));
    expect(await screen.findByText('Something else is at work.')).toBeInTheDocument();
    expect(mendButton(panel)).toBeEnabled();
    expect(marks(panel)).toHaveLength(1);
  });

  it('waits for quick fixes, and tells nothing of them', async () => {
    const fixes = [outcome('sharpen', 'working')];
    const { panel, mark, client } = open([{ run: makeRun({ fixes }) }]);
    await mark('jump', 100);
    expect(await panel.findByText(/^Quick fixes are being applied/)).toBeInTheDocument();
    expect(mendButton(panel)).toBeDisabled();
    expect(panel.queryByRole('progressbar')).not.toBeInTheDocument();
    const run = makeRun({ state: 'done', revision: 9, fixes: [outcome('sharpen', 'applied')] });
    server.use(on(quickFixesApi.read, () => HttpResponse.json({ ...EMPTY, run })));
    act(() => applyFixRun(client, 'v1', run));
    await waitFor(() => expect(mendButton(panel)).toBeEnabled());
    expect(panel.queryByRole('list', { name: 'What became of it' })).not.toBeInTheDocument();
    expect(screen.queryByText('Mended again')).not.toBeInTheDocument();
  });

  it('lets the quick fixes of the clip wait, which tell nothing of it', async () => {
    const { client } = open([{ run: makeRun(), versions: [makeVersion()] }], { withFixes: true });
    const fixes = within(await screen.findByRole('region', { name: 'AI Quick Fixes' }));
    expect(await fixes.findByText('What you marked is being mended first.')).toBeInTheDocument();
    await person.click(fixes.getByRole('button', { name: /^Sharpen Video/ }));
    expect(fixes.getByRole('button', { name: 'Apply 1 fix' })).toBeDisabled();
    expect(fixes.queryByRole('progressbar')).not.toBeInTheDocument();
    const versions = within(fixes.getByRole('region', { name: 'Versions of the clip' }));
    expect(versions.getByText('Mended again')).toBeInTheDocument();
    const run = makeRun({ state: 'failed', revision: 9, message: 'It broke.' });
    server.use(on(quickFixesApi.read, () => HttpResponse.json({ ...EMPTY, run })));
    act(() => applyFixRun(client, 'v1', run));
    await waitFor(() => expect(fixes.getByRole('button', { name: 'Apply 1 fix' })).toBeEnabled());
    expect(screen.getAllByText('It broke.')).toHaveLength(1);
    expect(screen.queryByText('Failed to apply fixes')).not.toBeInTheDocument();
  });

  it('moves the sound by a number too, and refuses what is none', async () => {
    const { panel, asked } = open();
    await person.clear(number(panel));
    await person.type(number(panel), '1234');
    expect(panel.getByText('The sound will come 1234 ms later.')).toBeInTheDocument();
    expect(range(panel)).toHaveAttribute('aria-valuetext', 'The sound will come 1234 ms later.');
    await person.type(number(panel), '5');
    expect(panel.getByRole('alert')).toHaveTextContent('Whole milliseconds from −2000 to 2000, please.');
    expect(number(panel)).toBeInvalid();
    expect(mendButton(panel)).toBeDisabled();
    await person.type(number(panel), '{Escape}');
    expect(number(panel)).toHaveValue(1234);
    await person.click(mendButton(panel));
    await waitFor(() => expect(asked).toEqual([{ places: [], soundShiftMs: 1234 }]));
    expect(['', '-7', '+3', '2001', '1.5', '1e3', 'x'].map(parseShift)).toEqual([
      0,
      -7,
      3,
      null,
      null,
      null,
      null,
    ]);
  });

  it('has nothing to move in a clip without sound', async () => {
    const report = makeReport();
    const media = { ...report.result.media, audioCodec: null };
    const { panel } = open([EMPTY], { report: { ...report, result: { ...report.result, media } } });
    expect(panel.getByText('This clip has no sound that could be early or late.')).toBeInTheDocument();
    expect(panel.queryByRole('slider')).not.toBeInTheDocument();
  });

  it('does not mark in the comparison, whose times are others, and says how to', async () => {
    const { panel } = open([EMPTY], { isCompared: true });
    const button = panel.getByRole('button', { name: 'It jumps here' });
    expect(button).toBeDisabled();
    expect(button).toHaveAccessibleDescription(/^Choose “Mended clip” above the picture/);
  });

  it('keeps the marks of a clip until its version changes', async () => {
    const { panel, mark } = open();
    await mark('jump', 100);
    await person.click(screen.getByRole('button', { name: 'leave' }));
    await person.click(screen.getByRole('button', { name: 'leave' }));
    expect(screen.getByText('0:00.100')).toBeInTheDocument();
    await person.click(screen.getByRole('button', { name: 'other version' }));
    expect(screen.queryByText('0:00.100')).not.toBeInTheDocument();
    expect(screen.getByText(/the marks were taken away/)).toBeInTheDocument();
    expect(panel).toBeDefined();
  });
});
