/** The store in a database whose own language orders and compares texts otherwise than SQLite does. */
import { expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';
import { openAccount } from '../support/test-store.ts';

const LABELS = ['Ärger', 'ärger', 'Zoo', 'apfel', 'Apfel', 'a_b', 'A%b'];

it.skipIf(missing() !== undefined)('finds and orders the same in an English database as in SQLite', async () => {
  const found: unknown[] = [];
  for (const open of [undefined, openAccount] as const) {
    await using service = await fakeService(
      open === undefined ? {} : { open: (request, account) => open(request, account, { locale: 'en-US' }) },
    );
    const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
    for (const label of LABELS)
      expect(
        (
          await ask(service, {
            method: 'POST',
            path: '/cards',
            body: { bin_id, amount: 1, label, metadata: { Name: label } },
          })
        ).status,
      ).toBe(201);
    const search = async (q: string) => {
      const { json } = await ask(service, { path: `/_sandbox/v1/cards?q=${encodeURIComponent(q)}` });
      return json.data.map(({ label }: { label: string }) => label).sort();
    };
    const asked = ['Ä', 'ä', 'APF', 'zoo', 'a_', '%', 'Name=Ärger', 'name=zoo'];
    found.push(await Promise.all(asked.map(async q => [q, await search(q)])));
  }
  expect(found[1]).toEqual(found[0]);
  expect(found[0]).toContainEqual(['Ä', ['Ärger']]);
});
