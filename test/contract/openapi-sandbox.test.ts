import { describe, expect, it } from 'vitest';
import { openApiDocument, sandboxOpenApiDocument } from '../../src/contract/openapi/document.ts';
import { ADMIN_OPERATIONS } from '../../src/contract/sandbox/admin.ts';
import { TRANSFERS } from '../../src/contract/sandbox/snapshots.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { ask } from '../support/sandbox-http.ts';

type Node = Record<string, Record<string, Record<string, unknown>>>;

const document = sandboxOpenApiDocument('1.2.3');

describe('the document of the control surface', () => {
  it('has every operation once, under the first word of its path', () => {
    const told = Object.entries(document['paths'] as Node).flatMap(([path, item]) =>
      Object.entries(item).map(([method, row]) => ({ name: row['operationId'], route: `${method} ${path}`, row })),
    );
    const expected = Object.entries({ ...ADMIN_OPERATIONS, ...TRANSFERS }).map(([name, { method, path }]) => ({
      name,
      route: `${method.toLowerCase()} ${path}`,
    }));
    expect(told.map(({ name, route }) => ({ name, route })).sort(byName)).toEqual(expected.sort(byName));
    for (const { route, row } of told) expect(row['tags']).toEqual([/ \/(\w+)/.exec(route)?.[1]]);
  });

  it('tells files by their type, both ways', () => {
    const paths = document['paths'] as unknown as Record<string, Record<string, Record<string, unknown>>>;
    const file = { content: { 'application/octet-stream': { schema: { type: 'string' } } } };
    expect(paths['/export']?.['get']?.['responses']).toMatchObject({ 200: file });
    expect(paths['/import']?.['post']).toMatchObject({ requestBody: { required: true, ...file } });
  });
});

describe('served', () => {
  it('are both documents, to whoever has the token', async () => {
    await using sandbox = await startSandbox({ version: '1.2.3' });
    const of = (path: string, headers = {}) => ask(sandbox, { path: `/_sandbox/v1/${path}`, headers });
    expect((await of('openapi.json')).json).toEqual(openApiDocument());
    expect((await of('openapi-sandbox.json')).json).toEqual(document);
    expect((await of('openapi.json', { authorization: undefined })).status).toBe(401);
  });
});

function byName(a: { name: unknown }, b: { name: unknown }): number {
  return String(a.name) < String(b.name) ? -1 : 1;
}
