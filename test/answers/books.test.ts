/** What the commands of the books print as JSON in a month with something of everything, held against what they promise. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';
import { objections, pathOf } from './schema.ts';

const POLICY = `version: 1
rules:
  - { name: rich, when: { balance: "> 10.00" }, then: { withdraw: { keep: 5.00 } } }
  - { name: unused, when: { unused_days: ">= 1" }, severity: info }
`;

const BEFORE = [
  'cards create --bin bin_1 --amount 60 --label ads',
  'cards create --bin bin_1 --amount 40',
  'books reconcile',
  'sandbox simulate authorize --card card_1 --amount 20 --merchant RISTORANTE --mcc 5812',
  'sandbox simulate settle txn_1 --amount 23',
  'sandbox simulate refund txn_1 --amount 3',
  'sandbox simulate authorize --card card_2 --amount 9 --merchant HOTEL',
  'sandbox clock advance --by 11d',
];

const LINES: readonly (readonly [line: string, code: number])[] = [
  ['books reconcile --all', 0],
  ['books reconcile --sole-operator', 0],
  ['books statement --period 2026-11', 0],
  ['books statement --period 2026-11 --by label --label ads', 0],
  ['books statement --period 2026-12 --unreconciled', 0],
  ['books export --format csv --period 2026-11 --out books', 0],
  ['books export --format qbo --period 2026-11 --out books --unreconciled', 0],
  ['overview', 0],
  ['overview --since 3d --offline', 0],
  ['tx summary --by week', 0],
  ['tx summary --by label', 0],
  ['policy check policy.yaml', 15],
  ['policy check policy.yaml --fail-on none --offline', 0],
  ['policy apply policy.yaml --max-share 100% --yes', 0],
];

it('holds in every command of the books', async () => {
  await using here = await world({ wallet: 500 });
  await writeFile(join(here.folder, 'policy.yaml'), POLICY);
  for (const line of BEFORE) expect({ line, code: (await here.run(line)).code }).toEqual({ line, code: 0 });
  for (const [line, code] of LINES) {
    const ran = await here.run(`${line} --json`);
    expect({ line, code: ran.code, says: ran.code === code ? '' : ran.err }).toEqual({ line, code, says: '' });
    expect({ line, objections: objections(pathOf(line), JSON.parse(ran.out)) }).toEqual({ line, objections: [] });
  }
});
