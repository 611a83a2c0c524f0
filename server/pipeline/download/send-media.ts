import type { AppContext as Context } from '#server/http/context.ts';
import { AppError } from '#server/errors.ts';
import type { MediaStorage, StoredFile } from '#server/pipeline/storage/media-storage.ts';
import { entityTag, matchesAny, parseRange, rangeApplies } from './byte-range.ts';

/** A reader that takes no byte for this long has gone; a player that only pauses asks again. */
const STALLED_READER_MS = 5 * 60_000;

/**
 * None of the bytes may run, whatever they are. The origin is kept, because a browser that shows the video as a page of
 * its own fetches it again from inside that page and would otherwise refuse it.
 */
const MEDIA_POLICY = "default-src 'none'; media-src 'self'; img-src 'self'; sandbox allow-same-origin";

export interface MediaAnswer {
  readonly object: StoredFile;
  readonly type: string;
  /** File name of a download; null shows the content in place. */
  readonly downloadName: string | null;
}

/**
 * Answers GET or HEAD with a stored object: one range, entity tag, conditions. We set the type, and the content is
 * never run as a page.
 * @throws AppError `forbidden_origin` when another site embeds it, `not_found` when the bytes are gone
 */
export async function sendMedia(ctx: Context, storage: MediaStorage, answer: MediaAnswer): Promise<void> {
  if (ctx.get('Sec-Fetch-Site') === 'cross-site' && ctx.get('Sec-Fetch-Mode') !== 'navigate') {
    throw new AppError('forbidden_origin');
  }
  const { sha256, sizeBytes } = answer.object;
  const tag = entityTag(sha256);
  ctx.set({
    ETag: tag,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, max-age=0, must-revalidate',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Content-Security-Policy': MEDIA_POLICY,
  });
  if (answer.downloadName !== null) {
    ctx.set('Content-Disposition', `attachment; filename="${answer.downloadName}"`);
  }
  if (matchesAny(header(ctx, 'If-None-Match'), tag)) {
    ctx.status = 304;
    return;
  }
  const wanted = rangeApplies(header(ctx, 'If-Range'), tag)
    ? parseRange(header(ctx, 'Range'), sizeBytes)
    : ({ kind: 'whole' } as const);
  if (wanted.kind === 'unsatisfiable') {
    ctx.status = 416;
    ctx.set('Content-Range', `bytes */${sizeBytes}`);
    ctx.remove('Content-Disposition');
    ctx.body = '';
    return;
  }
  const range = wanted.kind === 'part' ? wanted.range : null;
  const lengthBytes = range ? range.end - range.start + 1 : sizeBytes;
  ctx.type = answer.type;
  ctx.status = range ? 206 : 200;
  if (range) ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
  if (ctx.method === 'HEAD') {
    ctx.length = lengthBytes;
    return;
  }
  ctx.req.socket.setTimeout(STALLED_READER_MS);
  // Koa destroys the stream, and with it the file handle, when the answer ends or the reader goes away.
  ctx.body = await storage.open(sha256, range ?? undefined);
  ctx.length = lengthBytes;
}

/** Sends the SHA-256 of the whole object, in hexadecimal and as `Repr-Digest` (RFC 9530). */
export function setDigest(ctx: Context, sha256: string): void {
  ctx.set('X-Content-SHA256', sha256);
  ctx.set('Repr-Digest', `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`);
}

function header(ctx: Context, name: string): string | undefined {
  return ctx.get(name) || undefined;
}
