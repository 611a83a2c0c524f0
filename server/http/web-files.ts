import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { notFound } from '../errors.ts';
import type { AppContext, AppMiddleware } from './context.ts';
import { createNonce, pagePolicy } from './security-headers.ts';
import { isServicePath } from './service-paths.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.mp4': 'video/mp4',
  '.wasm': 'application/wasm',
};
const COMPRESSIBLE = new Set(['.html', '.js', '.css', '.json', '.svg', '.txt', '.webmanifest', '.wasm']);

// Each file is compressed once per process, so the best quality is affordable: 8 % smaller than quality 6.
const BROTLI_QUALITY = 11;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
type Coding = 'br' | 'gzip';

interface WebFile {
  readonly file: string;
  readonly sizeBytes: number;
  /** Names the file as it is; see `ETag`. */
  readonly tag: string;
  /** Compressed once, at the first request for it. */
  readonly coded: Map<Coding, Promise<Buffer>>;
}

/**
 * Serves the built pages of `folder`: only files that were there at start, found by their exact path, so
 * no request can name anything else. Files under /assets have a hash in their names and never change.
 * Every other path is the application itself (its own router shows the 404 page).
 */
export async function serveWebFiles(folder: string, publicUrl: string): Promise<AppMiddleware> {
  const files = await listFiles(folder);
  const page = await readFile(path.join(folder, 'index.html'), 'utf8').catch(() => null);

  return async (ctx, next) => {
    await next();
    if (ctx.body !== undefined || ctx.status !== 404 || isServicePath(ctx.path)) return;
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return;
    const found = files.get(ctx.path);
    if (found && ctx.path !== '/index.html') await sendFile(ctx, found);
    else if (hasFileName(ctx.path)) throw notFound();
    else sendPage(ctx, page, publicUrl);
  };
}

// "/assets/x.js", "/.env" and "/app.db" are files that do not exist, not pages of the application.
function hasFileName(rawPath: string): boolean {
  const urlPath = rawPath.replaceAll(/%2e/gi, '.');
  return urlPath.startsWith('/assets/') || /(^|\/)\.|\.[a-z0-9]{1,8}$/i.test(urlPath);
}

function sendPage(ctx: AppContext, page: string | null, publicUrl: string): void {
  if (page === null) throw notFound();
  const nonce = createNonce();
  ctx.set('Content-Security-Policy', pagePolicy(publicUrl, nonce));
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = page.replace('<head>', `<head>\n    <meta property="csp-nonce" nonce="${nonce}" />`);
}

async function sendFile(ctx: AppContext, found: WebFile): Promise<void> {
  const extension = path.extname(found.file);
  const hashed = ctx.path.startsWith('/assets/');
  ctx.set('Cache-Control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  ctx.set('Vary', 'Accept-Encoding');
  ctx.status = 200;
  ctx.type = TYPES[extension] ?? 'application/octet-stream';
  const wanted = COMPRESSIBLE.has(extension) ? bestCoding(ctx) : null;
  // A strong tag identifies bytes, and each encoding has different ones.
  ctx.set('ETag', `"${wanted === null ? found.tag : `${found.tag}-${wanted}`}"`);
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (wanted) {
    ctx.set('Content-Encoding', wanted);
    ctx.body = await compressed(found, wanted).catch(replaced);
  } else {
    await stat(found.file).catch(replaced);
    ctx.length = found.sizeBytes;
    ctx.body = createReadStream(found.file);
  }
}

/** A new build under a running server removes the old files; a missing file is no fault of the server. */
function replaced(): never {
  throw notFound();
}

// Clients list gzip first by habit; Brotli is the smaller of the two.
function bestCoding(ctx: AppContext): Coding | null {
  if (ctx.acceptsEncodings('br') === 'br') return 'br';
  return ctx.acceptsEncodings('gzip') === 'gzip' ? 'gzip' : null;
}

function compressed(found: WebFile, coding: Coding): Promise<Buffer> {
  const kept = found.coded.get(coding);
  if (kept) return kept;
  const made = readFile(found.file).then((data) =>
    coding === 'br'
      ? compressBrotli(data, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
      : compressGzip(data),
  );
  found.coded.set(coding, made);
  // A file that could not be read may be there again at the next request.
  made.catch(() => found.coded.delete(coding));
  return made;
}

async function listFiles(folder: string): Promise<Map<string, WebFile>> {
  const files = new Map<string, WebFile>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile() || entry.name.endsWith('.map')) continue;
    const file = path.join(entry.parentPath, entry.name);
    const { size, mtimeMs } = await stat(file);
    const urlPath = `/${path.relative(folder, file).split(path.sep).join('/')}`;
    const tag = `${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}`;
    files.set(urlPath, { file, sizeBytes: size, tag, coded: new Map() });
  }
  return files;
}
