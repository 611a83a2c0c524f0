import { z } from 'zod';
import { draftDto } from '#common/api/drafts.ts';
import { ideaDto, leaderDto } from '#common/api/ideas.ts';
import { quickFixesDto } from '#common/api/quick-fixes.ts';
import { storylineDto } from '#common/api/storyline.ts';
import { statusDto, videoDto } from '#common/api/videos.ts';
import { ERRORS, errorBody, errorCode } from '#common/errors.ts';
import { repairReport } from '#common/report.ts';
import { sessionCookieName } from '#server/http/session.ts';
import { allOperations, fileOperations, type Access, type Operation } from './operations.ts';

type Json = Record<string, unknown>;

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Json>;
    readonly responses: Readonly<Json>;
    readonly securitySchemes: Readonly<Json>;
  };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters?: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
  readonly security: readonly Json[];
}

const DESCRIPTION =
  'Every call of the web client, open to programs. Send a personal access token in the header ' +
  '`Authorization: Bearer pat_…`. A token needs the scope `read` for GET and `write` for everything else. ' +
  'Send a file with one PUT to the `uploadUrl` that `uploads.uploadUrl` answers (with the same header), ' +
  'then call `uploads.uploadComplete`.';

/** Shared shapes that have their own name in the document. */
const NAMED: Readonly<Record<string, z.ZodType>> = {
  Video: videoDto,
  VideoStatus: statusDto,
  RepairReport: repairReport,
  Draft: draftDto,
  Storyline: storylineDto,
  QuickFixes: quickFixesDto,
  Idea: ideaDto,
  Leader: leaderDto,
  Error: errorBody,
};

/**
 * Builds the OpenAPI 3.1 document of all calls from the endpoint objects in `common/api`.
 * @param publicUrl address of the service, without a path
 */
export function buildOpenApi(publicUrl: string, version: string): OpenApiDocument {
  const names = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) names.add(schema, { id });
  const schemas: Json = {};
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  const add = (path: string, method: string, operation: OpenApiOperation) => {
    (paths[openPath(path)] ??= {})[method.toLowerCase()] = operation;
  };
  const output = (schema: z.ZodType) => toSchema(schema, 'output', names, schemas);
  const errors = { default: { $ref: '#/components/responses/Error' } };

  output(errorBody);
  for (const { id, group, access, endpoint } of allOperations()) {
    const { method, path, summary, response } = endpoint;
    add(path, method, {
      operationId: id,
      tags: [group],
      summary,
      ...parametersOf(endpoint),
      ...bodyOf(endpoint),
      responses: {
        [endpoint.status ?? 200]: {
          description: 'Done.',
          content: { 'application/json': { schema: output(response) } },
        },
        ...errors,
      },
      security: securityOf(access, method),
    });
  }
  for (const { id, group, access, method, path, summary, contentType, query } of fileOperations()) {
    add(path, method, {
      operationId: id,
      tags: [group],
      summary,
      ...parametersOf({ path, query }),
      responses: {
        '200': { description: 'The file.', content: { [contentType]: { schema: {} } } },
        ...errors,
      },
      security: securityOf(access, method),
    });
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Reelmend API', version, description: DESCRIPTION },
    servers: [{ url: publicUrl }],
    tags: [...new Set(allOperations().map(({ group }) => group))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      responses: { Error: errorResponse() },
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: sessionCookieName(publicUrl.startsWith('https:')) },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A personal access token (plan Creator Pro+).',
        },
      },
    },
  };
}

/** `/api/videos/:id` -> `/api/videos/{id}`. */
function openPath(path: string): string {
  return path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
}

function securityOf(access: Access, method: string): Json[] {
  if (access === 'public') return [];
  const scope = method === 'GET' ? 'read' : 'write';
  return access === 'session' ? [{ session: [] }] : [{ session: [] }, { token: [scope] }];
}

/** One response for all refusals, because every call uses the same table of statuses and codes. */
function errorResponse(): Json {
  const all = Object.values(ERRORS).map(({ status }): number => status);
  const statuses = [...new Set(all)].toSorted((a, b) => a - b);
  const codesOf = (status: number) =>
    Object.entries(ERRORS)
      .filter(([, error]) => error.status === status)
      .map(([code]) => `\`${code}\``)
      .join(', ');
  return {
    description: `Refused or failed. Status and codes: ${statuses.map((s) => `${s} ${codesOf(s)}`).join('; ')}.`,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

function parametersOf(endpoint: Pick<Operation['endpoint'], 'path' | 'params' | 'query'>): {
  parameters?: Json[];
} {
  const pathSchemas = endpoint.params ? propertiesOf(toSchema(endpoint.params, 'input')) : {};
  const inPath = [...endpoint.path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: pathSchemas[name] ?? { type: 'string' },
  }));
  const query: Json = endpoint.query ? toSchema(endpoint.query, 'input') : {};
  const required = Array.isArray(query.required) ? query.required : [];
  const inQuery = Object.entries(propertiesOf(query)).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
  const parameters = [...inPath, ...inQuery];
  return parameters.length > 0 ? { parameters } : {};
}

function bodyOf({ body }: Operation['endpoint']): { requestBody?: Json } {
  if (!body) return {};
  return {
    requestBody: {
      required: !body.safeParse(undefined).success,
      content: { 'application/json': { schema: toSchema(body, 'input') } },
    },
  };
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function propertiesOf(schema: Json): Json {
  return isJson(schema.properties) ? schema.properties : {};
}

/** JSON Schema of one zod schema; named shapes are moved to `named` and referenced. */
function toSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  names?: z.core.$ZodRegistry<{ id: string }>,
  named: Json = {},
): Json {
  const made: Json = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    ...(names ? { metadata: names } : {}),
    override({ zodSchema, jsonSchema }) {
      // Answers may gain fields, and a client must not refuse a field it does not know yet.
      if (io === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      // A custom check has no schema of its own, but the codes are known.
      if (zodSchema === errorCode) Object.assign(jsonSchema, { type: 'string', enum: Object.keys(ERRORS) });
    },
  });
  const { $schema: _dialect, $defs, ...rest } = relocate(made);
  if (isJson($defs)) Object.assign(named, $defs);
  const { id, ...shape } = rest;
  if (typeof id !== 'string') return rest;
  named[id] = shape;
  return { $ref: `#/components/schemas/${id}` };
}

/** Points references at the document's component list. */
function relocate(value: Json): Json {
  const text = JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/');
  const parsed: unknown = JSON.parse(text);
  return isJson(parsed) ? parsed : {};
}
