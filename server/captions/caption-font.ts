import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The font that captions are drawn with: Noto Sans Bold (SIL Open Font Licence), from its npm package. */
const FONT_FILE = '@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf';
export const FONT_FAMILY = 'Noto Sans';

/** Path of the font; null when the package is not installed. */
export function findCaptionFont(): string | null {
  try {
    return createRequire(path.join(process.cwd(), 'package.json')).resolve(FONT_FILE);
  } catch {
    return null;
  }
}

/** The metrics needed for drawing with a font; widths in em. */
export interface CaptionFont {
  readonly path: string;
  /** Whether the font has a glyph for this code point that is drawn correctly. */
  covers(codePoint: number): boolean;
  /** Width of a text on one line, without kerning. */
  widthEm(text: string): number;
  /** Line height that the renderer's font size refers to: ascender plus descender. */
  readonly lineEm: number;
}

/** Letters whose form depends on their neighbours: the packaged renderer orders them wrongly (seen in "हिन्दी"). */
const NEEDS_SHAPING = /\p{Script=Devanagari}/u;

/**
 * Reads the character map and the widths of a TrueType or OpenType font (OpenType specification: cmap formats 4 and 12,
 * hmtx).
 * @throws Error when the file is not such a font
 */
export async function readCaptionFont(file: string): Promise<CaptionFont> {
  const font = await readFile(file);
  const tables = tablesOf(font);
  const at = (name: string): number => {
    const offset = tables.get(name);
    if (offset === undefined) throw new Error(`the font has no table ${name}`);
    return offset;
  };
  const glyphs = readCharacterMap(font, at('cmap'));
  const unitsPerEm = font.readUInt16BE(at('head') + 18);
  const hhea = at('hhea');
  const metrics = font.readUInt16BE(hhea + 34);
  const hmtx = at('hmtx');
  const advance = (glyph: number) => font.readUInt16BE(hmtx + 4 * Math.min(glyph, metrics - 1));
  // The renderer measures lines by the Windows ascent and descent.
  const os2 = at('OS/2');
  const lineUnits = font.readUInt16BE(os2 + 74) + font.readUInt16BE(os2 + 76);
  return {
    path: file,
    covers: (codePoint) => glyphs.has(codePoint) && !NEEDS_SHAPING.test(String.fromCodePoint(codePoint)),
    widthEm: (text) =>
      Array.from(text).reduce((sum, char) => sum + advance(glyphs.get(char.codePointAt(0) ?? 0) ?? 0), 0) /
      unitsPerEm,
    lineEm: lineUnits / unitsPerEm,
  };
}

function tablesOf(font: Buffer): Map<string, number> {
  const count = font.readUInt16BE(4);
  return new Map(
    Array.from({ length: count }, (_, i) => {
      const record = 12 + 16 * i;
      return [font.toString('latin1', record, record + 4), font.readUInt32BE(record + 8)] as const;
    }),
  );
}

function readCharacterMap(font: Buffer, cmap: number): Map<number, number> {
  const glyphs = new Map<number, number>();
  const count = font.readUInt16BE(cmap + 2);
  for (let i = 0; i < count; i += 1) {
    const platform = font.readUInt16BE(cmap + 4 + 8 * i);
    // Platform 0 is Unicode and 3 is Windows; both are Unicode in the formats read here.
    if (platform !== 0 && platform !== 3) continue;
    const table = cmap + font.readUInt32BE(cmap + 8 + 8 * i);
    const format = font.readUInt16BE(table);
    if (format === 4) readSegments(font, table, glyphs);
    else if (format === 12) readGroups(font, table, glyphs);
  }
  return glyphs;
}

/** Format 4: segments of the first 65 536 characters. */
function readSegments(font: Buffer, table: number, glyphs: Map<number, number>): void {
  const doubled = font.readUInt16BE(table + 6);
  for (let i = 0; i < doubled; i += 2) {
    const end = font.readUInt16BE(table + 14 + i);
    const start = font.readUInt16BE(table + 16 + doubled + i);
    const delta = font.readUInt16BE(table + 16 + 2 * doubled + i);
    const rangeAt = table + 16 + 3 * doubled + i;
    const range = font.readUInt16BE(rangeAt);
    for (let code = start; code <= end && code !== 0xffff; code += 1) {
      const stored = range === 0 ? code : font.readUInt16BE(rangeAt + range + 2 * (code - start));
      const glyph = range !== 0 && stored === 0 ? 0 : (stored + delta) & 0xffff;
      if (glyph !== 0) glyphs.set(code, glyph);
    }
  }
}

/** Format 12: groups of any characters. */
function readGroups(font: Buffer, table: number, glyphs: Map<number, number>): void {
  const count = font.readUInt32BE(table + 12);
  for (let i = 0; i < count; i += 1) {
    const group = table + 16 + 12 * i;
    const [start, end, first] = [0, 4, 8].map((offset) => font.readUInt32BE(group + offset));
    for (let code = start ?? 0; code <= (end ?? -1); code += 1)
      glyphs.set(code, (first ?? 0) + code - (start ?? 0));
  }
}
