import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { useState } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { type CaptionsPageDto, captionsApi } from '#common/api/captions.ts';
import type { VideoCue } from '#common/captions.ts';
import type { PlanSlug } from '#common/plans.ts';
import { createPlayClock } from '../../data/videos/play-clock.ts';
import { renderAt } from '../../test/render.tsx';
import { makeVideo } from '../../test/samples.ts';
import { on, refusal, server } from '../../test/server.ts';
import { CaptionsPanel } from './captions-panel.tsx';

const person = userEvent.setup({ delay: null });
const cue = (startMs: number, endMs: number, text: string | null = null): VideoCue => ({
  startMs,
  endMs,
  text,
  source: text === null ? 'timing_only' : 'manual',
  confidence: null,
});
const SPEECH = [
  { startMs: 1000, endMs: 3000 },
  { startMs: 4000, endMs: 6000 },
];
const PAGE: CaptionsPageDto = {
  revision: 0,
  cues: [cue(1000, 3000), cue(4000, 6000)],
  axis: 'mended',
  soundMovedMs: 0,
  updatedAt: null,
  speech: SPEECH,
  hasSound: true,
};

function open(change: Partial<CaptionsPageDto> = {}, answer?: () => Response, plan: PlanSlug = 'starter') {
  const saved: { revision: number; cues: VideoCue[] }[] = [];
  server.use(
    on(captionsApi.read, () => HttpResponse.json({ ...PAGE, ...change })),
    on(captionsApi.save, async (request) => {
      const body = captionsApi.save.body?.parse(await request.json());
      if (answer) return answer();
      if (body) saved.push(body);
      return HttpResponse.json({
        revision: (body?.revision ?? 0) + 1,
        updatedAt: '2026-11-22T09:05:00.000Z',
      });
    }),
  );
  const player = { seek: vi.fn<(ms: number) => void>(), nowMs: () => 2500, clock: createPlayClock() };
  renderAt(
    '/',
    <CaptionsPanel video={makeVideo({ id: 'v1', durationMs: 8000 })} player={player} plan={plan} />,
  );
  return { saved, player };
}
const words = (n: number) => screen.findByRole('textbox', { name: `Words of caption ${n}` });
const press = (name: string | RegExp) => person.click(screen.getByRole('button', { name }));
const texts = (cues: readonly VideoCue[] | undefined) => cues?.map(({ text }) => text);
const lastSaved = async (saved: { cues: VideoCue[] }[], expected: (string | null)[]) =>
  waitFor(() => expect(texts(saved.at(-1)?.cues)).toEqual(expected));

describe('CaptionsPanel', () => {
  it('accepts words, saves them automatically and says when', async () => {
    const { saved } = open();
    await person.type(await words(1), 'Hello there');
    expect(screen.getByText('Saving...')).toBeInTheDocument();
    await lastSaved(saved, ['Hello there', null]);
    expect(saved.length).toBeLessThan('Hello there'.length);
    expect(saved[0]).toMatchObject({ revision: 0, cues: [{ source: 'manual' }, { source: 'timing_only' }] });
    expect(await screen.findByText(/^Saved \d/)).toBeInTheDocument();
    expect(screen.getByText('2 captions, 1 with words')).toBeInTheDocument();
  });

  it('has words that were not saved again after a reload, and forgets them when they are', async () => {
    // Refused, and not only unreachable: that would be tried again while other tests run.
    open({}, () => refusal('not_found'));
    await person.type(await words(1), 'Under way ');
    expect(await screen.findByText(/^Not saved/)).toBeInTheDocument();
    cleanup();
    const { saved } = open();
    expect(await words(1)).toHaveValue('Under way ');
    await lastSaved(saved, ['Under way', null]);
    expect(await screen.findByText(/^Saved \d/)).toBeInTheDocument();
    cleanup();
    open({ revision: 1, cues: [cue(1000, 3000, 'From elsewhere'), cue(4000, 6000)] });
    expect(await words(1)).toHaveValue('From elsewhere');
    expect(screen.queryByText('Saving...')).not.toBeInTheDocument();
  });

  it('jumps the player to a cue by click and by Enter', async () => {
    const { player } = open();
    const jump = await screen.findByRole('button', { name: 'Caption 2: jump to 00:04.000' });
    await person.click(jump);
    jump.focus();
    await person.keyboard('{Enter}');
    expect(player.seek.mock.calls).toEqual([[4000], [4000]]);
  });

  it('marks the cue being played, and unmarks it when the clip moves on', async () => {
    const { player } = open();
    const row = async (n: number) => (await words(n)).closest('[data-index]');
    const marked = async () => [
      (await row(1))?.querySelector('[data-played]') !== null,
      (await row(2))?.querySelector('[data-played]') !== null,
    ];
    expect(await marked()).toEqual([false, false]);
    act(() => player.clock.set(1000));
    expect(await marked()).toEqual([true, false]);
    act(() => player.clock.set(4500));
    expect(await marked()).toEqual([false, true]);
    act(() => player.clock.set(6000));
    expect(await marked()).toEqual([false, false]);
  });

  it('scrolls to the played cue, but not while somebody uses the list', async () => {
    const scrolled = vi.fn();
    vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (this: Element) {
      return this.matches('[data-index]') ? new DOMRect(0, 900, 10, 10) : new DOMRect(0, 0, 10, 100);
    });
    const { scrollBy } = Element.prototype;
    Element.prototype.scrollBy = scrolled;
    const { player } = open();
    const field = await words(1);
    act(() => player.clock.set(1000));
    expect(scrolled).toHaveBeenCalledWith(expect.objectContaining({ top: 810 }));
    field.focus();
    act(() => player.clock.set(4500));
    expect(scrolled).toHaveBeenCalledOnce();
    Element.prototype.scrollBy = scrollBy;
    vi.restoreAllMocks();
  });

  describe('as one text', () => {
    const text = () => screen.findByRole('textbox', { name: 'All captions as text' });

    it('applies what was written, in one step that can be undone', async () => {
      const { saved } = open({ cues: [cue(1000, 3000, 'Hello'), cue(4000, 6000)] });
      await words(1);
      await press('Edit as text');
      expect(await text()).toHaveFocus();
      expect(await text()).toHaveValue(
        '1\n00:00:01,000 --> 00:00:03,000\nHello\n\n2\n00:00:04,000 --> 00:00:06,000\n[speech]',
      );
      fireEvent.change(await text(), {
        target: { value: '1\n00:00:01,000 --> 00:00:02,000\nGood\nmorning\n' },
      });
      await press('Use this text');
      expect(await screen.findByText('Your text is in use: 1 caption.')).toBeInTheDocument();
      await lastSaved(saved, ['Good\nmorning']);
      await press('Undo');
      await lastSaved(saved, ['Hello', null]);
    });

    it('names each wrong line, jumps to it, and leaves text and cues unchanged', async () => {
      const { saved } = open({ cues: [cue(1000, 3000, 'Hello')] });
      await words(1);
      await press('Edit as text');
      const wrong = '1\n00:00:01,000 --> 00:00:03,000\nHello\n\n2\nno times here';
      fireEvent.change(await text(), { target: { value: wrong } });
      const line = await screen.findByRole('button', { name: /^Line 6: the times are missing/ });
      await press('Use this text');
      const field = await text();
      expect(field).toHaveFocus();
      const selection =
        field instanceof HTMLTextAreaElement ? [field.selectionStart, field.selectionEnd] : [];
      expect(wrong.slice(...selection)).toBe('no times here');
      await person.click(line);
      expect(field).toHaveFocus();
      expect(field).toHaveValue(wrong);
      expect(saved).toEqual([]);
      await press('Discard the text');
      expect(await words(1)).toHaveValue('Hello');
    });

    it('is restored when its page is opened again', async () => {
      server.use(on(captionsApi.read, () => HttpResponse.json(PAGE)));
      const player = { seek: vi.fn(), nowMs: () => 0, clock: createPlayClock() };
      const panel = <CaptionsPanel video={makeVideo({ id: 'v1' })} player={player} plan="starter" />;
      function Leaving() {
        const [shown, setShown] = useState(true);
        return (
          <>
            <button type="button" onClick={() => setShown(!shown)}>
              Leave
            </button>
            {shown && panel}
          </>
        );
      }
      renderAt('/', <Leaving />);
      await words(1);
      await press('Edit as text');
      fireEvent.change(await text(), { target: { value: 'half done' } });
      await press('Leave');
      expect(screen.queryByRole('textbox')).not.toBeInTheDocument();
      await press('Leave');
      expect(await text()).toHaveValue('half done');
    });
  });

  it('saves times of the clip being played, which is the original after a return to it', async () => {
    const bodies: unknown[] = [];
    server.use(
      on(captionsApi.read, () => HttpResponse.json({ ...PAGE, axis: 'original' })),
      on(captionsApi.save, async (request) => {
        bodies.push(await request.json());
        return HttpResponse.json({ revision: 1, updatedAt: '2026-11-22T09:05:00.000Z' });
      }),
    );
    const player = { seek: vi.fn(), nowMs: () => 0, clock: createPlayClock() };
    renderAt('/', <CaptionsPanel video={makeVideo({ id: 'v1' })} player={player} plan="starter" />);
    expect(await screen.findByText(/^The original is current/)).toBeInTheDocument();
    await person.type(await words(1), 'Hi');
    await waitFor(() => expect(bodies.at(-1)).toMatchObject({ revision: 0, axis: 'original' }));
  });

  it('adds with Enter, splits with Ctrl+Enter, moves with Alt+arrows, and the focus follows', async () => {
    open();
    await person.type(await words(1), 'one two');
    await person.keyboard('{Control>}{Enter}{/Control}');
    expect(await screen.findAllByRole('textbox', { name: /^Words/ })).toHaveLength(3);
    expect(await words(2)).toHaveFocus();
    await person.keyboard('{Alt>}{ArrowUp}{/Alt}');
    expect(await words(1)).toHaveFocus();
    await person.keyboard('{Alt>}{ArrowDown}{/Alt}{Enter}');
    expect(await words(3)).toHaveFocus();
    expect(screen.getAllByRole('textbox', { name: /^Words/ })).toHaveLength(4);
    await person.keyboard('{Shift>}{Enter}{/Shift}');
    expect(await words(3)).toHaveValue('\n');
    // Granted once: what is pressed afterwards keeps the focus.
    const jump = screen.getByRole('button', { name: /^Caption 1: jump/ });
    await person.click(jump);
    expect(jump).toHaveFocus();
    const back = screen.getByRole('button', { name: /^Caption 3: jump/ });
    await person.click(back);
    expect(back).toHaveFocus();
  });

  it('accepts the current time as start or end, and typed times', async () => {
    const { saved } = open();
    await person.click(await words(1));
    await press('Use current time as end of caption 1');
    expect(screen.getByRole('textbox', { name: 'End of caption 1' })).toHaveValue('00:02.500');
    const start = screen.getByRole('textbox', { name: 'Start of caption 1' });
    await person.clear(start);
    await person.type(start, 'soon');
    expect(screen.getByText('Write it as 01:23.450, minutes first.')).toBeInTheDocument();
    expect(start).toBeInvalid();
    await person.clear(start);
    await person.type(start, '0:00.5{Enter}');
    await waitFor(() => expect(saved.at(-1)?.cues[0]).toMatchObject({ startMs: 500, endMs: 2500 }));
  });

  it('merges, deletes, undoes and redoes', async () => {
    const { saved } = open({ cues: [cue(0, 1000, 'a'), cue(1000, 2000, 'b'), cue(2000, 3000, 'c')] });
    await person.click(await words(1));
    await press('Merge caption 1 with the next');
    expect(await words(1)).toHaveValue('a b');
    expect(screen.getByText('Captions merged.')).toBeInTheDocument();
    await press('Delete caption 1');
    expect(await words(1)).toHaveValue('c');
    expect(await words(1)).toHaveFocus();
    await person.keyboard('{Control>}z{/Control}');
    expect(await words(1)).toHaveValue('a b');
    await press('Undo');
    expect(await words(2)).toHaveValue('b');
    await press('Redo');
    await lastSaved(saved, ['a b', 'c']);
  });

  it('marks what is too fast, and does not save a cue that overlaps the next one, with the reason', async () => {
    const { saved } = open({ cues: [cue(0, 1000, 'x'.repeat(45)), cue(1000, 2000, 'b')] });
    expect(await screen.findByText('Too fast to read: over 20 characters a second.')).toBeInTheDocument();
    expect(screen.getByText('45 characters, 45 a second')).toBeInTheDocument();
    await person.click(await words(1));
    await press('Use current time as end of caption 1');
    expect(screen.getByText('It begins before the caption above ends.')).toBeInTheDocument();
    expect(screen.getByText(/^Not saved: caption 2 has a problem/)).toBeInTheDocument();
    expect(await words(2)).toBeInvalid();
    expect(saved).toEqual([]);
  });

  it('moves all cues', async () => {
    const { saved } = open();
    await words(1);
    await press('Shift all times');
    const field = await screen.findByRole('textbox', { name: /^Seconds/ });
    await person.type(field, 'far{Enter}');
    expect(await screen.findByText('Write seconds, for example 0.5 or -1.25.')).toBeInTheDocument();
    await person.clear(field);
    await person.type(field, '-0,25{Enter}');
    await waitFor(() => expect(saved.at(-1)?.cues.map(({ startMs }) => startMs)).toEqual([750, 3750]));
  });

  it('imports a file, says what was dropped, and undo brings the old cues back', async () => {
    const { saved } = open({ cues: [cue(0, 1000, 'mine')] });
    await words(1);
    const file = new File(['\u{FEFF}1\r\n00:00:01,000 --> 00:00:02,000\r\n<b>Bold</b> words\r\n'], 'a.srt');
    const input = screen.getByLabelText('Import a file', { selector: 'input' });
    await person.upload(input, file);
    expect(await words(1)).toHaveValue('Bold words');
    expect(
      screen.getByText('1 caption imported. Styles and positions of 1 caption were left out.'),
    ).toBeInTheDocument();
    await lastSaved(saved, ['Bold words']);
    await press('Undo');
    expect(await words(1)).toHaveValue('mine');
    await person.upload(input, new File(['nothing'], 'b.srt'));
    expect(await screen.findByText(/^No caption was found/)).toBeInTheDocument();
    expect(await words(1)).toHaveValue('mine');
  });

  it('spreads a pasted script over the speech', async () => {
    const { saved } = open();
    await words(1);
    await press('Paste your script');
    const field = await screen.findByRole('textbox', { name: 'Your script' });
    await press('Time the script');
    expect(await screen.findByText(/^The script is empty/)).toBeInTheDocument();
    await person.type(field, 'Good morning to you. And a good night.');
    await press('Time the script');
    await lastSaved(saved, ['Good morning to you.', 'And a good night.']);
    expect(saved.at(-1)?.cues).toMatchObject([
      { startMs: 1000, endMs: 3000, source: 'script' },
      { startMs: 4000, endMs: 6000, source: 'script' },
    ]);
    await press('Start over from the speech');
    await lastSaved(saved, [null, null]);
  });

  it('shows what another window saved meanwhile, and lets the user choose', async () => {
    const newer = {
      revision: 4,
      axis: 'mended',
      cues: [cue(0, 900, 'theirs')],
      updatedAt: '2026-11-22T09:06:00.000Z',
    };
    open({}, () => HttpResponse.json({ code: 'conflict', message: 'x', error: 'x', newer }, { status: 409 }));
    await person.type(await words(1), 'mine');
    expect(await screen.findByText(/changed in another window/)).toBeInTheDocument();
    expect(await words(1)).toHaveValue('mine');
    await press('Use the others');
    expect(await words(1)).toHaveValue('theirs');
    await press('Undo');
    expect(await words(1)).toHaveValue('mine');
  });

  it('leads by one step back to what the own words were put over', async () => {
    const updatedAt = '2026-11-22T09:06:00.000Z';
    const newer = { revision: 4, axis: 'mended', cues: [cue(0, 900, 'theirs')], updatedAt };
    const refusals = [{ code: 'conflict', message: 'x', error: 'x', newer }];
    open({}, () => {
      const refusal = refusals.pop();
      return refusal
        ? HttpResponse.json(refusal, { status: 409 })
        : HttpResponse.json({ revision: 5, updatedAt });
    });
    await person.type(await words(1), 'mine');
    await screen.findByText(/changed in another window/);
    await press('Keep mine');
    expect(await screen.findByText(/^Saved \d/)).toBeInTheDocument();
    expect(await words(1)).toHaveValue('mine');
    await press('Undo');
    expect(await words(1)).toHaveValue('theirs');
  });

  it('says when nothing could be saved, and keeps the words for the next try', async () => {
    open({}, () => HttpResponse.error());
    await person.type(await words(1), 'kept');
    expect(await screen.findByText(/^Not saved: Reelmend cannot be reached/)).toBeVisible();
    expect(await words(1)).toHaveValue('kept');
  });

  it.each([
    [{ hasSound: false }, /^This clip has no sound/],
    [{ hasSound: true }, /^No speech was found in this clip/],
  ])('says why the editor starts empty: %j', async (change, sentence) => {
    open({ cues: [], speech: [], ...change });
    expect(await screen.findByText(sentence)).toBeInTheDocument();
    expect(screen.queryByRole('link', { name: /WebVTT/ })).toBeNull();
    await press('Add caption here');
    expect(await words(1)).toHaveFocus();
  });

  it('is absent on a server that keeps no captions', async () => {
    let asked = 0;
    server.use(
      on(captionsApi.read, () => {
        asked += 1;
        return refusal('not_found');
      }),
    );
    const player = { seek: vi.fn<() => void>(), nowMs: () => 0, clock: createPlayClock() };
    renderAt('/', <CaptionsPanel video={makeVideo()} player={player} plan="starter" />);
    await waitFor(() => expect(asked).toBe(1));
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Captions' })).toBeNull());
  });

  it('says when the captions cannot be read', async () => {
    server.use(on(captionsApi.read, () => refusal('internal')));
    renderAt(
      '/',
      <CaptionsPanel
        video={makeVideo()}
        player={{ seek: vi.fn<() => void>(), nowMs: () => 0, clock: createPlayClock() }}
        plan="starter"
      />,
    );
    expect(await screen.findByText('The captions could not be loaded.')).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Retry' })).toBeEnabled();
  });

  it('shows other plans which plan draws the words into the picture, but still gives them their file', async () => {
    const file = {
      style: 'words',
      createdAt: '2026-11-22T09:00:00.000Z',
      sizeBytes: 2048,
      ofCurrent: true,
      ofWords: false,
    };
    server.use(on(captionsApi.burned, () => HttpResponse.json({ run: null, file })));
    open();
    const part = within(await screen.findByRole('region', { name: 'Smart captions: in the picture' }));
    expect(part.getByText('Creator Pro')).toBeInTheDocument();
    expect(part.getByRole('link', { name: 'Get Creator Pro' })).toHaveAttribute(
      'href',
      '/subscribe/creator-pro',
    );
    expect(part.queryByRole('button', { name: 'Make the file' })).toBeNull();
    const download = await part.findByRole('link', { name: /^Download the clip with captions/ });
    expect(download).toHaveAttribute('href', '/api/videos/v1/captions/burned/download');
    expect(part.getByText('from earlier words')).toBeInTheDocument();
  });

  it('makes the file in the chosen style, follows its progress, and says why it cannot be made', async () => {
    const run = { style: 'outline', state: 'working', progress: 40, message: null };
    const asked: unknown[] = [];
    let answer: () => Response = () => refusal('invalid_input', 'Caption 1 has the character “😀”.');
    let state: object = { run: null, file: null };
    server.use(
      on(captionsApi.burned, () => HttpResponse.json({ ...state })),
      on(captionsApi.burn, async (request) => {
        asked.push(await request.json());
        return answer();
      }),
    );
    open(
      { cues: [cue(0, 1000, 'so good')], updatedAt: '2026-11-22T09:00:00.000Z' },
      undefined,
      'creator-pro',
    );
    const make = await screen.findByRole('button', { name: 'Make the file' });
    await person.click(screen.getByRole('radio', { name: 'Outline' }));
    await person.click(make);
    expect(await screen.findByText('Caption 1 has the character “😀”.')).toBeInTheDocument();
    expect(asked).toEqual([{ style: 'outline' }]);
    answer = () => HttpResponse.json({ run, file: null });
    await person.click(make);
    expect(await screen.findByText('Drawing the captions, 40 percent')).toBeInTheDocument();
    expect(make).toBeDisabled();
    state = { run: { ...run, state: 'failed', message: 'It broke.' }, file: null };
    expect(await screen.findByText('It broke.')).toBeInTheDocument();
    expect(make).toBeEnabled();
  });

  it('cancels the file being made, and moves the focus to the button that makes it', async () => {
    const run = { style: 'box', state: 'working', progress: 40, message: null };
    let state: object = { run, file: null };
    server.use(
      on(captionsApi.burned, () => HttpResponse.json(state)),
      on(captionsApi.cancelBurn, () => {
        state = { run: { ...run, state: 'cancelled' }, file: null };
        return HttpResponse.json(state);
      }),
    );
    open(
      { cues: [cue(0, 1000, 'so good')], updatedAt: '2026-11-22T09:00:00.000Z' },
      undefined,
      'creator-pro',
    );
    await person.click(await screen.findByRole('button', { name: 'Cancel the file with captions' }));
    expect(await screen.findByText('File cancelled')).toBeInTheDocument();
    const make = await screen.findByRole('button', { name: 'Make the file' });
    expect(screen.queryByRole('progressbar', { name: 'Captions in the picture' })).toBeNull();
    await waitFor(() => expect(make).toHaveFocus());
  });

  it('requests no file without words', async () => {
    open({}, undefined, 'creator-pro');
    expect(await screen.findByText('Add words first: Reelmend never invents captions.')).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Make the file' })).toBeDisabled();
  });

  it('cancels the listening engine, and moves the focus to the button that starts it, with what it heard before', async () => {
    const heard = { engine: true, message: null, cues: [cue(0, 1000, 'before')], progress: 30 };
    let state = 'working';
    server.use(
      on(captionsApi.heard, () => HttpResponse.json({ ...heard, state })),
      on(captionsApi.cancelHearing, () => {
        state = 'cancelled';
        return HttpResponse.json({ ...heard, state });
      }),
    );
    open();
    await person.click(await screen.findByRole('button', { name: 'Cancel the transcription' }));
    expect(await screen.findByText('Transcription cancelled')).toBeInTheDocument();
    await waitFor(() => expect(screen.getByRole('button', { name: 'Transcribe again' })).toHaveFocus());
    expect(screen.queryByRole('progressbar', { name: 'Transcription' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Use the transcript' })).toBeEnabled();
  });

  it('says that there is no speech engine, and offers what one heard if there is', async () => {
    open();
    expect(await screen.findByText(/^Type the words, import a file/)).toBeInTheDocument();
    cleanup();
    const heard = { ...cue(1000, 2500, 'good evening'), source: 'speech_model', confidence: 0.4 };
    const answers = [
      { state: 'none', progress: 0, cues: [] },
      { state: 'working', progress: 30, cues: [] },
      { state: 'done', progress: 100, cues: [heard] },
    ];
    let reads = 0;
    const next = () => HttpResponse.json({ engine: true, message: null, ...answers[Math.min(reads++, 2)] });
    server.use(on(captionsApi.heard, next), on(captionsApi.hear, next));
    const { saved } = open({ cues: [cue(1000, 3000, 'mine')] });
    await person.click(await screen.findByRole('button', { name: 'Transcribe the speech' }));
    expect(await screen.findByText('Transcribing, 30 percent')).toBeInTheDocument();
    const use = await screen.findByRole('button', { name: 'Use the transcript' });
    expect(await words(1)).toHaveValue('mine');
    await person.click(use);
    expect(await words(1)).toHaveValue('good evening');
    expect(screen.getByText('Check the words')).toBeInTheDocument();
    await waitFor(() => expect(saved.at(-1)?.cues).toEqual([heard]));
    await press('Undo');
    expect(await words(1)).toHaveValue('mine');
  });
});
