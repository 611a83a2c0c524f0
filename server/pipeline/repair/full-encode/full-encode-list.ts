import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { pictureTicks } from '#server/media/ffmpeg/showinfo.ts';
import { indexPictures } from '../../analyse/packets/picture-times.ts';
import { readPackets } from '../../analyse/packets/read-packets.ts';
import type { FullEncodeInput } from './full-encode.ts';

/**
 * Lists the presentation times of the displayed pictures in display order, stream ticks. They are those given, else
 * those of the packets, or (for containers without usable times) those of one decode.
 * @throws MediaToolError when the file cannot be read.
 */
export async function listPictures(input: FullEncodeInput): Promise<readonly number[]> {
  if (input.pictures) return input.pictures.ptsTicks;
  const stream = input.info.video[0];
  if (!stream) return [];
  const { video } = await readPackets(input);
  const fromPackets = indexPictures(stream, video, []);
  const led = fromPackets !== null && fromPackets.undecoded.length === fromPackets.times.ptsTicks.length;
  if (led) return fromPackets.times.ptsTicks;
  const decoded: (number | null)[] = [];
  await runFfmpeg(
    {
      label: 'list the pictures',
      logLevel: 'info',
      globalOptions: ['-copyts'],
      inputs: [
        {
          path: input.inputPath,
          format: input.info.format,
          options: [...uploadedPictureOptions(input.info), '-threads', String(input.limits.threads)],
        },
      ],
      outputs: [
        {
          path: 'pipe:1',
          options: ['-map', `0:${stream.index}`, '-vf', 'showinfo', '-f', 'null'],
        },
      ],
      expectedDurationMs: null,
    },
    {
      tools: input.tools,
      signal: input.signal,
      onStdout: () => undefined,
      onStderrLine: (line) => {
        const ticks = pictureTicks(line);
        if (ticks !== undefined) decoded.push(ticks);
      },
    },
  );
  return indexPictures(stream, video, decoded)?.times.ptsTicks ?? [];
}
