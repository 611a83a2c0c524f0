import { uploadedInputOptions, type MediaInfo } from '../probe/probe.ts';

/**
 * Input options that make a decoder output every picture for which it has data, in every version of ffmpeg. From
 * version 8 on, the HEVC decoder leaves out pictures that refer to missing ones, and all that refer to those. Behind an
 * unreadable key picture, 52 of 99 pictures came out, and all with these options (8.0 and 9.0; in earlier versions they
 * change nothing). H.264 is decoded without them, because there they would output pictures from before the first key
 * picture in every version.
 * @param codec as ffprobe names it
 */
export const everyPicture = (codec: string | undefined): readonly string[] =>
  codec === 'hevc' ? ['-flags:v', '+output_corrupt'] : [];

/**
 * Options for an input whose pictures are decoded: `uploadedInputOptions`, and every picture of its first video stream.
 */
export const uploadedPictureOptions = ({ format, video }: MediaInfo): string[] => [
  ...uploadedInputOptions(format),
  ...everyPicture(video[0]?.codec),
];
