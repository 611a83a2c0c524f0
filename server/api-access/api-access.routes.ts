import { apiAccessApi, apiDocsPath, apiDocumentPath } from '#common/api/api-access.ts';
import { requireSession } from '#server/http/require-session.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { signedIn } from '#server/http/route.ts';
import { buildOpenApi } from './build-openapi.ts';
import { DOCS_PAGE_CSP, renderDocsPage } from './docs-page.ts';
import { toApiTokenDto } from './tokens.presenter.ts';
import type { TokensService } from './tokens.service.ts';

export interface ApiAccessRoutesDeps {
  readonly tokens: TokensService;
  /** Address of the service without a path, stated in the API document. */
  readonly publicUrl: string;
  /** Version of the product, stated in the API document. */
  readonly version: string;
}

/** `/api/tokens` for signed-in users, and the public description of the API. */
export function createApiAccessRoutes({ tokens, publicUrl, version }: ApiAccessRoutesDeps): AppRouter {
  const router = createRouter();
  const document = buildOpenApi(publicUrl, version);
  const documentText = JSON.stringify(document);
  const page = renderDocsPage(document);

  signedIn(router, apiAccessApi.list, async ({ ctx, user }) => {
    await requireSession(ctx);
    return (await tokens.list(user.id)).map(toApiTokenDto);
  });

  signedIn(router, apiAccessApi.create, async ({ ctx, user, body }) => {
    await requireSession(ctx);
    const { token, row } = await tokens.create(user, body);
    return { token, details: toApiTokenDto(row) };
  });

  signedIn(router, apiAccessApi.revoke, async ({ ctx, user, params }) => {
    await requireSession(ctx);
    await tokens.revoke(user.id, params.id);
    return { message: 'The token no longer works.' };
  });

  router.get(apiDocumentPath, async (ctx) => {
    ctx.type = 'application/json; charset=utf-8';
    ctx.body = documentText;
  });

  router.get(apiDocsPath, async (ctx) => {
    ctx.set('Content-Security-Policy', DOCS_PAGE_CSP);
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = page;
  });

  return router;
}
