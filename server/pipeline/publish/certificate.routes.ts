import { certificatePath, certificatesApi, versionCertificatePath } from '#common/api/certificates.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter, type AppRouterContext } from '#server/http/context.ts';
import { anyone, signedIn } from '#server/http/route.ts';
import type { VideosService } from '#server/videos/videos.service.ts';
import type { CertificateService } from './certificate.service.ts';

export interface CertificateRoutesDeps {
  readonly videos: Pick<VideosService, 'owned' | 'versionOf'>;
  readonly certificates: CertificateService;
}

/** Certificates of a video and their reports for its owner, and the public key for everybody. */
export function createCertificateRoutes({ videos, certificates }: CertificateRoutesDeps): AppRouter {
  const router = createRouter();
  const mine = async (ctx: AppRouterContext) => videos.owned(await requireUser(ctx), ctx.params['id'] ?? '');

  router.get(certificatePath, async (ctx) => {
    const { id, currentVersion } = await mine(ctx);
    sendCertificate(ctx, id, await certificates.read(currentVersion ?? null));
  });

  router.get(versionCertificatePath, async (ctx) => {
    const video = await mine(ctx);
    const version = await videos.versionOf(video, ctx.params['versionId'] ?? '');
    sendCertificate(ctx, video.id, await certificates.read(version));
  });

  signedIn(router, certificatesApi.versionReport, async ({ user, params }) => {
    const video = await videos.owned(user, params.id);
    return certificates.reportOf(await videos.versionOf(video, params.versionId));
  });

  anyone(router, certificatesApi.key, async () => certificates.key);
  return router;
}

function sendCertificate(ctx: AppRouterContext, videoId: string, text: string): void {
  ctx.set('Content-Disposition', `attachment; filename="certificate-${videoId}.json"`);
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.type = 'application/json';
  // Bytes, not a value, because the signature fits exactly this text.
  ctx.body = Buffer.from(text, 'utf8');
}
