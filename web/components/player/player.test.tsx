import { act, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ThreadMark } from '../thread-strip.tsx';
import { FALLBACK_DELAY_MS, VideoPlayer } from '../video-player.tsx';
import { layOutMarks, type MarkSlot, type Pointer } from './mark-layout.ts';
import { MarkJumps } from './mark-jumps.tsx';
import { deviceOf } from './playback-fallback.tsx';
import { actionOf, neighbourSpan } from './player-keys.ts';

const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148';
const ANDROID =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36';
const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36';

function mark(id: string, startMs: number, endMs: number): ThreadMark {
  return {
    id,
    kind: 'dropped_frames',
    startMs,
    endMs,
    outcome: 'repaired',
    label: `Mark ${id}`,
    meaning: '5 frames are missing here, and the motion jerks.',
  };
}
const MARKS = [mark('a', 2000, 2500), mark('b', 6000, 8000), mark('whole', 0, 10_000)];

function showPlayer(onCompare?: () => void): HTMLVideoElement {
  render(
    <VideoPlayer
      title="harbour.mp4"
      src="/stream"
      downloadHref="/download"
      downloadName="video-1.mp4"
      durationMs={10_000}
      width={1280}
      height={720}
      marks={MARKS}
      onCompare={onCompare}
    />,
  );
  const video = document.querySelector('video');
  if (!video) throw new Error('no video element');
  return video;
}

beforeEach(() => {
  // jsdom does not play.
  vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined);
  vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('VideoPlayer', () => {
  it('plays by its button and by Space or K, but not while typing', () => {
    const play = vi.spyOn(HTMLMediaElement.prototype, 'play').mockResolvedValue();
    showPlayer();
    const player = screen.getByRole('group', { name: 'Player: harbour.mp4' });
    fireEvent.click(screen.getByRole('button', { name: 'Play' }));
    fireEvent.keyDown(player, { key: ' ' });
    fireEvent.keyDown(player, { key: 'k' });
    expect(play).toHaveBeenCalledTimes(3);
    fireEvent.keyDown(player, { key: 'k', ctrlKey: true });
    expect(play).toHaveBeenCalledTimes(3);
  });

  it('jumps to a mark by its button, and through the repaired places by [ and ]', () => {
    const video = showPlayer();
    const player = screen.getByRole('group', { name: 'Player: harbour.mp4' });
    fireEvent.click(screen.getByRole('button', { name: 'Jump to Mark b' }));
    expect(video.currentTime).toBe(6);
    fireEvent(video, new Event('seeked'));
    fireEvent.keyDown(player, { key: '[' });
    expect(video.currentTime).toBe(2);
  });

  it('describes the mark that is hovered, focused or playing', () => {
    const video = showPlayer();
    const facts = screen.getByTestId('mark-facts');
    const jump = screen.getByRole('button', { name: 'Jump to Mark b' });
    fireEvent.focus(jump);
    expect(facts).toHaveTextContent('Mark b · 5 frames are missing here, and the motion jerks.');
    fireEvent.blur(jump);
    video.currentTime = 2.2;
    fireEvent(video, new Event('timeupdate'));
    expect(facts).toHaveTextContent('Mark a');
    expect(screen.getByRole('button', { name: 'Jump to Mark a' })).toHaveAttribute('aria-current', 'true');
  });

  it('opens the comparison by B if there is one', () => {
    const compare = vi.fn();
    showPlayer(compare);
    fireEvent.keyDown(screen.getByRole('group', { name: 'Player: harbour.mp4' }), { key: 'b' });
    expect(compare).toHaveBeenCalledOnce();
  });

  it('is a slider that says its position', () => {
    const video = showPlayer();
    const slider = screen.getByRole('slider', { name: 'Position' });
    fireEvent.change(slider, { target: { value: '4000' } });
    expect(video.currentTime).toBe(4);
    fireEvent(video, new Event('timeupdate'));
    expect(slider).toHaveAttribute('aria-valuetext', '0:04 of 0:10');
  });

  it('offers links one second after a failed playback, on a phone with the iOS tip', () => {
    vi.useFakeTimers();
    vi.spyOn(navigator, 'userAgent', 'get').mockReturnValue(IPHONE);
    const video = showPlayer();
    fireEvent.error(video);
    act(() => vi.advanceTimersByTime(FALLBACK_DELAY_MS - 1));
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
    act(() => vi.advanceTimersByTime(1));
    expect(screen.getByRole('link', { name: 'View Video' })).toHaveAttribute('href', '/stream');
    expect(screen.getByRole('link', { name: 'Download' })).toHaveAttribute('href', '/download');
    expect(screen.getByText(/Photos or Save to Files/)).toBeInTheDocument();
  });

  it('offers Retry and Download on a desktop', () => {
    vi.useFakeTimers();
    vi.spyOn(navigator, 'userAgent', 'get').mockReturnValue(DESKTOP);
    fireEvent.error(showPlayer());
    act(() => vi.advanceTimersByTime(FALLBACK_DELAY_MS));
    expect(screen.queryByRole('link', { name: 'View Video' })).not.toBeInTheDocument();
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });
});

describe('deviceOf', () => {
  it.each([
    [IPHONE, 5, { phone: true, ios: true }],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15', 5, { phone: true, ios: true }],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15', 0, { phone: false, ios: false }],
    [ANDROID, 5, { phone: true, ios: false }],
    [DESKTOP, 0, { phone: false, ios: false }],
  ])('reads %s with %i touch points', (userAgent, maxTouchPoints, device) => {
    expect(deviceOf({ userAgent, maxTouchPoints })).toEqual(device);
  });
});

describe('layOutMarks', () => {
  const at = (marks: readonly ThreadMark[], durationMs: number, widthPx: number, pointer: Pointer = 'fine') =>
    layOutMarks(marks, { durationMs, widthPx }, pointer);
  const idsOf = ({ marks }: MarkSlot) => marks.map(({ id }) => id).join();

  it('does not put a fault over the whole clip on top of the short ones', () => {
    const { slots } = at(MARKS, 10_000, 640);
    expect(slots.map((slot) => [idsOf(slot), slot.lane])).toEqual([
      ['whole', 0],
      ['a', 1],
      ['b', 1],
    ]);
  });

  it('puts neighbours that are too close for two buttons in different lanes, while there are few', () => {
    const near = [mark('a', 1000, 1010), mark('b', 1100, 1110)];
    expect(at(near, 60_000, 640).lanes).toBe(2);
    const ends = [mark('a', 9800, 9900), mark('b', 9950, 10_000)];
    expect(at(ends, 10_000, 320).lanes).toBe(2);
  });

  it('keeps separate marks that have room on a desktop', () => {
    const marks = [mark('a', 1000, 1100), mark('b', 1600, 1700)];
    expect(at(marks, 10_000, 900).lanes).toBe(1);
    expect(at(marks, 10_000, 320).lanes).toBe(2);
  });

  it.each([
    ['fine', 24, 3],
    ['coarse', 44, 2],
  ] as const)(
    'puts many marks together for a %s pointer: no button lies on another, none is lost',
    (pointer, sidePx, most) => {
      const short = Array.from({ length: 138 }, (_, n) =>
        mark(`m${n}`, n * 250 + (n % 7) * 20, n * 250 + 60),
      );
      const { slots, lanes } = at([...short, mark('wind', 0, 36_000)], 36_000, 340, pointer);
      expect(lanes).toBeLessThanOrEqual(most);
      const placed = slots.flatMap(({ marks }) => marks.map(({ id }) => id));
      expect(placed.toSorted()).toEqual([...short.map(({ id }) => id), 'wind'].toSorted());
      expect(slots.filter(({ marks }) => marks.length > 1).length).toBeGreaterThan(5);
      for (const slot of slots) {
        expect(slot.widthPx).toBeGreaterThanOrEqual(sidePx);
        expect(slot.leftPx + slot.widthPx).toBeLessThanOrEqual(340.001);
        const others = slots.filter((other) => other !== slot && other.lane === slot.lane);
        for (const other of others) {
          const apart =
            other.leftPx >= slot.leftPx + slot.widthPx || slot.leftPx >= other.leftPx + other.widthPx;
          expect(apart).toBe(true);
        }
      }
    },
  );
});

describe('many marks close together', () => {
  const crowd = Array.from({ length: 40 }, (_, n) => ({
    ...mark(`m${n}`, 4000 + n * 20, 4010 + n * 20),
    label: `Dropped frames ${n}`,
    outcome: n === 3 ? ('left_alone' as const) : ('repaired' as const),
  }));

  function showCrowd() {
    const jumps: string[] = [];
    render(<MarkJumps marks={crowd} durationMs={36_000} onJump={({ id }) => jumps.push(id)} />);
    return { jumps, opener: () => screen.getByRole('button', { name: /^Open 40 places/ }) };
  }

  it('share a button that says how many, where, and what was left, and expands them', () => {
    const { jumps, opener } = showCrowd();
    expect(opener()).toHaveAccessibleName('Open 40 places at 0:04, 1 left as it is');
    expect(opener()).toHaveTextContent('40');
    expect(screen.queryByRole('button', { name: /^Jump to/ })).toBeNull();
    fireEvent.click(opener());
    expect(opener()).toHaveAttribute('aria-expanded', 'true');
    const places = screen.getAllByRole('button', { name: /^Jump to/ });
    expect(places).toHaveLength(40);
    expect(places[0]).toHaveFocus();
    expect(screen.getByTestId('mark-facts')).toHaveTextContent('Dropped frames 0 · 5 frames are missing');
    fireEvent.click(screen.getByRole('button', { name: 'Jump to Dropped frames 7' }));
    expect(jumps).toEqual(['m7']);
  });

  it('close by Escape or their button, and the focus returns', () => {
    const { opener } = showCrowd();
    fireEvent.click(opener());
    fireEvent.keyDown(document.activeElement ?? document.body, { key: 'Escape' });
    expect(screen.queryByRole('button', { name: /^Jump to/ })).toBeNull();
    expect(opener()).toHaveFocus();
    fireEvent.click(opener());
    fireEvent.click(screen.getByRole('button', { name: 'Close these places' }));
    expect(opener()).toHaveAttribute('aria-expanded', 'false');
  });
});

describe('actionOf', () => {
  const plain = { ctrlKey: false, metaKey: false, altKey: false };
  it.each([
    ['j', { do: 'skip', seconds: -10 }],
    ['L', { do: 'skip', seconds: 10 }],
    ['ArrowLeft', { do: 'skip', seconds: -5 }],
    ['.', { do: 'frame', frames: 1 }],
    ['Home', { do: 'start' }],
    ['?', { do: 'help' }],
    ['b', { do: 'compare' }],
    ['N', { do: 'span', direction: 1 }],
    ['p', { do: 'span', direction: -1 }],
    ['q', null],
  ])('maps %s', (key, action) => {
    expect(actionOf({ key, ...plain })).toEqual(action);
  });

  it('leaves key combinations to the browser', () => {
    expect(actionOf({ key: 'f', ...plain, metaKey: true })).toBeNull();
  });
});

describe('neighbourSpan', () => {
  it('finds the next and the previous start', () => {
    expect(neighbourSpan([5000, 1000, 9000], 4000, 1)).toBe(5000);
    expect(neighbourSpan([5000, 1000, 9000], 9000, -1)).toBe(5000);
    expect(neighbourSpan([5000], 5000, 1)).toBeNull();
    expect(neighbourSpan([], 0, -1)).toBeNull();
  });
});
