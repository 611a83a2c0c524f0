import { describe, expect, it } from 'vitest';
import { storylineDto } from '#common/api/storyline.ts';
import type { ClipSeries, PictureFigures } from './clip-series.ts';
import { tellStory } from './tell-story.ts';

const PICTURE: PictureFigures = { luma: 100, contrast: 40, saturation: 0.2, change: 4, colourChange: 0.03 };
const CUT: PictureFigures = { ...PICTURE, change: 45, colourChange: 0.7 };

/** Twelve seconds with cuts at 3 s and 8 s, sound throughout and a voice in the first scene. */
function clip(change: Partial<ClipSeries> = {}): ClipSeries {
  return {
    durationMs: 12_000,
    pictures: Array.from({ length: 60 }, (_, i) => (i === 15 || i === 40 ? CUT : PICTURE)),
    levelsDb: Array.from({ length: 60 }, () => -25),
    speech: [
      { startMs: 500, endMs: 1500 },
      { startMs: 2000, endMs: 2900 },
    ],
    ...change,
  };
}

const flat = (figures: Partial<PictureFigures>, count = 60) =>
  Array.from({ length: count }, () => ({ ...PICTURE, ...figures }));

describe('tellStory', () => {
  it('describes scenes with their place, their length and what is seen and heard', () => {
    const { scenes, title, summary } = tellStory(clip());
    expect(scenes.map(({ timestamp, duration }) => [timestamp, duration])).toEqual([
      ['0:00', '3.0 s'],
      ['0:03', '5.0 s'],
      ['0:08', '4.0 s'],
    ]);
    expect(scenes[0]).toMatchObject({
      description: 'Even light, some movement; speech.',
      actions: ['speaking'],
    });
    expect(scenes[1]?.description).toBe('Even light, some movement; sound without speech.');
    expect(title).toContain('3 scenes');
    expect(summary).toContain('the longest runs from 0:03 to 0:08');
  });

  it('never names what was not recognised', () => {
    const { scenes, characters } = tellStory(clip());
    expect(scenes.flatMap(({ emotions, keyObjects }) => [...emotions, ...keyObjects])).toEqual([]);
    expect(characters).toHaveLength(1);
    expect(characters[0]).toMatchObject({ name: 'Speaker 1', appearances: ['0:00 – 0:02'] });
    expect(tellStory(clip({ speech: [] })).characters).toEqual([]);
  });

  it('has empty lists without evidence', () => {
    const black = flat({ luma: 0, contrast: 0, saturation: 0, change: 0, colourChange: 0 });
    const story = tellStory(clip({ pictures: black, levelsDb: black.map(() => -120), speech: [] }));
    expect(story).toMatchObject({ confidence: 0, genre: 'Unknown', mood: 'Unknown' });
    expect([story.themes, story.characters, story.scenes]).toEqual([[], [], []]);
  });

  it('gives the same story for the same clip', () => {
    expect(tellStory(clip())).toEqual(tellStory(clip()));
  });

  it('is as confident as picture and sound are readable', () => {
    expect(tellStory(clip()).confidence).toBe(100);
    expect(tellStory(clip({ levelsDb: [] })).confidence).toBe(50);
    const half = [...flat({ contrast: 0 }, 30), ...flat({}, 30)];
    expect(tellStory(clip({ pictures: half })).confidence).toBe(75);
  });

  it.each([
    ['Talk', clip({ speech: [{ startMs: 0, endMs: 9000 }] })],
    ['Single take', clip({ pictures: flat({}), speech: [] })],
    ['Scenes', clip({ speech: [], durationMs: 60_000 })],
    [
      'Montage',
      clip({
        speech: [],
        pictures: Array.from({ length: 60 }, (_, i) => (i % 10 === 5 ? CUT : PICTURE)),
      }),
    ],
    ['Speech', clip({ pictures: [], speech: [{ startMs: 0, endMs: 9000 }] })],
  ])('calls it %s', (genre, series) => {
    expect(tellStory(series).genre).toBe(genre);
  });

  it.each([
    ['Dark and calm', { luma: 30, change: 1 }],
    ['Bright and lively', { luma: 180, change: 20 }],
    ['Steady', { luma: 100, change: 5 }],
  ])('finds the mood %s', (mood, figures) => {
    expect(tellStory(clip({ pictures: flat(figures) })).mood).toBe(mood);
  });

  it('names the themes that apply and no others', () => {
    const still = tellStory(
      clip({ pictures: flat({ luma: 30, change: 1, saturation: 0.02 }), levelsDb: [], speech: [] }),
    );
    expect(still.themes).toEqual(['One take', 'Stillness', 'Low light', 'Little colour', 'No sound']);
  });

  it('says where most movement is, cuts excluded', () => {
    const pictures = Array.from({ length: 60 }, (_, i) => {
      if (i === 15) return { ...CUT, change: 200 };
      return i >= 45 && i < 50 ? { ...PICTURE, change: 30 } : PICTURE;
    });
    expect(tellStory(clip({ pictures })).summary).toContain('moves most at 0:09');
  });

  it('has the shape that the API promises', () => {
    expect(() => storylineDto.parse(tellStory(clip()))).not.toThrow();
  });
});
