import { screen, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { describe, expect, it, vi } from 'vitest';
import { type StatusDto, videosApi } from '#common/api/videos.ts';
import { queryKeyOf } from '../../data/query-client.ts';
import { renderAt } from '../../test/render.tsx';
import { makeReport, makeStatus } from '../../test/samples.ts';
import { on, refusal, server, signedIn } from '../../test/server.ts';
import { ProcessingPanel } from './processing-panel.tsx';

function show(
  change: Partial<StatusDto>,
  answer: () => Response = () => HttpResponse.json(makeStatus(change)),
  onGone: () => void = () => undefined,
) {
  server.use(signedIn(), on(videosApi.status, answer));
  return renderAt(
    '/',
    <ProcessingPanel
      id="video-0001-abcdef"
      name="harbour.mp4"
      hasReport={false}
      reveal={false}
      onGone={onGone}
    />,
  );
}

describe('ProcessingPanel', () => {
  it('lists the six steps in order with their states', async () => {
    show({
      progress: 42.4,
      steps: [
        { step: 'analyzing', state: 'done', tookMs: 62_000, note: '' },
        { step: 'fixing_cuts', state: 'not_needed', tookMs: null, note: 'no stutter' },
        { step: 'fixing_audio', state: 'running', tookMs: null, note: '' },
      ],
      currentStep: 'fixing_audio',
    });
    const items = await within(await screen.findByRole('list', { name: 'Repair steps' })).findAllByRole(
      'listitem',
    );
    expect(items.map((item) => item.textContent)).toEqual([
      'Analyzing video issues...done in 1:02',
      'Fixing stuttered cuts...not needed',
      'Repairing audio sync...42 %',
      'Recovering dropped frames...waiting',
      'Adding captions...waiting',
      'Exporting video...waiting',
    ]);
    expect(screen.getByRole('progressbar', { name: 'Repair' })).toHaveAttribute(
      'aria-valuetext',
      'Repairing audio sync, 42 percent',
    );
  });

  it.each([
    [1, '1 min remaining'],
    [61, '2 min remaining'],
    [120, '2 min remaining'],
    [121, '3 min remaining'],
    [null, '2 min remaining'],
  ])('rounds %s seconds up to whole minutes', async (estimatedTimeRemaining, text) => {
    show({ estimatedTimeRemaining });
    expect(await screen.findByText(text, { exact: false })).toBeInTheDocument();
  });

  it('shows each defect as soon as it is found and each repair as soon as it is made', async () => {
    const stutter = { kind: 'stuttered_cut' as const, startMs: 3500, endMs: 3640, count: 4 };
    show({
      findings: {
        durationMs: 9600,
        total: 5,
        defects: [
          { ...stutter, id: 'stuttered_cut-1', state: 'repaired' },
          { id: 'wind_noise-1', kind: 'wind_noise', startMs: 4000, endMs: 9000, count: 1, state: 'found' },
        ],
      },
    });
    const found = await screen.findByRole('region', { name: 'Issues and repairs' });
    expect(
      within(found)
        .getAllByRole('listitem')
        .map((item) => item.textContent),
    ).toEqual(['0:03Stuttered cutmended4 frames', '0:04Wind noisefound0:04 – 0:09']);
    expect(screen.getByText('and 3 more')).toBeInTheDocument();
    expect(screen.getByText('5 issues found')).toHaveAttribute('role', 'status');
    const bar = screen.getByRole('progressbar', { name: 'Repair' });
    const marks = [...bar.querySelectorAll('[data-mark]')].map((mark) => mark.getAttribute('data-outcome'));
    expect(marks).toEqual(['repaired', 'found']);
  });

  it.each([
    [null, 'Each issue appears here as soon as it is found.'],
    [{ durationMs: 9600, total: 0, defects: [] }, 'Nothing found that needs mending.'],
  ])('says what to expect before anything is found: %j', async (findings, text) => {
    show({ findings });
    expect(await screen.findByText(text)).toBeInTheDocument();
  });

  it('says that all is done and offers the download', async () => {
    show({ status: 'completed', progress: 100, currentStep: null });
    expect(await screen.findByText('Processing complete!')).toBeInTheDocument();
    expect(screen.getByText('Issues fixed automatically')).toBeInTheDocument();
    expect(screen.getByText('Ready for download')).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Download' })).toBeInTheDocument();
  });

  it('links to before and after if something was repaired, and only then', async () => {
    const of = (report: ReturnType<typeof makeReport>): void => {
      server.use(
        signedIn(),
        on(videosApi.status, () => HttpResponse.json(makeStatus({ status: 'completed', progress: 100 }))),
        on(videosApi.report, () => HttpResponse.json(report)),
      );
    };
    const panel = (
      <ProcessingPanel id="v1" name="harbour.mp4" hasReport reveal={false} onGone={() => undefined} />
    );
    of(makeReport());
    const { unmount } = renderAt('/', panel);
    const compare = await screen.findByRole('link', { name: 'See before and after' });
    expect(compare).toHaveAttribute('href', '/editor/v1?view=compare');
    unmount();
    of(makeReport({ defects: [], outcome: 'unchanged' }));
    renderAt('/', panel);
    await screen.findByRole('link', { name: 'Repair report' });
    expect(screen.queryByRole('link', { name: 'See before and after' })).not.toBeInTheDocument();
  });

  it('keeps the marks of the repair until the report replaces them', async () => {
    const findings: StatusDto['findings'] = {
      durationMs: 9600,
      total: 1,
      defects: [
        {
          id: 'stuttered_cut-1',
          kind: 'stuttered_cut',
          startMs: 3500,
          endMs: 3640,
          count: 4,
          state: 'repaired',
        },
      ],
    };
    let reads = 0;
    show({}, () => {
      reads += 1;
      return HttpResponse.json(
        reads === 1
          ? makeStatus({ findings })
          : makeStatus({ status: 'completed', progress: 100, currentStep: null, version: 9 }),
      );
    });
    const bar = await screen.findByRole('progressbar', { name: 'Repair' });
    expect(bar.querySelectorAll('[data-mark]')).toHaveLength(1);
    await screen.findByText('Processing complete!');
    const after = screen.getByRole('progressbar', { name: 'Repair' });
    expect(after.querySelectorAll('[data-mark]')).toHaveLength(1);
  });

  it.each([
    ['The file holds no picture.', 'Processing failed: The file holds no picture.'],
    [null, 'Processing failed: Unknown error'],
  ])('says why it failed: %s', async (errorMessage, text) => {
    show({ status: 'failed', errorMessage });
    expect(await screen.findByText(text)).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Retry' })).toBeInTheDocument();
    // Steps that will not run are not shown as waiting.
    expect(screen.queryByText('waiting')).not.toBeInTheDocument();
  });

  it('says what is safe and what to do beside why it failed', async () => {
    show({ status: 'failed', errorCode: 'damaged_beyond_repair', errorMessage: 'The index is missing.' });
    expect(await screen.findByText('Processing failed: The index is missing.')).toBeInTheDocument();
    expect(screen.getByText(/phone, camera or card/)).toBeInTheDocument();
    expect(screen.getByText(/Your upload is safe/)).toBeInTheDocument();
  });

  it('reports a video that was deleted meanwhile', async () => {
    const onGone = vi.fn();
    show({}, () => refusal('not_found'), onGone);
    await expect.poll(() => onGone.mock.calls.length).toBe(1);
  });

  it('reads the status every 2 s while processing without push, and stops when it is done', async () => {
    const readAtMs: number[] = [];
    const { client } = show({}, () => {
      readAtMs.push(performance.now());
      const status = readAtMs.length >= 3 ? 'completed' : 'processing';
      return HttpResponse.json(makeStatus({ version: 10 + readAtMs.length, status }));
    });
    await screen.findByText('Processing complete!');
    const [first = 0, second = 0, third = 0] = readAtMs;
    expect(second - first).toBeGreaterThan(1900);
    expect(third - second).toBeGreaterThan(1900);
    const key = queryKeyOf(videosApi.status, { id: 'video-0001-abcdef' });
    const query = client.getQueryCache().find({ queryKey: key });
    const interval = query?.observers[0]?.options.refetchInterval;
    expect(typeof interval === 'function' && query ? interval(query) : interval).toBe(false);
  });
});
