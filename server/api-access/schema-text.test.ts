import { describe, expect, it } from 'vitest';
import { schemaText } from './schema-text.ts';

describe('schemaText', () => {
  it.each([
    [{ type: 'string' }, 'string'],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'number | null'],
    [{ enum: ['a', 'b'] }, '&quot;a&quot; | &quot;b&quot;'],
    [{ const: 5 }, '5'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, '(string | null)[]'],
    [{ type: 'array', items: { $ref: '#/components/schemas/Video' } }, '<a href="#Video">Video</a>[]'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{\n  [name]: number\n}'],
    [{}, 'any'],
  ])('writes %j as %s', (schema, text) => {
    expect(schemaText(schema)).toBe(text);
  });

  it('indents nested fields, and marks optional ones', () => {
    const inner = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] };
    const schema = { type: 'object', properties: { a: inner, c: { type: 'integer' } }, required: ['a'] };
    expect(schemaText(schema)).toBe('{\n  a: {\n    b: string\n  }\n  c?: integer\n}');
  });

  it('escapes names', () => {
    expect(schemaText({ type: 'object', properties: { '<b>': {} } })).toContain('&lt;b&gt;');
  });
});
