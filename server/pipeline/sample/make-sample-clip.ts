import { open, rename } from 'node:fs/promises';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { SAMPLE, samplePicture, SCENES } from './sample-picture.ts';

/**
 * The defects planted in the sample; picture numbers count from 0 in the intact clip. They lie where the lantern is
 * high and slow, because pictures between fast ones can only be guessed.
 */
export const PLANTED = {
  /** Pictures replaced by the one before them: the clip stutters after its first cut and before its second. */
  held: [
    { first: 105, last: 108 },
    { first: 178, last: 181 },
  ],
  /** Missing pictures, which leave a gap in the timestamps. */
  missing: { first: 129, last: 134 },
  /** Delay of the sound. */
  lateSoundMs: 240,
  windFromSeconds: 5,
  windToSeconds: 9,
  /** Some bytes of a coded picture near this time are overwritten. */
  corruptAtSeconds: 8.3,
  corruptBytes: 96,
} as const;

/** Part of the cached file's name: increase it when the recipe changes, so that a new clip is made. */
export const SAMPLE_RECIPE = '1';

export interface SampleOptions {
  readonly tools: ToolPaths;
  /** Path of the MP4; it appears complete or not at all. */
  readonly outputPath: string;
  readonly signal?: AbortSignal;
}

/**
 * Makes a clip of about ten seconds from ffmpeg's own sources and plants the defects of `PLANTED` in it.
 * @throws MediaToolError
 */
export async function makeSampleClip({ tools, outputPath, signal }: SampleOptions): Promise<void> {
  const partPath = `${outputPath}.part`;
  await runFfmpeg(samplePlan(partPath), { tools, signal });
  await corruptOnePicture(tools, partPath);
  await rename(partPath, outputPath);
}

/** Plan for the whole clip except the overwritten bytes. */
function samplePlan(outputPath: string): FfmpegPlan {
  const seconds = SCENES.length * SAMPLE.sceneSeconds;
  const { held, missing } = PLANTED;
  const heldOut = held.map(({ first, last }) => `between(n,${first},${last})`).join('+');
  const graph = [
    samplePicture(),
    // `fps` fills the first gap in the timestamps with copies of the picture before it; the second gap stays.
    `[picture]select='not(${heldOut})',fps=${SAMPLE.fps},select='not(between(n,${missing.first},${missing.last}))'[out0]`,
    sampleSound(seconds),
  ].join(';');
  return {
    label: 'make the sample clip',
    inputs: [{ path: graph, lavfi: true }],
    outputs: [
      {
        path: outputPath,
        options: [
          ...words('-map 0:v -map 0:a'),
          ...EACH_PICTURE,
          ...words('-c:v libx264 -preset veryfast -crf 21 -g 30 -bf 0 -threads 1 -pix_fmt yuv420p'),
          ...words('-c:a aac -b:a 128k -movflags +faststart -f mp4'),
        ],
      },
    ],
    expectedDurationMs: seconds * 1000,
  };
}

const words = (text: string) => text.split(' ');

/** A plucked note at every touch of the lantern, and gusts of wind, all of it delayed. */
function sampleSound(seconds: number): string {
  const { windFromSeconds, windToSeconds, lateSoundMs } = PLANTED;
  const note = '294*pow(2,(3*eq(ld(1),1)+5*eq(ld(1),2)+7*eq(ld(1),3)+10*eq(ld(1),4))/12)';
  const pluck =
    `st(0,mod(t,${SAMPLE.bounceSeconds}));st(1,mod(floor(t/${SAMPLE.bounceSeconds})*2,5));st(2,${note});` +
    '0.34*min(1,ld(0)*250)*exp(-5.5*ld(0))*(sin(2*PI*ld(2)*ld(0))+0.4*sin(4*PI*ld(2)*ld(0))+0.15*sin(6*PI*ld(2)*ld(0)))';
  const span = windToSeconds - windFromSeconds;
  // Gusts: the level varies by several decibels within tenths of a second, as it does at a microphone.
  const gust = 'exp(0.55*sin(t*2.3)+0.45*sin(t*6.1+1)+0.4*sin(t*10.7+2))';
  const wind = `if(between(t,${windFromSeconds},${windToSeconds}),pow(sin(PI*(t-${windFromSeconds})/${span}),0.4)*${gust},0)`;
  return [
    `aevalsrc='${pluck}':s=48000:d=${seconds}[notes]`,
    `anoisesrc=color=white:amplitude=1:sample_rate=48000:duration=${seconds}:seed=7,lowpass=f=60:poles=1,lowpass=f=600:poles=1,volume='3.2*(${wind})':eval=frame[wind]`,
    `[notes][wind]amix=inputs=2:duration=first,volume=2,alimiter=limit=0.9,aformat=channel_layouts=stereo,asetpts=PTS+${lateSoundMs / 1000}/TB[out1]`,
  ].join(';');
}

/** Overwrites bytes inside one coded picture, like a torn write; no other byte changes. */
async function corruptOnePicture(tools: ToolPaths, file: string): Promise<void> {
  const args = ['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'packet=pts_time,size,pos,flags'];
  const { stdout } = await runTool('list the packets', tools.ffprobe, [...args, '-of', 'csv=p=0', file]);
  const packets = stdout
    .split('\n')
    .map((line) => line.split(','))
    .map(([time = '', size = '', pos = '', flags = '']) => ({
      seconds: Number(time),
      sizeBytes: Number(size),
      offsetBytes: Number(pos),
      isKey: flags.startsWith('K'),
    }))
    .filter((packet) => packet.sizeBytes > PLANTED.corruptBytes * 3 && !packet.isKey);
  const distance = (packet: { seconds: number }) => Math.abs(packet.seconds - PLANTED.corruptAtSeconds);
  const victim = packets.toSorted((a, b) => distance(a) - distance(b))[0];
  if (!victim) return;
  const handle = await open(file, 'r+');
  try {
    const place = victim.offsetBytes + Math.floor(victim.sizeBytes / 3);
    await handle.write(Buffer.alloc(PLANTED.corruptBytes), 0, PLANTED.corruptBytes, place);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
