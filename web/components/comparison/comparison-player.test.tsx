import { fireEvent, render, screen } from '@testing-library/react';
import { createRef } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ComparisonLayout } from '#common/api/comparison.ts';
import type { Defect } from '#common/report.ts';
import { type ComparisonHandle, ComparisonPlayer } from './comparison-player.tsx';
import { arrange, blitsOf, canvasSize } from './halves.ts';
import { placeNumber, toOriginalMs, toPreviewMs } from './places.ts';

const LAYOUT: ComparisonLayout = {
  width: 854,
  height: 480,
  frameRate: 30,
  durationMs: 4400,
  hasSound: true,
  places: [
    {
      defectId: 'a',
      kind: 'dropped_frames',
      startMs: 4000,
      endMs: 4200,
      previewStartMs: 1000,
      previewEndMs: 1200,
    },
    {
      defectId: 'b',
      kind: 'stuttered_cut',
      startMs: 12_000,
      endMs: 12_200,
      previewStartMs: 3200,
      previewEndMs: 3400,
    },
  ],
  pieces: [
    {
      originalStartMs: 3000,
      originalEndMs: 5200,
      resultStartMs: 3000,
      resultEndMs: 5200,
      previewStartMs: 0,
      previewEndMs: 2200,
    },
    {
      originalStartMs: 11_000,
      originalEndMs: 13_200,
      resultStartMs: 11_000,
      resultEndMs: 13_000,
      previewStartMs: 2200,
      previewEndMs: 4400,
    },
  ],
  leftOut: 0,
};

function defect(id: string, kind: Defect['kind'], startMs: number): Defect {
  return {
    id,
    kind,
    startMs,
    endMs: startMs + 200,
    firstFrame: 1,
    lastFrame: 2,
    count: 5,
    confidence: 1,
    detector: 'd',
    measure: { name: 'missing pictures', unit: 'frames', threshold: 1, before: 5, after: 0 },
    action: 'rebuilt_frames',
    outcome: 'repaired',
    explanation: '',
  };
}
const DEFECTS = [defect('a', 'dropped_frames', 4000), defect('b', 'stuttered_cut', 12_000)];

function show(layout: ComparisonLayout = LAYOUT) {
  const handle = createRef<ComparisonHandle>();
  render(<ComparisonPlayer ref={handle} title="pier.mp4" src="/c.mp4" layout={layout} defects={DEFECTS} />);
  const video = document.querySelector('video');
  if (!video) throw new Error('no video element');
  const player = screen.getByRole('group', { name: 'Before and after: pier.mp4' });
  const press = (key: string): number => {
    fireEvent(video, new Event('seeked'));
    fireEvent.keyDown(player, { key });
    return video.currentTime * 1000;
  };
  const heard = () => document.querySelector('[data-side]:has(svg)')?.getAttribute('data-side');
  return { video, press, heard, handle };
}

beforeEach(() => {
  // jsdom neither plays nor draws.
  vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(() => undefined);
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
});
afterEach(() => vi.restoreAllMocks());

describe('ComparisonPlayer', () => {
  it('uses one decoder for both clips', () => {
    show();
    expect(document.querySelectorAll('video')).toHaveLength(1);
  });

  it('opens at the first place and jumps to every place by N and P or the brackets', () => {
    const { video, press } = show();
    expect(video.currentTime * 1000).toBe(1000);
    expect(press('n')).toBe(3200);
    expect(press('n')).toBe(3200);
    expect(press('p')).toBe(1000);
    expect(press(']')).toBe(3200);
    expect(press('[')).toBe(1000);
    fireEvent(video, new Event('seeked'));
    expect(screen.getByText('Place 1 of 2')).toBeInTheDocument();
  });

  it('opens where something is visible, not at an earlier fault of the sound', () => {
    const [first, second] = LAYOUT.places;
    if (!first || !second) throw new Error('no places');
    const { video, press } = show({ ...LAYOUT, places: [{ ...first, kind: 'audio_sync' }, second] });
    expect(video.currentTime * 1000).toBe(3200);
    expect(press('p')).toBe(1000);
  });

  it('says which time of the original it shows', () => {
    const { video, press } = show();
    press('n');
    fireEvent(video, new Event('seeked'));
    expect(screen.getByText('0:12.000 of the original')).toBeInTheDocument();
    expect(screen.getByText('Place 2 of 2')).toBeInTheDocument();
  });

  it('switches between original and repaired clip by B, with the sound of the visible one', () => {
    const { press, heard } = show();
    const wipe = screen.getByRole('slider', { name: 'Wipe between original and mended' });
    expect(heard()).toBe('after');
    press('b');
    expect(wipe).toHaveValue('100');
    expect(heard()).toBe('before');
    press('b');
    expect(wipe).toHaveValue('0');
    expect(heard()).toBe('after');
    fireEvent.change(wipe, { target: { value: '80' } });
    expect(wipe).toHaveAttribute('aria-valuetext', '80 percent original, 20 percent mended');
    expect(heard()).toBe('before');
  });

  it('moves the wipe by the arrow keys without moving the clip', () => {
    const { video } = show();
    const before = video.currentTime;
    const wipe = screen.getByRole('slider', { name: 'Wipe between original and mended' });
    fireEvent.keyDown(wipe, { key: 'ArrowRight' });
    fireEvent.keyDown(wipe, { key: 'Home' });
    expect(video.currentTime).toBe(before);
    fireEvent.keyDown(wipe, { key: 'n' });
    expect(video.currentTime).toBe(3.2);
  });

  it('shows both side by side and switches which one is heard', () => {
    const { heard } = show();
    fireEvent.click(screen.getByRole('radio', { name: 'Side by side' }));
    expect(screen.queryByRole('slider', { name: /Wipe/ })).not.toBeInTheDocument();
    fireEvent.click(screen.getByRole('button', { name: 'Show original' }));
    expect(heard()).toBe('before');
  });

  it('jumps to a time of the original, where the comparison shows it', () => {
    const { video, handle } = show();
    expect(handle.current?.seekOriginal(12_100)).toBe(true);
    expect(video.currentTime).toBeCloseTo(3.3, 6);
    expect(handle.current?.seekOriginal(8000)).toBe(false);
  });

  it('says what did not fit in, and that both sounds play where they cannot be separated', () => {
    show({ ...LAYOUT, leftOut: 3 });
    expect(screen.getByText('3 more mended places did not fit in.')).toBeInTheDocument();
    expect(screen.getByText(/plays both sounds/)).toBeInTheDocument();
  });

  it('says that there is something to hear where nothing is visible', () => {
    const places = LAYOUT.places.map((place) => ({ ...place, kind: 'wind_noise' as const }));
    show({ ...LAYOUT, places });
    expect(screen.getByText(/Only the sound was mended/)).toBeInTheDocument();
  });

  it('says when it cannot be played', () => {
    const { video } = show();
    fireEvent.error(video);
    expect(screen.getByRole('alert')).toHaveTextContent('cannot be played in this browser');
  });
});

describe('the sound of a comparison', () => {
  it('plays the channel of the visible side, from the first playback on', () => {
    const gains: { value: number; from: number }[] = [];
    const node = { connect: vi.fn() };
    class FakeContext {
      readonly currentTime = 0;
      readonly state = 'running';
      readonly destination = node;
      createMediaElementSource = () => node;
      createChannelSplitter = () => ({
        connect: (_gain: unknown, channel: number) => {
          const last = gains.at(-1);
          if (last) last.from = channel;
        },
      });
      createGain = () => {
        const gain = { value: 1, from: -1 };
        gains.push(gain);
        return {
          connect: vi.fn(),
          gain: {
            setTargetAtTime: (value: number) => {
              gain.value = value;
            },
          },
        };
      };
      close = async () => undefined;
    }
    vi.stubGlobal('AudioContext', FakeContext);
    const { video, press } = show();
    expect(gains).toEqual([]);
    fireEvent.play(video);
    expect(gains).toEqual([
      { value: 0, from: 0 },
      { value: 1, from: 1 },
    ]);
    press('b');
    expect(gains.map(({ value }) => value)).toEqual([1, 0]);
    vi.unstubAllGlobals();
  });
});

describe('the halves', () => {
  it('meet at the seam, each taken from its own half of the video', () => {
    expect(blitsOf('wipe', 800, 450, 0.25)).toEqual([
      { fromX: 0, toX: 0, toY: 0, width: 200, height: 450 },
      { fromX: 1000, toX: 200, toY: 0, width: 600, height: 450 },
    ]);
    expect(blitsOf('wipe', 800, 450, 0)).toEqual([{ fromX: 800, toX: 0, toY: 0, width: 800, height: 450 }]);
    expect(blitsOf('wipe', 800, 450, 1)).toEqual([{ fromX: 0, toX: 0, toY: 0, width: 800, height: 450 }]);
  });

  it('fill their canvas beside and above each other', () => {
    for (const way of ['wipe', 'beside', 'stacked'] as const) {
      const size = canvasSize(way, 800, 450);
      const drawn = blitsOf(way, 800, 450, 0.5).reduce((sum, { width, height }) => sum + width * height, 0);
      expect(drawn).toBe(size.width * size.height);
    }
  });

  it.each([
    ['beside', 390, 16 / 9, 'stacked'],
    ['beside', 390, 9 / 16, 'beside'],
    ['beside', 900, 16 / 9, 'beside'],
    ['wipe', 390, 16 / 9, 'wipe'],
  ] as const)('%s on %i px with a shape of %f are %s', (view, widthPx, ratio, expected) => {
    expect(arrange(view, widthPx, ratio)).toBe(expected);
  });
});

describe('places', () => {
  it('are converted between the axes of the original and the comparison', () => {
    expect(toOriginalMs(2300, LAYOUT)).toBe(11_100);
    expect(toPreviewMs(11_100, LAYOUT)).toBe(2300);
    expect(toPreviewMs(6000, LAYOUT)).toBeNull();
  });

  it('are numbered by the place that plays or was passed last', () => {
    expect([0, 1000, 3100, 3200, 4400].map((ms) => placeNumber(ms, [3200, 1000, 1000]))).toEqual([
      1, 1, 1, 2, 2,
    ]);
  });
});
