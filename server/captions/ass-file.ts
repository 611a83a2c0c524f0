import { spreadOver } from '#common/caption-parts.ts';
import type { CaptionStyle } from '#common/caption-styles.ts';
import type { VideoCue } from '#common/captions.ts';
import { FONT_FAMILY, type CaptionFont } from './caption-font.ts';
import { layOutCaptions, type DrawnCaption } from './caption-lines.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Position and size of captions, in pixels of the picture. */
export interface CaptionPlace {
  /** Size of an em. */
  readonly em: number;
  readonly side: number;
  readonly bottom: number;
}

/**
 * Places captions for a picture. In upright pictures they keep clear of what the platforms overlay: guides for TikTok,
 * Reels and Shorts give 300 to 450 of 1920 pixels at the bottom and 120 to 180 of 1080 at the right (blitzcutai.com and
 * socaptions.com, 2026, looked up 2026-11-22).
 */
export function placeCaptions({ width, height }: Size): CaptionPlace {
  const shape = height / width;
  if (shape > 1.2) return { em: width * 0.06, side: width * 0.14, bottom: height * 0.24 };
  if (shape > 0.8) return { em: height * 0.052, side: width * 0.08, bottom: height * 0.1 };
  return { em: height * 0.056, side: width * 0.1, bottom: height * 0.07 };
}

/**
 * Code value of white, 0 to 255. In high dynamic range, text is as bright as diffuse white (203 cd/m2, ITU-R BT.2408),
 * which is 58 % of PQ and 75 % of HLG; the full signal would dazzle.
 */
export type TextWhite = 'sdr' | 'pq' | 'hlg';
const WHITE: Readonly<Record<TextWhite, number>> = { sdr: 255, pq: 148, hlg: 191 };
/** Amber of the spoken word, as a share of white: red, green, blue. */
const HIGHLIGHT = [1, 0.82, 0.1] as const;

export interface AssInput {
  readonly cues: readonly Pick<VideoCue, 'startMs' | 'endMs' | 'text'>[];
  readonly style: CaptionStyle;
  /** Size of the picture as displayed. */
  readonly size: Size;
  readonly white: TextWhite;
  readonly font: CaptionFont;
}

/**
 * Writes captions as an ASS script for ffmpeg's renderer (libass). Lines are broken here, so the renderer breaks none.
 * In the style `words` the word being said has another colour, for its share of the cue's time.
 */
export function toAss({ cues, style, size, white, font }: AssInput): string {
  const place = placeCaptions(size);
  const mostEm = (size.width - 2 * place.side) / place.em;
  const captions = layOutCaptions(cues, font, mostEm);
  const events = captions.flatMap((caption) =>
    style === 'words' ? wordEvents(caption, white) : [event(caption, plainLines(caption))],
  );
  return [
    '[Script Info]',
    'ScriptType: v4.00+',
    `PlayResX: ${size.width}`,
    `PlayResY: ${size.height}`,
    'WrapStyle: 2',
    'ScaledBorderAndShadow: yes',
    '',
    '[V4+ Styles]',
    `Format: ${STYLE_FIELDS.join(', ')}`,
    `Style: ${styleLine(style, place, white, font)}`,
    '',
    '[Events]',
    'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
    ...events.filter((line) => line !== null),
    '',
  ].join('\n');
}

const STYLE_FIELDS = (
  'Name Fontname Fontsize PrimaryColour SecondaryColour OutlineColour BackColour Bold Italic Underline StrikeOut ' +
  'ScaleX ScaleY Spacing Angle BorderStyle Outline Shadow Alignment MarginL MarginR MarginV Encoding'
).split(' ');

function styleLine(style: CaptionStyle, place: CaptionPlace, white: TextWhite, font: CaptionFont): string {
  const text = `&H00${grey(WHITE[white])}`;
  const dark = '&H00140F0F';
  const box = style === 'box';
  const border = (place.em * (box ? 0.22 : 0.1)).toFixed(1);
  const fontSize = (place.em * font.lineEm).toFixed(1);
  const [side, bottom] = [Math.round(place.side), Math.round(place.bottom)];
  const weight = '-1,0,0,0,100,100,0,0';
  // Alignment 2: bottom centre.
  return `caption,${FONT_FAMILY},${fontSize},${text},${text},${dark},${dark},${weight},${box ? 3 : 1},${border},0,2,${side},${side},${bottom},1`;
}

const hex = (value: number) => Math.round(value).toString(16).toUpperCase().padStart(2, '0');
const grey = (value: number) => hex(value).repeat(3);

/** One event per word, with that word highlighted; together they last as long as the caption. */
function wordEvents(caption: DrawnCaption, white: TextWhite): (string | null)[] {
  const [red, green, blue] = HIGHLIGHT.map((share) => hex(share * WHITE[white]));
  const words = caption.lines.flat();
  const times = spreadOver(words, caption.startMs, caption.endMs);
  if (times.length < words.length) return [event(caption, plainLines(caption))];
  return times.map((time, lit) => {
    let at = -1;
    const text = caption.lines
      .map((line) =>
        line
          .map((word) => {
            at += 1;
            return at === lit ? `{\\c&H${blue}${green}${red}&}${escapeText(word)}{\\r}` : escapeText(word);
          })
          .join(' '),
      )
      .join('\\N');
    return event(time, text);
  });
}

const plainLines = ({ lines }: DrawnCaption) => lines.map((line) => escapeText(line.join(' '))).join('\\N');

/** Null when it would be shorter than the format's unit of a hundredth of a second. */
function event({ startMs, endMs }: Pick<DrawnCaption, 'startMs' | 'endMs'>, text: string): string | null {
  const [start, end] = [Math.round(startMs / 10), Math.round(endMs / 10)];
  return end > start ? `Dialogue: 0,${assTime(start)},${assTime(end)},caption,,0,0,0,,${text}` : null;
}

/** Formats hundredths of a second as `h:mm:ss.cc`. */
function assTime(hundredths: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(hundredths / 100);
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${two(hundredths % 100)}`;
}

/** Braces start overrides and a backslash starts a command; an invisible word joiner separates it from what follows. */
function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\u{2060}').replaceAll('{', '\\{').replaceAll('}', '\\}');
}
