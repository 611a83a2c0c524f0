import { readdirSync } from 'node:fs';
import path from 'node:path';
import Router from '@koa/router';
import { describe, expect, it, vi } from 'vitest';
import { ERRORS } from '#common/errors.ts';
import { startTestApp } from '#server/test/test-app.ts';
import { buildOpenApi } from './build-openapi.ts';
import { renderDocsPage, DOCS_PAGE_CSP } from './docs-page.ts';
import { allOperations, fileOperations } from './operations.ts';

const document = buildOpenApi('https://clips.example', '9.9.9');
const calls = Object.entries(document.paths).flatMap(([address, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ address, method, operation })),
);

describe('the list of operations', () => {
  it('contains every endpoint object of the shared contract', async () => {
    const folder = path.join(import.meta.dirname, '../../common/api');
    const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
    const listed = new Set(allOperations().map(({ endpoint }) => endpoint));
    const missing: string[] = [];
    for (const file of files) {
      const module: Record<string, unknown> = await import(path.join(folder, file));
      for (const [name, group] of Object.entries(module)) {
        if (!name.endsWith('Api') || typeof group !== 'object' || group === null) continue;
        for (const [call, endpoint] of Object.entries(group)) {
          if (![...listed].includes(endpoint)) missing.push(`${name}.${call}`);
        }
      }
    }
    expect(missing).toEqual([]);
  });

  it('names each operation once', () => {
    const ids = [...allOperations(), ...fileOperations()].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('the OpenAPI document', () => {
  it('has every operation at its path, with parameters in braces', () => {
    expect(calls).toHaveLength(allOperations().length + fileOperations().length);
    expect(document.paths['/api/videos/{id}/status']?.get?.operationId).toBe('videos.status');
    expect(calls.filter(({ address }) => address.includes(':'))).toEqual([]);
  });

  it('contains every address that the server answers, except those of probes, pages and the storage', async () => {
    const answered = new Set<string>();
    const collect = vi.spyOn(Router.prototype, 'routes').mockImplementation(function (this: Router) {
      for (const { methods, path: address } of this.stack)
        for (const method of methods) if (method !== 'HEAD') answered.add(`${method} ${String(address)}`);
      return async (_ctx, next) => next();
    });
    const app = await startTestApp({ engine: 'sqlite' });
    await app.stop();
    collect.mockRestore();
    const listed = new Set([
      ...allOperations().map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`),
      ...fileOperations().map(({ method, path: address }) => `${method} ${address}`),
    ]);
    const others = [/ \/(healthz|readyz)$/, / \/uploads/, / \/api\/(docs|openapi\.json|dev\/outbox)$/];
    const missing = [...answered].filter(
      (call) => !listed.has(call) && !others.some((one) => one.test(call)),
    );
    expect(missing).toEqual([]);
    expect([...listed].filter((call) => !answered.has(call))).toEqual([]);
  });

  it('says 201 where something is created, and the name of the cookie for https', () => {
    const made = calls.filter(({ operation }) => '201' in operation.responses);
    expect(made.map(({ operation }) => operation.operationId)).toEqual(['auth.register', 'ideas.create']);
    const schemes = buildOpenApi('https://clips.test', '1').components.securitySchemes;
    expect(schemes['session']).toMatchObject({ name: '__Host-sid' });
  });

  it('describes every parameter of every path as required', () => {
    for (const { address, operation } of calls) {
      const places = [...address.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = (operation.parameters ?? []).filter((one) => one.in === 'path');
      expect(described.map((one) => one.name)).toEqual(places);
      expect(described.every((one) => one.required === true)).toBe(true);
    }
  });

  it('refers only to parts that exist', () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, target]) => target ?? '');
    expect(references.length).toBeGreaterThan(50);
    for (const reference of new Set(references)) {
      let part: unknown = document;
      for (const key of reference.split('/')) {
        part =
          typeof part === 'object' && part !== null
            ? Object.entries(part).find(([k]) => k === key)?.[1]
            : null;
      }
      expect(part, reference).toBeTypeOf('object');
    }
    expect(text).not.toContain('$defs');
    expect(text).not.toContain('"$schema"');
  });

  it('states the scope that the method needs', () => {
    expect(document.paths['/api/videos']?.get?.security).toEqual([{ session: [] }, { token: ['read'] }]);
    expect(document.paths['/api/videos/{id}']?.delete?.security).toEqual([
      { session: [] },
      { token: ['write'] },
    ]);
    expect(document.paths['/api/tokens']?.post?.security).toEqual([{ session: [] }]);
    expect(document.paths['/api/auth/login']?.post?.security).toEqual([]);
  });

  it('takes bodies from the schemas that check them', () => {
    const rename = document.paths['/api/videos/{id}/rename']?.put;
    expect(rename?.requestBody).toMatchObject({
      required: true,
      content: {
        'application/json': {
          schema: { required: ['fileName'], properties: { fileName: { minLength: 1, maxLength: 255 } } },
        },
      },
    });
    expect(document.paths['/api/videos/upload-url']?.post?.requestBody).toMatchObject({ required: false });
  });

  it('lists every error code', () => {
    expect(document.components.schemas.Error).toMatchObject({
      properties: { code: { enum: Object.keys(ERRORS) } },
    });
  });
});

describe('the page for people', () => {
  const page = renderDocsPage(document);

  it('shows every call', () => {
    for (const { operation } of calls) expect(page).toContain(`id="${operation.operationId}"`);
  });

  it('uses only existing calls in its example', () => {
    const example = /<pre>(AUTH=[^]*?)<\/pre>/.exec(page)?.[1] ?? '';
    const named = [...example.matchAll(/\$API(\/[\w/$-]+)/g)].map(([, one = '']) =>
      one.replace('$ID', '{id}'),
    );
    expect(named).toEqual([
      '/videos/upload-url',
      '/videos/upload-complete',
      '/videos/{id}/status',
      '/videos/{id}/download',
      '/videos/{id}/report',
    ]);
    for (const one of named) expect(document.paths).toHaveProperty([`/api${one}`]);
  });

  it('shows the fields of a call instead of the schema, and links to the shapes that it names', () => {
    const status = /<details id="videos.status">[^]*?<\/details>/.exec(page)?.[0];
    expect(status).toContain('<a href="#VideoStatus">VideoStatus</a>');
    const rename = /<details id="videos.rename">[^]*?<\/details>/.exec(page)?.[0];
    expect(rename).toContain('{\n  fileName: string\n}');
    expect(page).not.toContain('&quot;properties&quot;');
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, target]) => `id="${target}"`);
    for (const target of links) expect(page).toContain(target);
  });

  it('loads and runs nothing', () => {
    expect(page).not.toMatch(/<script|<link|<img|<iframe| src=| on\w+=|@import|url\(/i);
    expect(DOCS_PAGE_CSP).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='/);
  });

  it('escapes what stands in schemas', () => {
    const hostile = buildOpenApi('https://x.example/<script>"', '1');
    expect(renderDocsPage(hostile)).not.toContain('<script>');
  });
});
