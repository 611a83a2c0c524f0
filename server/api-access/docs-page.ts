import { createHash } from 'node:crypto';
import { z } from 'zod';
import { apiDocumentPath } from '#common/api/api-access.ts';
import { ERRORS } from '#common/errors.ts';
import type { OpenApiDocument, OpenApiOperation } from './build-openapi.ts';
import { escapeHtml } from '#server/http/escape-html.ts';
import { schemaText } from './schema-text.ts';

const STYLE = `
:root { color-scheme: light dark; --ground: light-dark(#f3f5f8, #0c0f1f); --raised: light-dark(#ffffff, #131831); --line: light-dark(#d3dae6, #272e52); --ink: light-dark(#171c45, #f1f2ee); --soft: light-dark(#434a73, #bcc3dc); --link: light-dark(#252c78, #f5ab35); }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; font: 1rem/1.55 system-ui, sans-serif; background: var(--ground); color: var(--ink); }
a { color: var(--link); } h1 { font-size: 1.9rem; margin: .5rem 0; } h2 { margin: 2.5rem 0 .5rem; } h2::first-letter { text-transform: uppercase; } h3 { margin: 1.25rem 0 .25rem; font-size: 1rem; }
nav a { display: inline-block; margin-right: 1rem; padding: .35rem 0; text-transform: capitalize; }
details { border-top: 1px solid var(--line); } summary { display: grid; grid-template-columns: 1rem 4.2rem minmax(0, 1fr); padding: .7rem 0; cursor: pointer; }
summary::before { content: '+' / ''; color: var(--soft); } details[open] > summary::before { content: '-' / ''; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; } pre { background: var(--raised); border: 1px solid var(--line); padding: 1rem; overflow: auto; border-radius: .5rem; white-space: pre-wrap; }
summary b { font: 600 .8rem/1.6 ui-monospace, monospace; } summary span { grid-column: 3; color: var(--soft); }
td, th { padding: .3rem 1rem .3rem 0; text-align: left; vertical-align: top; }
`;

/** Content security policy of the page: no script, no request, this one style sheet. */
export const DOCS_PAGE_CSP =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The API documentation for people: one HTML page without script or external files, made from the OpenAPI document. */
export function renderDocsPage(document: OpenApiDocument): string {
  const sections = document.tags.map(({ name }) => renderGroup(document, name));
  const links = document.tags.map(({ name }) => `<a href="#${escapeHtml(name)}">${escapeHtml(name)}</a>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)}</title><style>${STYLE}</style></head>
<body><main>
<p><a href="/">Back to the site</a></p>
<h1>${escapeHtml(document.info.title)}</h1>
<p>${withCode(document.info.description)}</p>
<p>Tokens are made in <a href="/account">Account</a>. For programs: <a href="${apiDocumentPath}">OpenAPI 3.1 document</a>. All times are ISO 8601 in UTC, all sizes bytes.</p>
<h2 id="example">From a broken clip to a mended one</h2>
<pre>${escapeHtml(exampleScript(document.servers[0]?.url ?? ''))}</pre>
<nav aria-label="Groups">${links.join('')}<a href="#errors">Errors</a><a href="#shapes">Shapes</a></nav>
${sections.join('\n')}
<h2 id="errors">Errors</h2>
<p>Each refusal has a status, a <code>code</code> that stays the same, a sentence for people and the <code>requestId</code> by which it is found in the log: <a href="#Error">Error</a>.</p>
<table><thead><tr><th>Status</th><th>Codes</th></tr></thead><tbody>${errorRows()}</tbody></table>
<h2 id="shapes">Shapes</h2>
${Object.entries(document.components.schemas).map(renderShape).join('\n')}
</main></body></html>
`;
}

/** The whole journey of a clip as a shell script with curl and jq. */
function exampleScript(url: string): string {
  return `AUTH="Authorization: Bearer $TOKEN"   # scopes read and write
API=${url}/api

# An address for the file, the file, and the start of its repair
URL=$(curl -sf -X POST -H "$AUTH" $API/videos/upload-url | jq -r .uploadUrl)
curl -sf -T clip.mp4 -H "$AUTH" -H "Content-Type: video/mp4" "$URL"
SIZE=$(wc -c < clip.mp4 | tr -d ' ')
ID=$(curl -sf -X POST -H "$AUTH" -H "Content-Type: application/json" $API/videos/upload-complete \\
  -d "{\\"fileName\\":\\"clip.mp4\\",\\"fileSize\\":\\"$SIZE\\",\\"uploadUrl\\":\\"$URL\\"}" | jq -r .videoId)

# Until it is "completed" or "failed"
while [ "$(curl -sf -H "$AUTH" $API/videos/$ID/status | jq -r .status)" = processing ]; do sleep 2; done

curl -sf -H "$AUTH" -o mended.mp4 $API/videos/$ID/download
curl -sf -H "$AUTH" -o report.json $API/videos/$ID/report`;
}

/** Table rows of error codes by status. */
function errorRows(): string {
  const byStatus = Object.entries(ERRORS).reduce((rows, [code, { status }]) => {
    return rows.set(status, [...(rows.get(status) ?? []), code]);
  }, new Map<number, string[]>());
  return [...byStatus]
    .toSorted(([a], [b]) => a - b)
    .map(
      ([status, codes]) =>
        `<tr><td>${status}</td><td>${codes.map((code) => `<code>${escapeHtml(code)}</code>`).join(', ')}</td></tr>`,
    )
    .join('');
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
    operation.parameters ? `<h3>Parameters</h3>${renderParameters(operation.parameters)}` : '',
    operation.requestBody ? `<h3>Body</h3>${renderContent(operation.requestBody)}` : '',
    `<h3>Answer</h3>${renderContent(answerOf(operation))}`,
  ];
  return (
    `<details id="${escapeHtml(operation.operationId)}"><summary><b>${method.toUpperCase()}</b> ` +
    `<code>${escapeHtml(path)}</code><span>${escapeHtml(operation.summary)} ${accessText(operation)}</span></summary>` +
    `${parts.join('')}</details>`
  );
}

/** The response of a successful call. */
function answerOf({ responses }: OpenApiOperation): unknown {
  return responses['200'] ?? responses['201'] ?? {};
}

function accessText(operation: OpenApiOperation): string {
  if (operation.security.length === 0) return 'Public.';
  return operation.security.some((entry) => 'token' in entry) ? '' : 'Only in the signed-in browser.';
}

function renderParameters(parameters: readonly Readonly<Record<string, unknown>>[]): string {
  const lines = parameters.map(
    ({ name, in: place, required, schema }) =>
      `${escapeHtml(String(name))}${required === true ? '' : '?'}: ${schemaText(schema)}   (${escapeHtml(String(place))})`,
  );
  return `<pre>${lines.join('\n')}</pre>`;
}

const media = z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) });

/** What is sent or answered: the type if it is not JSON, else its fields. */
function renderContent(value: unknown): string {
  const parsed = media.safeParse(value);
  if (!parsed.success) return '<p>Nothing.</p>';
  return Object.entries(parsed.data.content)
    .map(([type, { schema }]) =>
      type === 'application/json'
        ? `<pre>${schemaText(schema)}</pre>`
        : `<p><code>${escapeHtml(type)}</code></p>`,
    )
    .join('');
}

function renderShape([name, schema]: [string, unknown]): string {
  return `<details id="${escapeHtml(name)}"><summary><b>shape</b> <code>${escapeHtml(name)}</code></summary><pre>${schemaText(schema)}</pre></details>`;
}

/** Converts text with `code` marks to HTML. */
function withCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
