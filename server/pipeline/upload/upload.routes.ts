import type { Server as TusServer } from '@tus/server';
import { uploadsApi } from '#common/api/uploads.ts';
import { AppError } from '#server/errors.ts';
import { optionalUser, requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppContext, type AppRouter } from '#server/http/context.ts';
import { signedIn } from '#server/http/route.ts';
import { CHECKSUM_ALGORITHMS, parseChecksum, type ChecksumScope } from './checksum.ts';
import type { CompleteUpload } from './complete-upload.ts';
import type { RawPut } from './raw-put.ts';
import { callerOrigin, readUploadUrl } from './upload-address.ts';
import type { UploadService } from './upload.service.ts';

export interface UploadRoutesDeps {
  readonly uploads: UploadService;
  readonly complete: CompleteUpload;
  readonly tus: TusServer;
  readonly rawPut: RawPut;
  readonly checksums: ChecksumScope;
  /** `PUBLIC_URL`; null when unset. */
  readonly publicUrl: string | null;
}

/** The upload calls of the API, and the address that receives the bytes. */
export function createUploadRoutes(deps: UploadRoutesDeps): AppRouter {
  const { uploads, complete } = deps;
  const router = createRouter();
  const origin = (ctx: AppContext) =>
    callerOrigin(
      { origin: ctx.get('Origin') || undefined, host: ctx.get('Host') || undefined, protocol: ctx.protocol },
      deps.publicUrl,
    );

  signedIn(router, uploadsApi.uploadUrl, ({ ctx, user, body }) => uploads.issue(user, body, origin(ctx)));

  signedIn(router, uploadsApi.uploadComplete, ({ ctx, user, body }) => {
    const hosts = [ctx.get('Host').toLowerCase()];
    if (deps.publicUrl !== null) hosts.push(new URL(deps.publicUrl).host);
    const uploadId = readUploadUrl(body.uploadUrl, hosts);
    if (uploadId === null) {
      throw new AppError('invalid_input', 'This upload address was not issued here.', {
        fields: { uploadUrl: 'This upload address was not issued here.' },
      });
    }
    return complete(user, { uploadId, fileName: body.fileName, fileSizeBytes: body.fileSize });
  });

  signedIn(router, uploadsApi.openUploads, ({ ctx, user }) => uploads.listOpen(user, origin(ctx)));

  signedIn(router, uploadsApi.discardUpload, async ({ user, params }) => {
    await uploads.discard(user, params.id);
    return { message: 'The upload was discarded.' };
  });

  addBytesRoute(router, deps);
  return router;
}

/** `/uploads/:token`: PUT takes a whole file; HEAD, PATCH and DELETE are tus 1.0, for the owner only. */
function addBytesRoute(router: AppRouter, { uploads, tus, rawPut, checksums }: UploadRoutesDeps): void {
  router.options(['/uploads', '/uploads/:token'], async (ctx) => {
    ctx.res.setHeader('Tus-Checksum-Algorithm', CHECKSUM_ALGORITHMS.join(','));
    ctx.respond = false;
    await tus.handle(ctx.req, ctx.res);
  });

  router.put('/uploads/:token', async (ctx) => {
    const user = await optionalUser(ctx);
    const token = ctx.params['token'] ?? '';
    // The specification calls this address a storage location: its 256 random bits are enough, and no cookie is needed.
    // Somebody who is signed in as another user is still refused.
    const upload = await (user ? uploads.owned(user, token) : uploads.byToken(token));
    // A body that was refused before it was read must not be read to its end.
    ctx.set('Connection', 'close');
    const { sizeBytes } = await rawPut(ctx.req, upload);
    ctx.remove('Connection');
    ctx.body = { sizeBytes };
  });

  router.register('/uploads/:token', ['HEAD', 'PATCH', 'DELETE'], async (ctx: AppContext & TokenParam) => {
    await uploads.owned(await requireUser(ctx), ctx.params['token'] ?? '');
    const version = ctx.get('Tus-Resumable');
    if (version !== '' && version !== TUS_VERSION) {
      ctx.set('Tus-Version', TUS_VERSION);
      throw new AppError('tus_version');
    }
    const checksum = parseChecksum(ctx.req.headers['upload-checksum']);
    if (checksum === 'invalid') throw new AppError('bad_request', 'The Upload-Checksum header is malformed.');
    ctx.respond = false;
    await checksums.run(checksum, () => tus.handle(ctx.req, ctx.res));
  });
}

const TUS_VERSION = '1.0.0';

interface TokenParam {
  readonly params: Readonly<Record<string, string>>;
}
