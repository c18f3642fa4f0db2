/** Facts that only the rows know; what is marked, named twice or points nowhere is the judges' (test/contract/judges). */
import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../src/contract/events.ts';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { REFUSALS } from '../../src/contract/refusals.ts';

type Node = Record<string, unknown>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

const document = openApiDocument();

/** Every object and array of the document with its place. */
function* nodes(value: unknown = document, place = '#'): Generator<readonly [place: string, node: Node]> {
  if (!isNode(value)) return;
  yield [place, value];
  for (const [key, part] of Object.entries(value)) {
    yield* nodes(part, `${place}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

function at(reference: string): unknown {
  const keys = reference
    .slice(2)
    .split('/')
    .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce<unknown>((value, key) => (isNode(value) ? value[key] : undefined), document);
}

const resolved = (node: Node): Node => (typeof node['$ref'] === 'string' ? (at(node['$ref']) as Node) : node);
const child = (node: unknown, ...keys: string[]) =>
  keys.reduce<unknown>((value, key) => (isNode(value) ? resolved(value)[key] : undefined), node) as Node;

/** Path items and webhooks, as method and operation. */
const operations = [
  ...Object.entries(document['paths'] as Node).flatMap(([path, item]) =>
    Object.entries(item as Node).map(([method, row]) => ({
      route: `${method.toUpperCase()} ${path}`,
      row: row as Node,
    })),
  ),
  ...Object.entries(document['webhooks'] as Node).map(([name, item]) => ({ route: name, row: child(item, 'post') })),
];
const operationOf = (name: string) => operations.find(({ row }) => row['operationId'] === name)?.row as Node;
const schema = (name: string) => at(`#/components/schemas/${name}`) as Node;

describe('operations', () => {
  it('are those of the contract, with its routes and names, and no name twice', () => {
    const expected = Object.entries(OPERATIONS).map(([name, { method, path }]) => `${method} ${path} ${name}`);
    const found = operations.slice(0, expected.length).map(({ route, row }) => `${route} ${row['operationId']}`);
    expect([...found].sort()).toEqual([...expected].sort());
    const ids = operations.map(({ row }) => row['operationId']);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('declare the errors of their row and those anyone can meet, under the right status', () => {
    for (const [name, row] of Object.entries(OPERATIONS)) {
      const answers = operationOf(name)['responses'] as Node;
      const ids = Object.entries(answers).flatMap(([status, node]) =>
        ((resolved(node as Node)['x-error-ids'] ?? []) as string[]).map(id => `${status} ${id}`),
      );
      const fails = 'fails' in row ? row.fails : [];
      const everywhere = [
        'unauthorized',
        'forbidden',
        'environment_mismatch',
        'rate_limited',
        'internal_error',
      ] as const;
      for (const id of [...everywhere, 'service_unavailable' as const, ...fails]) {
        expect(ids, name).toContain(`${REFUSALS[id].status} ${id}`);
      }
      expect(ids.includes('422 idempotency_key_reused'), name).toBe(row.method === 'POST');
      expect(ids.includes('413 payload_too_large'), name).toBe('body' in row);
      expect(Object.keys(answers), name).toContain(String(row.returns.status));
    }
  });
});

describe('webhooks', () => {
  it('are the twelve events, signed, with the object after the change', () => {
    expect(Object.keys(document['webhooks'] as Node)).toEqual(Object.keys(EVENTS));
    for (const name of Object.keys(EVENTS)) {
      const row = operationOf(`events.${name}`);
      const headers = (row['parameters'] as Node[]).map(parameter => `${parameter['name']} ${parameter['required']}`);
      expect(headers[0], name).toBe('X-Webhook-Signature true');
      const body = child(row, 'requestBody', 'content', 'application/json', 'schema');
      expect(Object.keys(body['properties'] as Node).sort(), name).toEqual(['created_at', 'data', 'id', 'type']);
      expect(child(body, 'properties', 'type')['const'], name).toBe(name);
      expect(row['security'], name).toEqual([]);
    }
  });
});

describe('schemas', () => {
  it('mark what is secret, and name the card number as it travels', () => {
    const secret = [...nodes()]
      .filter(([, node]) => node['x-secret'] === true)
      .map(([place]) => place.split('/').at(-1));
    expect(new Set(secret)).toEqual(new Set(['bearer', 'pan', 'cvv', 'otp', 'secret']));
    expect(Object.keys(schema('CardDetails')['properties'] as Node)).toEqual([
      'card_id',
      'pan',
      'cvv',
      'exp_month',
      'exp_year',
    ]);
  });
});
