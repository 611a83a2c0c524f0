import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { probe } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Finding } from '#server/pipeline/analyse/analysis.ts';
import { analysePicture } from '#server/pipeline/analyse/analyse-picture.ts';
import { processVideo } from '#server/pipeline/process-video.ts';
import { makeTask } from '#server/test/media-job.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { benchTools, mediaFolder, wholeNumber } from './bench-options.ts';
import { describeMachine } from './machine.ts';
import { scoreDamage, type DamageScore } from './damage-score.ts';
import { countOwnClaims, DEFECT_CASES, scoreDefects, type DefectCase, type Score } from './repair-cases.ts';
import { measureMotionNoise } from './motion-noise.ts';
import { measureRepair, type RepairQuality } from './repair-quality.ts';
import { formatWind, measureWind } from './repair-sound-cases.ts';
import { collectSources, type SourceClip } from './repair-sources.ts';
import { formatTable, type CaseFigures } from './repair-table.ts';
import { isAudible } from './sound-residual.ts';
import { measureTime, type TimeFigures } from './repair-time.ts';

/**
 * `npm run bench -- repair [--media DIR] [--seed N] [--clips N] [--only WORD] [--out FILE]`: plants each defect at
 * known places in every clip of a folder and repairs it. Prints precision, recall, position errors, quality against the
 * original, the bit-exact share, and time relative to a naive full re-encode and to decoding. `--only` takes a part of
 * a defect's name, `clean` (false alarms), `speed` or `wind`. `--analyse` stops after the analysis: repeats and losses
 * only, scored by its findings, in a fraction of the time.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      media: { type: 'string' },
      seed: { type: 'string', default: '1' },
      clips: { type: 'string', default: '1000' },
      only: { type: 'string' },
      analyse: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  const seed = wholeNumber('--seed', values.seed, 0);
  const most = wholeNumber('--clips', values.clips, 1);
  const media = await mediaFolder(values.media);
  const tools = await benchTools();
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-bench-'));
  try {
    const sources = await collectSources(media, most, folder, tools);
    const wants = (name: string) => values.only === undefined || name.includes(values.only);
    const analyseOnly = values.analyse;
    const cases = DEFECT_CASES.filter(({ name, kind }) => {
      return wants(name) && (!analyseOnly || kind === 'stuttered_cut' || kind === 'dropped_frames');
    });
    const figures: CaseFigures[] = [];
    for (const defect of cases) {
      figures.push(await measureCase(defect, sources, { folder, tools, seed, analyseOnly }));
      console.log(`${defect.name}: done`);
    }
    const clean = wants('clean') ? await measureClean(sources, folder, tools) : null;
    const time = wants('speed') ? await timeOf(sources, folder, tools) : null;
    const wind = wants('wind') ? await measureWind(media, folder, tools) : null;
    const table = formatTable({
      machine: await describeMachine(tools),
      media: media ?? 'made clips',
      clips: sources.length,
      notPlanted: sources.flatMap(({ name, base }) => ('reason' in base ? [`${name}: ${base.reason}`] : [])),
      seed,
      figures,
      clean,
      time,
    });
    const text = wind ? `${table}\n${formatWind(wind)}` : table;
    console.log(`\n${text}`);
    if (values.out !== undefined) await writeFile(values.out, text);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface BenchSetting {
  readonly folder: string;
  readonly tools: ToolPaths;
  readonly seed: number;
  readonly analyseOnly: boolean;
}

async function measureCase(
  defect: DefectCase,
  sources: readonly SourceClip[],
  { folder, tools, seed, analyseOnly }: BenchSetting,
): Promise<CaseFigures> {
  const random = seededRandom(seed);
  const scores = { found: 0, missed: 0, wrong: 0, own: 0, positionErrors: new Array<number>() };
  const quality: RepairQuality[] = [];
  const damage: DamageScore[] = [];
  const notes: string[] = [];
  const aboveNoise = { planted: 0, found: 0 };
  let clips = 0;
  const count = (source: SourceClip, score: Score, own: number) => {
    scores.own += own;
    scores.found += score.found;
    scores.missed += score.missed;
    scores.wrong += score.wrong;
    scores.positionErrors.push(...score.positionErrors);
    if (score.missed + score.wrong > 0)
      notes.push(
        `${source.name}: ${score.missed} missed, ${score.wrong} wrong${own > 0 ? `, ${own} of them claimed in the clean clip too` : ''}`,
      );
  };
  for (const source of sources) {
    const { base } = source;
    if ('reason' in base) continue;
    const { places, findings: clean } = await pickPlaces(base.path, defect.needsMotion, random, tools);
    if (places.length === 0 || (defect.needsSound && !(await isAudible(base.path, tools)))) continue;
    const broken = path.join(folder, 'broken.mp4');
    const planted = await defect.plant({
      tools,
      inputPath: base.path,
      outputPath: broken,
      codec: base.codec,
      places,
      random,
    });
    const noise = isHidden(defect) ? await measureMotionNoise(base.path, tools) : null;
    const countAboveNoise = ({ hits }: Score) => {
      planted.truth.forEach(({ count: missing }, index) => {
        if (!noise?.isAbove(places[index] ?? 0, missing)) return;
        aboveNoise.planted += 1;
        if (hits[index]) aboveNoise.found += 1;
      });
    };
    if (analyseOnly) {
      const info = await probe(tools, broken, 'mov');
      const { findings } = await analysePicture({ inputPath: broken, info, tools });
      const score = scoreDefects(findings, defect.kind, planted.truth);
      count(source, score, countOwnClaims(score, clean, defect, planted.truth));
      countAboveNoise(score);
      clips += 1;
      continue;
    }
    const workDir = path.join(folder, 'work');
    await mkdir(workDir, { recursive: true });
    const task = await makeTask(broken, workDir, { tools });
    const result = await processVideo(task, { signal: new AbortController().signal, send: () => undefined });
    clips += 1;
    if (result.ok) {
      const repairedPath = result.resultPath ?? broken;
      const byPicture =
        defect.kind === 'corrupted_section'
          ? await scoreDamage({
              clean: base.path,
              broken,
              repaired: repairedPath,
              report: result.report,
              workDir,
              tools,
            })
          : null;
      if (byPicture) {
        damage.push(byPicture);
        const lost = byPicture.undamaged - byPicture.undamagedKept;
        if (lost > byPicture.undamaged / 100)
          notes.push(`${source.name}: ${lost} of ${byPicture.undamaged} undamaged pictures not bit-exact`);
      }
      const { video, notes: said } = result.report;
      if (video.treatment === 'full_encode')
        notes.push(`${source.name}: all pictures coded anew: ${[video.reason, ...said].join('; ')}`);
      const score = byPicture
        ? fromDamage(byPicture)
        : scoreDefects(
            result.report.defects.filter(({ action }) => action !== 'rebuilt_index'),
            defect.kind,
            planted.truth,
          );
      count(source, score, countOwnClaims(score, clean, defect, planted.truth));
      countAboveNoise(score);
      quality.push(
        await measureRepair({
          source: base.path,
          broken,
          repairedPath,
          result,
          planted,
          defect,
          tools,
        }),
      );
    } else notes.push(`${source.name}: ${result.code}`);
    await rm(workDir, { recursive: true, force: true });
  }
  return {
    name: defect.name,
    clips,
    ...scores,
    aboveNoise: isHidden(defect) ? aboveNoise : null,
    quality,
    damage,
    notes,
  };
}

/** Whether a loss shows only in the motion, so that its place decides whether it can be found at all. */
function isHidden({ kind, needsMotion }: DefectCase): boolean {
  return kind === 'dropped_frames' && needsMotion;
}

/** The score of damaged data counts stretches of visible damage, and claims in which no picture differs. */
function fromDamage({ stretches, stretchesFound, wrongClaims }: DamageScore): Score {
  return {
    found: stretchesFound,
    missed: stretches - stretchesFound,
    wrong: wrongClaims,
    positionErrors: [],
    hits: [],
    wrongClaims: [],
  };
}

/**
 * Picks up to three places with moving surroundings, at least a second and a half apart and away from both ends. Also
 * returns what the analysis claims about the unchanged clip.
 */
async function pickPlaces(
  file: string,
  needsMotion: boolean,
  random: () => number,
  tools: ToolPaths,
): Promise<{ readonly places: number[]; readonly findings: readonly Finding[] }> {
  const info = await probe(tools, file, 'mov');
  const { pictures, motion, sceneCuts, findings } = await analysePicture({ inputPath: file, info, tools });
  const count = pictures?.ptsTicks.length ?? 0;
  const rate = info.video[0]?.frameRate ?? 30;
  const series = motion?.motion ?? [];
  const fit: number[] = [];
  for (let frame = Math.ceil(rate); frame < count - rate; frame += 1) {
    const around = series.slice(frame - 8, frame + 16);
    const nearCut = sceneCuts.some((cut) => Math.abs(cut - frame) < 16);
    if (nearCut || (needsMotion && Math.min(...around) < LIVE_MOTION)) continue;
    fit.push(frame);
  }
  const places: number[] = [];
  for (let tries = 0; tries < 60 && places.length < 3 && fit.length > 0; tries += 1) {
    const frame = fit[Math.floor(random() * fit.length)] ?? 0;
    if (places.every((place) => Math.abs(place - frame) >= rate * 1.5)) places.push(frame);
  }
  return { places: places.sort((a, b) => a - b), findings };
}

/** The busiest blocks change by at least this many grey levels from picture to picture: clearly above sensor noise. */
const LIVE_MOTION = 3;

async function measureClean(sources: readonly SourceClip[], folder: string, tools: ToolPaths) {
  let minutes = 0;
  let alarms = 0;
  let untouched = 0;
  const notes: string[] = [];
  for (const source of sources) {
    const workDir = path.join(folder, 'work-clean');
    const task = await makeTask(source.path, workDir, { tools });
    const result = await processVideo(task, { signal: new AbortController().signal, send: () => undefined });
    if (result.ok) {
      minutes += result.report.original.media.durationMs / 60_000;
      const { stutteredCuts, droppedFrames, corruptedSections, audioSyncIssues } = result.issues;
      const count = stutteredCuts + Math.min(1, droppedFrames) + corruptedSections + Number(audioSyncIssues);
      alarms += count;
      if (count > 0) notes.push(`${source.name}: ${count} claimed`);
      if (result.report.outcome === 'unchanged') untouched += 1;
    } else notes.push(`${source.name}: ${result.code}`);
    await rm(workDir, { recursive: true, force: true });
  }
  return { clips: sources.length, minutes, alarms, untouched, notes };
}

async function timeOf(
  sources: readonly SourceClip[],
  folder: string,
  tools: ToolPaths,
): Promise<TimeFigures | null> {
  const usable = sources.flatMap(({ base }) => ('reason' in base ? [] : [base.path]));
  const middle = usable[Math.floor(usable.length / 2)];
  return middle === undefined ? null : measureTime(middle, folder, tools);
}
