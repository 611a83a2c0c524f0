import { createHash } from 'node:crypto';
import { apiDocumentPath } from '#common/api/api-access.ts';
import type { OpenApiDocument, OpenApiOperation } from './build-openapi.ts';
import { escapeHtml } from '#server/http/escape-html.ts';

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 18%, Canvas); --soft: color-mix(in srgb, CanvasText 6%, Canvas); }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .5rem; } h2 { margin: 2.5rem 0 .5rem; text-transform: capitalize; }
nav a { display: inline-block; margin-right: 1rem; padding: .35rem 0; text-transform: capitalize; }
details { border-top: 1px solid var(--line); } summary { padding: .7rem 0; cursor: pointer; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; } pre { background: var(--soft); padding: 1rem; overflow: auto; border-radius: .5rem; }
summary b { display: inline-block; min-width: 4.2rem; font: 600 .8rem ui-monospace, monospace; }
summary span { display: block; margin-left: 4.2rem; opacity: .8; }
`;

/** Content security policy of the page: no script, no request, this one style sheet. */
export const DOCS_PAGE_CSP =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The API for people: one HTML page without script or outside files, made from the OpenAPI document. */
export function renderDocsPage(document: OpenApiDocument): string {
  const sections = document.tags.map(({ name }) => renderGroup(document, name));
  const links = document.tags.map(({ name }) => `<a href="#${escapeHtml(name)}">${escapeHtml(name)}</a>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)}</title><style>${STYLE}</style></head>
<body><main>
<h1>${escapeHtml(document.info.title)}</h1>
<p>${withCode(document.info.description)}</p>
<pre>curl -H "Authorization: Bearer $TOKEN" ${escapeHtml(document.servers[0]?.url ?? '')}/api/videos</pre>
<p>For programs: <a href="${apiDocumentPath}">OpenAPI 3.1 document</a>. All times are ISO 8601 in UTC, all sizes bytes.</p>
<nav aria-label="Groups">${links.join('')}</nav>
${sections.join('\n')}
<h2 id="shapes">Shapes</h2>
${Object.entries(document.components.schemas).map(renderShape).join('\n')}
</main></body></html>
`;
}

function renderGroup(document: OpenApiDocument, group: string): string {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(group))
      .map(([method, operation]) => renderCall(method, path, operation)),
  );
  return `<h2 id="${escapeHtml(group)}">${escapeHtml(group)}</h2>\n${calls.join('\n')}`;
}

function renderCall(method: string, path: string, operation: OpenApiOperation): string {
  const parts = [
    operation.parameters ? `<p>Parameters</p>${renderJson(operation.parameters)}` : '',
    operation.requestBody ? `<p>Body</p>${renderJson(operation.requestBody)}` : '',
    `<p>Answer</p>${renderJson(answerOf(operation))}`,
  ];
  return (
    `<details id="${escapeHtml(operation.operationId)}"><summary><b>${method.toUpperCase()}</b> ` +
    `<code>${escapeHtml(path)}</code><span>${escapeHtml(operation.summary)} ${accessText(operation)}</span></summary>` +
    `${parts.join('')}</details>`
  );
}

/** What a call that succeeded answers. */
function answerOf({ responses }: OpenApiOperation): unknown {
  return responses['200'] ?? responses['201'] ?? {};
}

function accessText(operation: OpenApiOperation): string {
  if (operation.security.length === 0) return 'Public.';
  return operation.security.some((entry) => 'token' in entry) ? '' : 'Only in the signed-in browser.';
}

function renderShape([name, schema]: [string, unknown]): string {
  return `<details><summary><code>${escapeHtml(name)}</code></summary>${renderJson(schema)}</details>`;
}

function renderJson(value: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre>`;
}

/** Text with `code` marks as HTML. */
function withCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
