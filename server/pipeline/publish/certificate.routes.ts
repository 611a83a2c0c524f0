import { certificatePath, certificatesApi } from '#common/api/certificates.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { anyone } from '#server/http/route.ts';
import type { VideosService } from '#server/videos/videos.service.ts';
import type { CertificateService } from './certificate.service.ts';

export interface CertificateRoutesDeps {
  readonly videos: Pick<VideosService, 'owned'>;
  readonly certificates: CertificateService;
}

/** The certificate of a video for its owner, and the public key for everybody. */
export function createCertificateRoutes({ videos, certificates }: CertificateRoutesDeps): AppRouter {
  const router = createRouter();
  router.get(certificatePath, async (ctx) => {
    const video = await videos.owned(await requireUser(ctx), ctx.params['id'] ?? '');
    const text = await certificates.read(video.currentVersion ?? null);
    ctx.set('Content-Disposition', `attachment; filename="certificate-${video.id}.json"`);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.type = 'application/json';
    // Bytes, not a value, because the signature fits exactly this text.
    ctx.body = Buffer.from(text, 'utf8');
  });
  anyone(router, certificatesApi.key, async () => certificates.key);
  return router;
}
