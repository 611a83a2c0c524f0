import path from 'node:path';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { analysePicture } from '#server/pipeline/analyse/analyse-picture.ts';
import { analyseVideo } from '#server/pipeline/analyse/analyse-video.ts';
import { corruptSamples, injectRepeats } from '#server/test/broken-clips.ts';
import { moveSound, replaceSound } from '#server/test/broken-sound.ts';
import { gustingWind, mixAtSnr, voiceLike } from '#server/test/synthetic-sound.ts';
import { measure, timeJob, type Cost, type JobCost } from './repair-job-cost.ts';

/** Costs of one run, all measured on the same clip; only their ratios are meaningful. */
export interface TimeFigures {
  readonly clipSeconds: number;
  readonly size: string;
  readonly decode: Cost;
  readonly analysis: Cost;
  /** The same analysis again in the same process, with its code already compiled, as in a running server. */
  readonly analysisAgain: Cost;
  readonly naive: Cost;
  readonly jobs: readonly { readonly name: string; readonly cost: JobCost }[];
}

/**
 * The clip is played forwards and backwards until it has at least this length: a plain loop would jump where it starts
 * again, which is a defect. `TAKEN_SECONDS` of it are used, few enough to reverse in memory.
 */
const CLIP_SECONDS = 30;
const TAKEN_SECONDS = 5;
/** Some clips show their first picture twice, so the first pictures are skipped. */
const SKIPPED_PICTURES = 6;
/** Held pictures: `HELD_RUNS` runs of `HELD_PICTURES` each, spread over two seconds. */
const HELD_RUNS = 3;
const HELD_PICTURES = 4;
/** Sample rate of the windy sound. */
const RATE_HZ = 48_000;

interface Coding {
  readonly name: string;
  readonly encode: readonly string[];
}

/** How phones encode (one key picture per second, no reordering), and how editors do. */
function codings(rate: number): Coding[] {
  const fixed = (group: number) => ['-g', String(group), '-keyint_min', String(group), '-sc_threshold', '0'];
  const x264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-threads', '2'];
  return [
    { name: 'key picture each second', encode: [...x264, ...fixed(Math.round(rate)), '-bf', '0'] },
    { name: 'key picture every 250', encode: [...x264, ...fixed(250), '-bf', '3'] },
  ];
}

/**
 * Measures the cost of the engine on a clean clip and on clips with two seconds of damage, with late and with windy
 * sound. Compares it with decoding alone (two threads) and with a naive repair that filters and encodes all pictures at
 * preset medium.
 * @param base a clip of constant rate; its first seconds are played forwards and backwards for at least 30 s
 */
export async function measureTime(base: string, folder: string, tools: ToolPaths): Promise<TimeFigures> {
  const bench: Bench = { folder, tools };
  const info = await probe(tools, base, 'mov');
  const [stream] = info.video;
  const rate = stream?.frameRate ?? 30;
  const turned = await toAndFro(base, rate, info.durationMs ?? 0, folder, tools);
  const clips = await codedClips(bench, base, rate, turned);
  const clean = clips[0]?.file ?? base;
  const cleanInfo = await probe(tools, clean, 'mov');
  const clipSeconds = (cleanInfo.durationMs ?? 0) / 1000;
  const peers = await measurePeers(bench, clean, cleanInfo);
  const jobs: NamedCost[] = [];
  const run: RunJob = async (name, file) => {
    jobs.push({ name, cost: await timeJob(file, path.join(folder, `time-job-${jobs.length}`), tools) });
  };
  await run('clean clip', clean);
  for (const clip of clips) await runDamaged(bench, clip, rate, run);
  if (info.audio.length > 0) await runBrokenSound(bench, clean, clipSeconds, run);
  return { clipSeconds, size: `${stream?.width ?? 0} x ${stream?.height ?? 0}`, ...peers, jobs };
}

/** What every part of the benchmark works with. */
interface Bench {
  readonly folder: string;
  readonly tools: ToolPaths;
}

/** The same pictures in one of the codings. */
interface CodedClip {
  readonly coding: Coding;
  readonly file: string;
}

type NamedCost = TimeFigures['jobs'][number];
type RunJob = (name: string, file: string) => Promise<void>;

/** The turned pictures, as often as 30 s take, with the sound of the base, once for each coding. */
async function codedClips(
  { folder, tools }: Bench,
  base: string,
  rate: number,
  turned: { readonly file: string; readonly seconds: number },
): Promise<CodedClip[]> {
  const loops = Math.max(1, Math.ceil(CLIP_SECONDS / turned.seconds));
  const length = ['-t', (loops * turned.seconds).toFixed(6)];
  const again = (file: string, times: number) => ({ path: file, options: ['-stream_loop', String(times)] });
  // Sound of another length than the pictures would leave a gap in them at each turn, so it is a separate input.
  const inputs = [again(turned.file, loops - 1), again(base, -1)];
  const clips: CodedClip[] = [];
  for (const coding of codings(rate)) {
    const file = path.join(folder, `time-${clips.length}.mp4`);
    const tracks = ['-map', '0:v:0', '-map', '1:a:0?', ...length];
    const options = [...tracks, ...coding.encode, '-c:a', 'aac', '-f', 'mp4'];
    const plan = { label: 'time', inputs, outputs: [{ path: file, options }], expectedDurationMs: null };
    await runFfmpeg(plan, { tools });
    clips.push({ coding, file });
  }
  return clips;
}

/** What the jobs are compared with, on the clean clip: decoding, the analysis alone and a naive repair. */
async function measurePeers(
  { folder, tools }: Bench,
  clean: string,
  info: MediaInfo,
): Promise<Pick<TimeFigures, 'decode' | 'analysis' | 'analysisAgain' | 'naive'>> {
  const decoding = ['-map', '0:v:0', '-f', 'null'];
  const decode = await measure(() => plainRun(clean, decoding, '/dev/null', tools, ['-threads', '2']));
  const analyse = () => analyseVideo({ inputPath: clean, info, tools });
  const analysis = await measure(analyse);
  const analysisAgain = await measure(analyse);
  const filtered = ['-map', '0:v:0', '-map', '0:a:0?', '-vf', 'fps=30,eq=contrast=1.02,unsharp'];
  const coded = ['-c:v', 'libx264', '-preset', 'medium', '-crf', '18', '-c:a', 'aac', '-f', 'mp4'];
  const naivePath = path.join(folder, 'naive.mp4');
  const naive = await measure(() => plainRun(clean, [...filtered, ...coded], naivePath, tools, []));
  return { decode, analysis, analysisAgain, naive };
}

/** Mends two seconds of held pictures, then two seconds of corrupt ones, where the clip moves most. */
async function runDamaged(
  { folder, tools }: Bench,
  { coding: { name, encode }, file }: CodedClip,
  rate: number,
  run: RunJob,
): Promise<void> {
  const held = path.join(folder, 'time-held.mp4');
  const first = await liveliest(file, Math.round(2 * rate), tools);
  const step = Math.round((2 * rate - HELD_PICTURES) / (HELD_RUNS - 1));
  const runs = Array.from({ length: HELD_RUNS }, (_, at) => ({
    frame: first + at * step,
    count: HELD_PICTURES,
  }));
  await injectRepeats({ tools, inputPath: file, outputPath: held, history: 'held', runs, encode });
  await run(`${HELD_RUNS} x ${HELD_PICTURES} held pictures, ${name}`, held);

  const torn = path.join(folder, 'time-torn.mp4');
  const group = Number(encode[encode.indexOf('-g') + 1]);
  const keyPicture = Math.max(1, Math.round(first / group)) * group;
  // Damage lasts until the next key picture: this hits two groups of a second, or the end of a long one.
  const hit =
    group <= rate + 1 ? [keyPicture + 1, keyPicture + group + 1] : [keyPicture - Math.round(2 * rate)];
  await corruptSamples({ tools, inputPath: file, outputPath: torn, frames: hit, fault: 'random', seed: 3 });
  await run(`2 s of corrupt pictures, ${name}`, torn);
}

/** Mends late sound, then a voice in wind: the same wind in both channels, and another in each. */
async function runBrokenSound(
  { folder, tools }: Bench,
  clean: string,
  seconds: number,
  run: RunJob,
): Promise<void> {
  const late = path.join(folder, 'time-late.mp4');
  await moveSound({ tools, inputPath: clean, outputPath: late, offsetMs: 240 });
  await run('late sound', late);
  const windy = path.join(folder, 'time-windy.mp4');
  const voice = voiceLike(seconds, RATE_HZ, 1);
  const inWind = (seed: number) => mixAtSnr(voice, gustingWind(seconds, RATE_HZ, seed), 0);
  const [one, other] = [inWind(1), inWind(2)];
  for (const [name, channels] of [
    ['one wind in both channels', [one, one]],
    ['a wind in each channel', [one, other]],
  ] as const) {
    await replaceSound({ tools, inputPath: clean, outputPath: windy, channels, rateHz: RATE_HZ });
    await run(`windy stereo sound, ${name}`, windy);
  }
}

/** Joins the first seconds of a clip, forwards and then backwards, pictures only; no picture is repeated at a turn. */
async function toAndFro(
  base: string,
  rate: number,
  durationMs: number,
  folder: string,
  tools: ToolPaths,
): Promise<{ readonly file: string; readonly seconds: number }> {
  const file = path.join(folder, 'time-turned.mp4');
  const count = Math.floor((Math.min(TAKEN_SECONDS, durationMs / 1000) - 0.2) * rate) - SKIPPED_PICTURES;
  const taken = `start_frame=${SKIPPED_PICTURES}:end_frame=${count + SKIPPED_PICTURES}`;
  const way = `fps=${rate},trim=${taken},setpts=PTS-STARTPTS,split[there][turn]`;
  const back = `[turn]reverse,trim=start_frame=1:end_frame=${count - 1},setpts=PTS-STARTPTS[back]`;
  const options = ['-map', '[out]', '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '8', '-f', 'mp4'];
  await runFfmpeg(
    {
      label: 'time',
      inputs: [{ path: base }],
      filterComplex: `[0:v:0]${way};${back};[there][back]concat=n=2:v=1:a=0,fps=${rate}[out]`,
      outputs: [{ path: file, options }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return { file, seconds: (2 * count - 2) / rate };
}

/**
 * First picture of a stretch of `length` pictures in the middle third of a clip: the stretch whose weakest motion is
 * strongest.
 */
async function liveliest(file: string, length: number, tools: ToolPaths): Promise<number> {
  const info = await probe(tools, file, 'mov');
  const { motion, sceneCuts } = await analysePicture({ inputPath: file, info, tools });
  const series = motion?.motion ?? [];
  let best = Math.round(series.length / 3);
  let bestMotion = -1;
  for (let first = Math.round(series.length / 3); first < (series.length * 2) / 3; first += 1) {
    const near = series.slice(first - 12, first + length + 12);
    const cut = sceneCuts.some((at) => at > first - 12 && at < first + length + 12);
    const weakest = cut ? -1 : Math.min(...near);
    if (weakest > bestMotion) [best, bestMotion] = [first, weakest];
  }
  return best;
}

async function plainRun(
  input: string,
  options: readonly string[],
  output: string,
  tools: ToolPaths,
  before: readonly string[],
): Promise<void> {
  const plan = {
    label: 'time',
    inputs: [{ path: input, options: before }],
    outputs: [{ path: output, options }],
    expectedDurationMs: null,
  };
  await runFfmpeg(plan, { tools });
}

/** Formats the figures as Markdown: the costs, then where the time of each repaired clip went. */
export function timeLines(time: TimeFigures): string[] {
  const show = (cost: Cost) => {
    const share = (of: number | null, whole: number | null) =>
      of === null || whole === null ? '-' : (of / whole).toFixed(3);
    return [
      cost.seconds.toFixed(2),
      cost.cpuSeconds?.toFixed(2) ?? '-',
      share(cost.seconds, time.naive.seconds),
      share(cost.cpuSeconds, time.naive.cpuSeconds),
      share(cost.seconds, time.decode.seconds),
    ];
  };
  const lines = [
    `Time on a clip of ${time.clipSeconds.toFixed(1)} s, ${time.size}; "mending" is everything behind the analysis:`,
    '',
    '| work | seconds | processor seconds | of a naive re-encode | of its processor time | of decoding |',
    '|---|---|---|---|---|---|',
    `| ${['decode only, two threads', ...show(time.decode)].join(' | ')} |`,
    `| ${['analysis of the clean clip', ...show(time.analysis)].join(' | ')} |`,
    `| ${['analysis again, in the same process', ...show(time.analysisAgain)].join(' | ')} |`,
    `| ${['naive re-encode, medium', ...show(time.naive)].join(' | ')} |`,
  ];
  for (const { name, cost } of time.jobs) {
    lines.push(`| ${[`${name}, whole job`, ...show(cost.all)].join(' | ')} |`);
    if (cost.mending.seconds > 0)
      lines.push(`| ${[`${name}, mending`, ...show(cost.mending)].join(' | ')} |`);
  }
  lines.push('', 'Where the mending went, seconds of each tool run (some run side by side):', '');
  for (const { name, cost } of time.jobs) {
    if (cost.parts.length === 0) continue;
    const parts = cost.parts.map(({ label, seconds, runs }) => `${label} ${seconds.toFixed(2)} (${runs} x)`);
    lines.push(`- ${name} (${cost.repaired} of ${cost.found} defects repaired): ${parts.join(', ')}`);
  }
  return lines;
}
