/**
 * The canary scan of the books: card numbers, codes, keys and webhook secrets that a service or another program put into
 * labels, metadata and merchants, and those of the cards themselves. None may stand in the mirror, in a report, a
 * statement, an export or anything printed about them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EXPORT_FORMATS, LAYOUTS } from '../../src/writers/files.ts';
import { ask } from '../support/sandbox-http.ts';
import { type World, world } from '../support/world.ts';

const NUMBER = '4000009471306822';
const GROUPED = '4000 0094 7130 6822';
const KEY = 'sk_test_CANARYkey7f3e9d2c1b5a';
const SECRET = 'whsec_CANARYsecret0a1b2c3d4e5f';

/** What must be nowhere, with words for a failure: the secret itself is not printed. */
function canaries(more: Readonly<Record<string, string>>): readonly (readonly [string, RegExp])[] {
  return [
    ['a number in a text', /4000[ -]?0094[ -]?7130[ -]?6822/],
    ['a key in a text', /CANARYkey/],
    ['a webhook secret in a text', /CANARYsecret/],
    ...Object.entries(more).map(([name, value]) => [name, new RegExp(`(?<!\\d)${value}(?!\\d)`)] as const),
  ];
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
}

/** Cards of another program, whose texts hold what none should. Resolves to number, code and key of the account. */
async function pollute({ sandbox }: World): Promise<Readonly<Record<string, string>>> {
  const admin = async (path: string, body: object) =>
    (await ask(sandbox, { method: 'POST', path: `/_sandbox/v1/${path}`, body })).json;
  const body = {
    bin_id: 'bin_1',
    amount: 80,
    label: `card ${GROUPED}`,
    metadata: { note: `key ${KEY}`, hook: SECRET, [`owner ${NUMBER}`]: 'ops' },
  };
  const made = await ask(sandbox, { method: 'POST', path: '/cards', body });
  expect({ status: made.status, text: made.text }).toMatchObject({ status: 201 });
  const card_id = made.json.id;
  for (const merchant of [`SHOP ${NUMBER}`, `=HYPERLINK("${KEY}")`, `${SECRET} & CO`]) {
    const { authorization_id } = await admin('simulate/authorizations', {
      card_id,
      amount: 9.5,
      merchant,
      mcc: '5812',
    });
    await admin(`simulate/authorizations/${authorization_id}/settle`, {});
  }
  await admin('simulate/authorizations', { card_id, amount: 3, merchant: `OPEN ${GROUPED}`, mcc: '5734' });
  await admin('simulate/challenges', { card_id, amount: 5, merchant: `BANK ${NUMBER}` });
  const { otp } = (await ask(sandbox, { path: '/3ds/challenges' })).json.data?.[0] ?? {};
  const { pan } = (await ask(sandbox, { path: `/cards/${card_id}/details` })).json;
  expect([otp, pan].map(value => typeof value)).toEqual(['string', 'string']);
  return {
    'the code of a challenge': otp,
    'the number of the card': pan,
    'the key of the account': sandbox.key.expose(),
  };
}

const PRINTED = [
  'books sync --full',
  'books reconcile --all',
  'books reconcile -o table --all',
  'overview',
  'overview -o table',
  'tx summary --by merchant --offline',
  'tx summary --by label --offline',
  'tx search shop --json',
  'cards search card --json',
  'cards list --offline --json',
  'tx list --offline --json',
  'books status --json',
  'books query "select * from tx"',
  'books query "select * from cards"',
  'books query "select * from reports"',
  'books query "select * from tx_changes"',
  'books statement --period 2026-11 --unreconciled --json',
  'books statement --period 2026-11 --unreconciled --by label -o table',
  ...EXPORT_FORMATS.map(format => `books export --format ${format} --period 2026-11 --unreconciled --out books`),
  ...['hledger', 'ledger', 'beancount'].map(
    format => `books export --format ${format} --pending --period 2026-11 --unreconciled`,
  ),
  ...LAYOUTS.map(layout => `books export --format csv --layout ${layout} --period 2026-11 --unreconciled --csv-raw`),
];

it('nothing that should be secret is in the mirror, in an export or on a page of the books', async () => {
  await using here = await world();
  const found: string[] = [];
  const forms = canaries(await pollute(here));
  const look = (where: string, text: string) => {
    for (const [name, form] of forms) if (form.test(text)) found.push(`${name}: ${where}`);
  };
  for (const line of PRINTED) {
    const { code, all } = await here.run(line);
    expect({ line, code, all: code === 0 ? '' : all }).toEqual({ line, code: 0, all: '' });
    look(line, all);
  }
  const files = await filesBelow(here.folder);
  // A file of SQLite's own may be gone by now.
  for (const file of files) look(file, await readFile(file, 'latin1').catch(() => ''));
  expect(found).toEqual([]);
  // It would be found where it stood: the rest of those texts is there.
  const mirror = await readFile(join(here.folder, 'data', 'mirror', 'sandbox.sqlite'), 'latin1');
  expect(mirror).toContain('HYPERLINK');
  expect(files.filter(file => file.includes('books')).length).toBeGreaterThanOrEqual(EXPORT_FORMATS.length);
});
