import { uploadedInputOptions, type MediaInfo } from '../probe/probe.ts';

/**
 * Input options under which a decoder hands on every picture that it has data for, with every version of ffmpeg. From version 8 on
 * that of HEVC leaves out pictures that refer to missing ones, and all that refer to those: behind an unreadable key picture 52 of 99
 * came out, with these options all (8.0 and 9.0; before they change nothing). Those of H.264 stay without, where they would
 * bring up pictures of before the first key picture in every version.
 * @param codec as ffprobe names it
 */
export const everyPicture = (codec: string | undefined): readonly string[] =>
  codec === 'hevc' ? ['-flags:v', '+output_corrupt'] : [];

/** Options for the input whose pictures are decoded: those of `uploadedInputOptions`, and every picture of its first stream. */
export const uploadedPictureOptions = ({ format, video }: MediaInfo): string[] => [
  ...uploadedInputOptions(format),
  ...everyPicture(video[0]?.codec),
];
