import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { Route, Routes } from 'react-router-dom';
import { describe, expect, it, vi } from 'vitest';
import { comparisonApi } from '#common/api/comparison.ts';
import { type VideoDto, videosApi } from '#common/api/videos.ts';
import type { Defect } from '#common/report.ts';
import { useNoticedDraft } from '../../data/videos/noticed.ts';
import { resultMark } from '../../data/videos/videos.ts';
import { renderAt } from '../../test/render.tsx';
import { makeReport, makeVideo } from '../../test/samples.ts';
import { on, refusal, server, signedIn } from '../../test/server.ts';
import { formatFigure } from '../../components/figure-text.ts';
import { ReportPage } from './report-page.tsx';

const person = userEvent.setup({ delay: null });

function open(video: Partial<VideoDto>, answer: () => Response = () => HttpResponse.json(makeReport())) {
  server.use(
    signedIn(),
    on(videosApi.list, () => HttpResponse.json([makeVideo({ id: 'v1', hasReport: true, ...video })])),
    on(videosApi.report, answer),
  );
  return renderAt(
    '/videos/v1/report',
    <Routes>
      <Route path="/videos/:id/report" element={<ReportPage />} />
      <Route path="/editor/v1" element={<Marked />} />
    </Routes>,
  );
}

/** What is marked when the editor opens. */
function Marked() {
  const { draft } = useNoticedDraft('v1', resultMark(makeVideo({ id: 'v1', hasReport: true })));
  return draft.places.map(({ kind, atMs }) => (
    <p key={atMs}>{`${kind === 'jump' ? 'Jump' : 'Freeze'} ${atMs}`}</p>
  ));
}

describe('ReportPage', () => {
  it('shows the repaired clip first', async () => {
    open({});
    expect(await screen.findByRole('button', { name: 'Download' })).toBeVisible();
  });

  it('leads to where one says that something is still wrong', async () => {
    open({});
    const link = await screen.findByRole('link', { name: 'Still something wrong?' });
    expect(link.getAttribute('href')).toMatch(/^\/editor\/.+#noticed$/);
  });

  it('takes a defect that was left as it is to the editor, where it is marked', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const measure = { ...gap.measure, unit: 'ratio', before: 1.7, after: null };
    const left = {
      ...gap,
      id: 'dropped_frames-2',
      endMs: 6040,
      measure,
      action: 'none',
      outcome: 'left_alone',
    } as const;
    open({}, () => HttpResponse.json(makeReport({ defects: [gap, left] })));
    const link = await screen.findByRole('link', { name: 'Mend it anyway: Dropped frames' });
    expect(link).toHaveAttribute('href', '/editor/v1#noticed');
    await person.click(link);
    expect(await screen.findByText('Jump 6040')).toBeInTheDocument();
  });

  it('offers that for the version of the report alone', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const left = { ...gap, action: 'none', outcome: 'left_alone' } as const;
    open({ resultSha256: 'c'.repeat(64) }, () => HttpResponse.json(makeReport({ defects: [left] })));
    await screen.findByText(/the version before, which can be restored/);
    expect(screen.queryByRole('link', { name: /^Mend it anyway/ })).not.toBeInTheDocument();
  });

  it('offers what to do about a clip that could not be repaired', async () => {
    open({ status: 'failed', hasReport: false, errorMessage: 'The picture data are missing.' });
    expect(await screen.findByText('The picture data are missing.')).toBeVisible();
    expect(screen.getByRole('link', { name: 'Upload another clip' })).toHaveAttribute('href', '/#upload');
    expect(screen.getByRole('link', { name: 'Open Cloud Backup' })).toHaveAttribute('href', '/drafts');
    const retried = vi.fn<() => void>();
    server.use(
      on(videosApi.retry, () => {
        retried();
        return HttpResponse.json({ jobId: 'j' });
      }),
    );
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    await waitFor(() => expect(retried).toHaveBeenCalledOnce());
  });

  it('shows every defect with position, figures before and after, and what was done', async () => {
    open({});
    expect(await screen.findByText('1 issue was mended.')).toBeInTheDocument();
    // By its id, because finding by role walks the whole page, which takes seconds on a busy machine.
    const line = document.getElementById('dropped_frames-1');
    if (!line) throw new Error('no row');
    const row = within(line);
    expect(row.getByText('0:04.000')).toBeInTheDocument();
    expect(row.getByText('frames 120 to 125')).toBeInTheDocument();
    expect(row.getByText('found by a gap in the frame times')).toBeInTheDocument();
    expect(row.getByText('5 frames')).toBeInTheDocument();
    expect(row.getByText('0 frames')).toBeInTheDocument();
    expect(row.getByText('93 %')).toBeInTheDocument();
    expect(row.getByText('Five pictures were rebuilt from their neighbours.')).toBeInTheDocument();
  });

  it('says first what each figure means, and shows the exact figures on request', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const explanation =
      'Five pictures were rebuilt. On 2 true pictures this scored 29.3 dB, holding 24.4 dB.';
    const check = { name: 'decodes without a complaint', passed: true, detail: 'Nothing was said.' };
    open({}, () => HttpResponse.json(makeReport({ defects: [{ ...gap, explanation }], checks: [check] })));
    expect(await screen.findByText('Five pictures were rebuilt.')).toBeVisible();
    const meaning = '5 frames are missing here, and the motion jerks.';
    expect(within(screen.getByRole('table')).getByText(meaning)).toBeVisible();
    expect(screen.getByText(/The whole clip plays without an error/)).toBeVisible();
    expect(screen.getByText(/97 % of it is what you uploaded/)).toBeVisible();
    const exact = [/scored 29.3 dB/, '93 %', 'a'.repeat(64), /Nothing was said/, /350 of 360 stored packets/];
    for (const figure of exact) expect(screen.getByText(figure)).not.toBeVisible();
    const button = screen.getByRole('button', { name: 'Show the exact figures' });
    expect(button).toHaveAttribute('aria-expanded', 'false');
    await person.click(button);
    for (const figure of exact) expect(screen.getByText(figure)).toBeVisible();
    await person.click(screen.getByRole('button', { name: 'Hide the exact figures' }));
    for (const figure of exact) expect(screen.getByText(figure)).not.toBeVisible();
  });

  it('shows hashes, streams, steps, checks and remarks', async () => {
    open({});
    expect(await screen.findByText('a'.repeat(64))).toBeInTheDocument();
    expect(screen.getByText('b'.repeat(64))).toBeInTheDocument();
    expect(screen.getByText(/350 of 360 stored packets/)).toBeInTheDocument();
    expect(screen.getByText(/Decodes without a word/)).toBeInTheDocument();
    expect(screen.getByText('The index was lost and has been rebuilt.')).toBeInTheDocument();
    expect(screen.getByText(/no stutter/)).toBeInTheDocument();
  });

  it('has no heading for checks when nothing was made that could be checked', async () => {
    open({}, () => HttpResponse.json(makeReport({ defects: [], checks: [] })));
    expect(await screen.findByText('a'.repeat(64))).toBeInTheDocument();
    expect(screen.queryByRole('heading', { name: 'Checks on the result' })).not.toBeInTheDocument();
  });

  it('says when quick fixes were applied after the repair, and offers no certificate for their version', async () => {
    open({ resultSha256: 'c'.repeat(64) });
    expect(await screen.findByText(/the version before, which can be restored/)).toBeInTheDocument();
    expect(screen.queryByRole('link', { name: 'Certificate' })).not.toBeInTheDocument();
    expect(screen.getByRole('link', { name: /JSON/ })).toBeInTheDocument();
  });

  it('calls containers and codecs as people do', async () => {
    open({});
    const facts = await screen.findAllByText(
      'MP4/MOV, 0:12.000, H.264, 1280×720, 30.00 frames per second, AAC, 48 kHz, stereo',
    );
    expect(facts).toHaveLength(2);
  });

  it('says in words that a repaired defect is no longer found when no figure is left to measure', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const measure = { ...gap.measure, unit: 'ratio', before: 0, after: null };
    const left = { ...gap, id: 'dropped_frames-2', outcome: 'left_alone', measure } as const;
    open({}, () => HttpResponse.json(makeReport({ defects: [{ ...gap, measure }, left] })));
    await screen.findByText('no longer found');
    expect(screen.getAllByText('no longer found')).toHaveLength(1);
  });

  it('says why a result is much larger than its original, and only then', async () => {
    const { result } = makeReport();
    open({}, () => HttpResponse.json(makeReport({ result: { ...result, sizeBytes: 9_000_000 } })));
    expect(await screen.findByText(/^Larger than the original/)).toBeInTheDocument();
  });

  it('says that other pictures were encoded along with repaired ones when that is most of what is new', async () => {
    const { result, video } = makeReport();
    const grown = { ...result, sizeBytes: 9_000_000 };
    const few = { ...video, unitsKept: 150 };
    open({}, () => HttpResponse.json(makeReport({ result: grown, video: few })));
    expect(
      await screen.findByText('the damaged parts were re-encoded, with the frames that build on them'),
    ).toBeInTheDocument();
    expect(
      screen.getByText(/^Larger than the original: frames that build on mended ones/),
    ).toBeInTheDocument();
    expect(screen.queryByText('only the damaged parts were re-encoded')).not.toBeInTheDocument();
  });

  it('says what it means that all frames are new before it says why', async () => {
    const { video } = makeReport();
    const reason = 'The encoder gave no parameter sets.';
    const whole = { ...video, treatment: 'full_encode', reason } as const;
    open({}, () => HttpResponse.json(makeReport({ video: whole })));
    const why = await screen.findByText(`In detail: ${reason}`);
    expect(why.previousElementSibling).toHaveTextContent(/^No frame could be kept byte for byte/);
  });

  it('says about a sound that only its damaged parts are new, however many they are', async () => {
    const { audio } = makeReport();
    const spliced = {
      ...audio,
      treatment: 'smart_render',
      reason: null,
      unitsKept: 300,
      unitsTotal: 475,
    } as const;
    open({}, () => HttpResponse.json(makeReport({ audio: spliced })));
    expect(await screen.findByText('63 % of it is what you uploaded, byte for byte.')).toBeInTheDocument();
    expect(screen.queryByText(/with the frames that build on them/)).not.toBeInTheDocument();
  });

  it('says nothing about a result that has hardly grown', async () => {
    open({});
    expect(await screen.findByText('a'.repeat(64))).toBeInTheDocument();
    expect(screen.queryByText(/^Larger than the original/)).not.toBeInTheDocument();
  });

  it('shows the damaged place in the original and in the result', async () => {
    open({});
    const before = await screen.findByRole('img', { name: 'Dropped frames: Original' });
    expect(before).toHaveAttribute('src', '/api/videos/v1/frame?of=original&ms=4100');
    const black = { backgroundColor: '#05070f' };
    expect(before).not.toHaveStyle(black);
    fireEvent.load(before);
    expect(before).toHaveStyle(black);
    const after = screen.getByRole('img', { name: 'Dropped frames: Mended' });
    expect(after).toHaveAttribute('src', '/api/videos/v1/frame?of=result&ms=4100');
    fireEvent.error(after);
    expect(screen.getByText('No frame could be read here.')).toBeInTheDocument();
  });

  it('shows the result at the time to which a repair moved it', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const removed = { ...gap, id: 'stuttered_cut-1', startMs: 1000, endMs: 1200 };
    open({}, () =>
      HttpResponse.json(
        makeReport({ defects: [{ ...removed, kind: 'stuttered_cut', action: 'removed_repeats' }, gap] }),
      ),
    );
    expect(await screen.findByRole('img', { name: 'Dropped frames: Original' })).toHaveAttribute(
      'src',
      '/api/videos/v1/frame?of=original&ms=4100',
    );
    expect(screen.getByRole('img', { name: 'Dropped frames: Mended' })).toHaveAttribute(
      'src',
      '/api/videos/v1/frame?of=result&ms=3900',
    );
  });

  it('jumps from a mark on the timeline to its row', async () => {
    open({});
    const jump = await screen.findByRole('button', { name: /^Jump to Dropped frames, 0:04/ });
    await person.click(jump);
    expect(screen.getByRole('row', { name: /Dropped frames/ })).toHaveFocus();
    expect(screen.getByTestId('mark-facts')).toHaveTextContent(
      '5 frames are missing here, and the motion jerks.',
    );
  });

  it('says by kind what was wrong, and of very many defects shows the first and those that were left', async () => {
    const [like] = makeReport().defects;
    if (!like) throw new Error('no defect');
    const many = Array.from({ length: 40 }, (_, at): Defect => {
      const left = at === 39;
      return {
        ...like,
        id: `d${at}`,
        startMs: at * 1000,
        count: 2,
        outcome: left ? 'left_alone' : 'repaired',
      };
    });
    open({}, () => HttpResponse.json({ ...makeReport(), defects: many }));
    const kinds = within(await screen.findByRole('list', { name: 'What was wrong' }));
    expect(kinds.getAllByRole('listitem').map((line) => line.textContent)).toEqual([
      'mendedDropped frames78 frames in 39 places',
      'left as it isDropped frames2 frames at 0:39',
    ]);
    const folded = () =>
      many.filter(({ id }) => document.getElementById(id)?.dataset['folded'] === '').length;
    expect(folded()).toBe(28);
    expect(document.getElementById('d39')?.dataset['folded']).toBeUndefined();
    await person.click(screen.getByRole('button', { name: 'Show all 40 issues' }));
    expect(folded()).toBe(0);
    await person.click(screen.getByRole('button', { name: 'Show fewer' }));
    expect(folded()).toBe(28);
  });

  it('draws the sync over the clip, describes it in a sentence and has all values as a table', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const curve: NonNullable<Defect['curve']> = {
      quantity: 'sync_offset',
      unit: 'ms',
      source: 'content',
      points: [
        { atMs: 1000, before: 0, after: 2 },
        { atMs: 6000, before: 200, after: -3 },
        { atMs: 11_000, before: 400, after: null },
      ],
    };
    open({}, () =>
      HttpResponse.json(makeReport({ defects: [{ ...gap, id: 'audio_sync-1', kind: 'audio_sync', curve }] })),
    );
    expect(
      await screen.findByRole('img', {
        name: 'Sound against picture: 0 ms to 400 ms in the original, -3 ms to 2 ms mended.',
      }),
    ).toBeInTheDocument();
    await person.click(screen.getByText('All figures as a table'));
    const row = screen.getByRole('row', { name: /0:06.000/ });
    expect(within(row).getByText('200 ms')).toBeInTheDocument();
    expect(within(row).getByText('-3 ms')).toBeInTheDocument();
    expect(within(screen.getByRole('row', { name: /0:11.000/ })).getByText('–')).toBeInTheDocument();
  });

  it('shows no curves when none were measured', async () => {
    open({});
    await screen.findByText('1 issue was mended.');
    expect(screen.queryByRole('heading', { name: 'Over the clip' })).not.toBeInTheDocument();
  });

  it('requests the comparison only when somebody wants to see it', async () => {
    const wishes: string[] = [];
    const state = { progress: 0, message: null, url: null, layout: null };
    open({});
    server.use(
      on(comparisonApi.read, () => HttpResponse.json({ state: 'absent', ...state })),
      on(comparisonApi.make, () => {
        wishes.push('make');
        return HttpResponse.json({ state: 'waiting', ...state });
      }),
    );
    const button = await screen.findByRole('button', { name: 'Compare before and after' });
    expect(wishes).toEqual([]);
    await person.click(button);
    // The page says so before the server has received the request.
    expect(await screen.findByText('The comparison waits for its turn.')).toBeInTheDocument();
    await waitFor(() => expect(wishes).toEqual(['make']));
  });

  it('offers the certificate and the page to check it', async () => {
    open({});
    const link = await screen.findByRole('link', { name: 'Certificate' });
    expect(link).toHaveAttribute('href', '/api/videos/v1/certificate');
    expect(screen.getByRole('link', { name: 'Check a certificate' })).toHaveAttribute('href', '/verify');
  });

  it('can be printed and saved as JSON', async () => {
    const print = vi.fn();
    vi.stubGlobal('print', print);
    open({});
    await person.click(await screen.findByRole('button', { name: 'Print' }));
    await expect.poll(() => print.mock.calls.length).toBe(1);
    const save = screen.getByRole('link', { name: 'Download JSON' });
    expect(save).toHaveAttribute('href', '/api/videos/v1/report');
    expect(save).toHaveAttribute('download', 'report-v1.json');
    vi.unstubAllGlobals();
  });

  it('says that an unchanged clip is the upload, byte for byte', async () => {
    open({}, () => HttpResponse.json(makeReport({ outcome: 'unchanged', defects: [] })));
    expect(
      await screen.findByText('Nothing was wrong. The result is the uploaded file, byte for byte.'),
    ).toBeInTheDocument();
    expect(screen.getByText('No issues were found.')).toBeInTheDocument();
  });

  it('does not say that nothing was wrong when a defect was found and left', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const left = { ...gap, outcome: 'left_alone', action: 'none' } as const;
    const dark = { ...left, id: 'poor_lighting-1', kind: 'poor_lighting', outcome: 'flagged' } as const;
    open({}, () => HttpResponse.json(makeReport({ outcome: 'unchanged', defects: [left, dark] })));
    expect(
      await screen.findByText(
        'Nothing was changed: the result is the uploaded file, byte for byte. ' +
          '1 issue was left as it is; the table says why. 1 was only noted.',
      ),
    ).toBeInTheDocument();
    expect(screen.queryByText(/Nothing was wrong/)).not.toBeInTheDocument();
  });

  it('says first what a clip that was cut off lacks for good', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const rest = {
      ...gap,
      id: 'corrupted_section-1',
      kind: 'corrupted_section',
      action: 'rebuilt_rest',
    } as const;
    const lostEnds = { pictureMs: 4137, soundMs: 4155 };
    open({}, () => HttpResponse.json(makeReport({ defects: [gap, rest], lostEnds })));
    expect(
      await screen.findByText(
        'The upload was cut off: its last 4.2 seconds are not in it and cannot be brought back. What is there plays again. ' +
          '1 issue was mended.',
      ),
    ).toBeInTheDocument();
    expect(screen.getAllByText('made playable').length).toBeGreaterThan(0);
  });

  it('says how many defects were left beside those that were repaired', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const left = (n: number) => ({ ...gap, id: `audio_sync-${n}`, outcome: 'left_alone' }) as const;
    open({}, () => HttpResponse.json(makeReport({ defects: [gap, left(1), left(2)] })));
    expect(
      await screen.findByText('1 issue was mended. 2 issues were left as they are; the table says why.'),
    ).toBeInTheDocument();
  });

  it('does not call pictures mended when traces of damage remain', async () => {
    const [gap] = makeReport().defects;
    if (!gap) throw new Error('no defect');
    const torn = { ...gap, id: 'corrupted_section-1', kind: 'corrupted_section' } as const;
    const kept = { ...torn, action: 'concealed_frames' } as const;
    open({}, () => HttpResponse.json(makeReport({ defects: [gap, kept] })));
    expect(
      await screen.findByText('1 issue was mended. 1 damaged section was made playable; traces may show.'),
    ).toBeInTheDocument();
    const table = within(screen.getByRole('region', { name: 'Issues' }));
    expect(table.getAllByText('mended')).toHaveLength(1);
    expect(table.getAllByText('made playable')).toHaveLength(1);
  });

  it.each([
    ['the clip is processed', 'processing', /There is no report yet/],
    ['it could not be processed', 'failed', /this video could not be processed/],
    ['the original is current again', 'completed', /The original is the current version/],
  ])('says that there is none while %s', async (_name, status, text) => {
    open({ status, hasReport: false });
    expect(await screen.findByText(text)).toBeInTheDocument();
    expect(screen.queryAllByRole('link', { name: 'Open in the editor' })).toHaveLength(
      status === 'completed' ? 1 : 0,
    );
  });

  it('says why the clip could not be processed, when there is no report', async () => {
    open({ status: 'failed', hasReport: false, errorMessage: 'The picture data are missing.' });
    expect(await screen.findByText('The picture data are missing.')).toBeInTheDocument();
  });

  it('says first in plain words what happened to a damaged file and what to do', async () => {
    open({
      status: 'failed',
      hasReport: false,
      errorCode: 'damaged_beyond_repair',
      errorMessage: 'The index (moov) is missing or damaged.',
    });
    expect(await screen.findByText(/Too much of this file is missing/)).toBeVisible();
    expect(screen.getByText(/phone, camera or card/)).toBeVisible();
    expect(screen.getByText('In detail: The index (moov) is missing or damaged.')).toBeVisible();
  });

  it('says when it could not be loaded and tries again', async () => {
    open({}, () => refusal('internal'));
    expect(await screen.findByText(/The report could not be loaded/)).toBeInTheDocument();
    server.use(on(videosApi.report, () => HttpResponse.json(makeReport())));
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('1 issue was mended.')).toBeInTheDocument();
  });

  it('is the 404 page for a video that is not in the library', async () => {
    open({ id: 'another' });
    expect(await screen.findByRole('heading', { name: '404 Page Not Found' })).toBeInTheDocument();
    expect(screen.getByText(/^This video is not in your library/)).toBeInTheDocument();
  });
});

describe('formatFigure', () => {
  it.each([
    [5, 'frames', '5 frames'],
    [12.345, 'ms', '12.3 ms'],
    [0.1234, 'ratio', '0.12 ratio'],
    [1234.5, 'ppm', '1235 ppm'],
    [null, 'dB', '–'],
  ])('shows %s %s as %s', (value, unit, text) => {
    expect(formatFigure(value, unit)).toBe(text);
  });
});
