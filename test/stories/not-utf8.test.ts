/** A text file in another encoding is refused with its line; a byte order mark changes nothing. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { world } from '../support/world.ts';

const POLICY = `version: 1
rules:
  - { name: caf, cards: { label: "café" }, when: { balance: "> 1.00" } }
`;
const FLEET = `version: 1
fleet: ads
caps: { per_apply: 10.00, cards: 5 }
cards:
  one: { amount: 5.00, label: "café" }
`;
const ACCOUNTS = `version: 1
rules:
  - { merchant: "café*", account: Expenses:Meals }
`;
const BODY = '{\n"label": "café",\n"amount": 5}\n';

const CREATES = 'bin_id,amount,label\r\nbin_1,5,"Müller, Köln"\r\n\r\n';

const FILES = [
  ['policy.yaml', POLICY, 'policy check policy.yaml --fail-on none'],
  ['cards.fleet.yaml', FLEET, 'fleet validate'],
  ['accounts.yaml', ACCOUNTS, 'books export --format csv --period 2026-11 --unreconciled --accounts accounts.yaml'],
  ['rows.csv', CREATES, 'cards create --file rows.csv --dry-run'],
  ['body.json', BODY, 'api POST /cards --input body.json --dry-run'],
] as const;

describe.each(FILES)('%s', (name, text, command) => {
  it('in Latin-1 is refused, in UTF-16 by its name', async () => {
    await using here = await world();
    await writeFile(join(here.folder, name), text, 'latin1');
    const latin = await here.run(command);
    expect(latin).toMatchObject({ code: 2, err: expect.stringContaining('is not UTF-8 text') });
    const wide = Buffer.from(text, 'utf16le');
    for (const bytes of [wide, Buffer.concat([Buffer.from([0xff, 0xfe]), wide]), Buffer.from(wide).swap16()]) {
      await writeFile(join(here.folder, name), bytes);
      expect(await here.run(command)).toMatchObject({ code: 2, err: expect.stringContaining('is UTF-16 text') });
    }
  });

  it('may begin with a byte order mark', async () => {
    await using here = await world();
    await writeFile(join(here.folder, name), text);
    const plain = await here.run(command);
    await writeFile(join(here.folder, name), `\ufeff${text}`);
    const marked = await here.run(command);
    expect([marked.code, marked.err]).toEqual([plain.code, plain.err]);
  });
});
