import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { processVideo } from '#server/pipeline/process-video.ts';
import { makeTask } from '#server/test/media-job.ts';
import { benchTools, mediaFolder, wholeNumber } from './bench-options.ts';
import { describeMachine } from './machine.ts';
import { measureCase } from './measure-case.ts';
import { DEFECT_CASES } from './repair-cases.ts';
import { formatWind, measureWind } from './repair-sound-cases.ts';
import { collectSources, type SourceClip } from './repair-sources.ts';
import { formatTable, type CaseFigures } from './repair-table.ts';
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
