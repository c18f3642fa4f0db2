/** Every operation tells in the OpenAPI document that it answers 400 to what it cannot read. */
import { expect, it } from 'vitest';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';

it('lists 400 for each operation that answers it', async () => {
  await using service = await fakeService();
  const { paths } = openApiDocument() as { paths: Record<string, Record<string, { responses: object }>> };
  for (const [name, { method, path }] of Object.entries(OPERATIONS)) {
    const { status } = await ask(service, { method, path: path.replace(/\{\w+\}/, 'x_1'), body: '{' });
    if (status !== 400) continue;
    expect(paths[path]?.[method.toLowerCase()]?.responses, name).toHaveProperty('400');
  }
});
