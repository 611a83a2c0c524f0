import { escapeHtml } from '#server/http/escape-html.ts';

type Json = Readonly<Record<string, unknown>>;

const INDENT = '  ';
/** Longer lists of values are shown as their type instead. */
const MOST_VALUES = 30;

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Writes a JSON schema the way people write types: names with their types, `?` after optional ones, named shapes as
 * links.
 * @returns HTML for a `pre` element
 */
export function schemaText(schema: unknown, indent = ''): string {
  if (!isJson(schema)) return 'any';
  if (typeof schema.$ref === 'string') return shapeLink(schema.$ref);
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return choices(schema);
  const either = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (either) return [...new Set(either.map((one: unknown) => schemaText(one, indent)))].join(' | ');
  if (schema.type === 'array') return listText(schema, indent);
  if (schema.type === 'object') return objectText(schema, indent);
  if (Array.isArray(schema.type))
    return schema.type.map((type: unknown) => escapeHtml(String(type))).join(' | ');
  return typeof schema.type === 'string' ? escapeHtml(schema.type) : 'any';
}

function shapeLink(reference: string): string {
  const name = escapeHtml(reference.split('/').at(-1) ?? '');
  return `<a href="#${name}">${name}</a>`;
}

const literal = (value: unknown): string => escapeHtml(JSON.stringify(value));

function choices({ enum: values, type }: Json): string {
  if (!Array.isArray(values)) return 'any';
  if (values.length > MOST_VALUES) return typeof type === 'string' ? escapeHtml(type) : 'string';
  return values.map(literal).join(' | ');
}

function listText({ items }: Json, indent: string): string {
  const item = schemaText(items, indent);
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}

function objectText(schema: Json, indent: string): string {
  const { properties, additionalProperties } = schema;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const inner = indent + INDENT;
  const lines = isJson(properties)
    ? Object.entries(properties).map(
        ([name, type]) =>
          `${inner}${escapeHtml(name)}${required.includes(name) ? '' : '?'}: ${schemaText(type, inner)}`,
      )
    : [];
  if (isJson(additionalProperties) && Object.keys(additionalProperties).length > 0)
    lines.push(`${inner}[name]: ${schemaText(additionalProperties, inner)}`);
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`;
}
