import { describe, expect, it } from 'vitest';
import { fixId, FIXES, type FixId } from '#common/fixes.ts';
import { plainFacts } from '#server/test/clip-facts.ts';
import { FIX_BUILDERS, type FixStep } from './build-fixes.ts';
import type { ClipFacts } from './clip-facts.ts';

const HLG = { color_transfer: 'arib-std-b67', color_space: 'bt2020nc', color_primaries: 'bt2020' };
const build = (fix: FixId, facts: ClipFacts, chosen: readonly FixId[] = [fix]): FixStep =>
  FIX_BUILDERS[fix](facts, new Set(chosen));
const words = (step: FixStep) => (step.kind === 'skip' ? step.detail : '');

describe('the nine fixes', () => {
  it('are exactly those of the specification, three in each category', () => {
    const ids = [
      'wind-noise',
      'audio-sync',
      'voice-enhance',
      'stabilize',
      'color-correct',
      'sharpen',
      'tiktok-optimize',
      'instagram-optimize',
      'youtube-optimize',
    ];
    expect(FIXES.map(({ id }) => id)).toEqual(ids);
    expect(fixId.options).toEqual(ids);
    expect(Object.keys(FIX_BUILDERS).toSorted()).toEqual(ids.toSorted());
    for (const category of ['audio', 'visual', 'platform'])
      expect(FIXES.filter((fix) => fix.category === category)).toHaveLength(3);
  });

  it.each(['wind-noise', 'audio-sync', 'voice-enhance', 'stabilize', 'color-correct'] as const)(
    'leave a clip that needs no %s unchanged, and say so',
    (fix) => {
      const step = build(fix, plainFacts());
      expect(step).toMatchObject({ kind: 'skip', state: 'unchanged' });
      expect(words(step)).toMatch(/\.$/);
    },
  );

  it('tell what was measured where nothing shows how to bring sound and picture together', () => {
    const note = 'The sound ends 900 ms before the picture; both were left as they are.';
    expect(words(build('audio-sync', plainFacts({ syncNotes: [note] })))).toContain(
      `nothing was moved. ${note}`,
    );
  });

  it.each(['wind-noise', 'audio-sync', 'voice-enhance'] as const)('%s needs sound', (fix) => {
    const facts = plainFacts();
    const silent = plainFacts({ info: { ...facts.info, audio: [] }, loudness: null });
    expect(words(build(fix, silent))).toContain('no sound');
  });

  it('stabilise what shakes, with what this ffmpeg has, and say what it lacks', () => {
    const shaky = { shake: 0.01 };
    expect(build('stabilize', plainFacts(shaky))).toEqual({ kind: 'visual', fix: 'stabilize', looks: true });
    const poorer = plainFacts({ ...shaky, filters: new Set(['scale', 'deshake']) });
    expect(build('stabilize', poorer)).toMatchObject({ kind: 'visual', looks: false });
    const none = build('stabilize', plainFacts({ ...shaky, filters: new Set(['scale']) }));
    expect(none).toMatchObject({ kind: 'skip', state: 'failed' });
    expect(words(none)).toContain('vidstab or deshake');
  });

  it('convert high dynamic range only when colour correction was requested, with all tags set', () => {
    const hdr = plainFacts({ shake: 0.01, light: null }, HLG);
    const colour = build('color-correct', hdr);
    expect(colour).toMatchObject({ kind: 'visual', hdr: true });
    const filters = colour.kind === 'visual' && colour.fix === 'color-correct' ? colour.filters.join() : '';
    expect(filters).toContain('tin=arib-std-b67:min=2020_ncl:pin=2020:rin=limited');
    expect(filters).toContain('tonemap=');
    expect(words(build('stabilize', hdr))).toContain('Choose Color Correction');
    expect(build('stabilize', hdr, ['stabilize', 'color-correct'])).toMatchObject({ kind: 'visual' });
    const poorer = plainFacts({ filters: new Set(['scale']) }, HLG);
    expect(words(build('color-correct', poorer))).toContain('zscale and tonemap');
  });

  it('sharpen with the gentlest filter there is', () => {
    expect(build('sharpen', plainFacts())).toMatchObject({ filters: [expect.stringContaining('cas=')] });
    const older = plainFacts({ filters: new Set(['scale', 'unsharp']) });
    expect(build('sharpen', older)).toMatchObject({ filters: [expect.stringContaining('unsharp=')] });
  });

  it.each(['stabilize', 'color-correct', 'sharpen', 'tiktok-optimize'] as const)(
    '%s says in a sentence that this server has too little memory for it',
    (fix) => {
      const step = build(fix, plainFacts({ shake: 0.01 }, { width: 3840, height: 2160 }));
      expect(step).toMatchObject({ kind: 'skip', state: 'failed' });
      expect(words(step)).toContain('3840 x 2160');
    },
  );

  it('enhance a voice that is too quiet or whose peaks clip, but not silence', () => {
    expect(build('voice-enhance', plainFacts({ loudness: { lufs: -28, peakDb: -9 } })).kind).toBe('voice');
    expect(build('voice-enhance', plainFacts({ loudness: { lufs: -14, peakDb: 0.8 } })).kind).toBe('voice');
    expect(words(build('voice-enhance', plainFacts({ loudness: { lufs: null, peakDb: null } })))).toContain(
      'silent',
    );
  });
});
