/** Standard output that takes nothing: no command that reads ends with 0, or as a bug of ours. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OutputError } from '../../src/core/errors.ts';
import { firstOf } from '../support/first-of.ts';
import { isWhole } from '../support/whole.ts';
import { world } from '../support/world.ts';

/** Lines whose output is written in each of the ways there are. */
const LINES = [
  'cards list',
  'cards get card_1',
  'tx summary',
  'tx tail --last 3 --wait-timeout 5s',
  'webhooks verify --payload event.json --signature SIGNATURE --secret-file secret.txt',
  'wait card CARD --until status=active',
  'audit export',
  'doctor',
  'books query "select status, count(*) as cards from cards group by status"',
  'books export --format hledger --period 2026-10',
  'sandbox export out.snapshot',
  'contract openapi',
  'help output',
];

const FULL = { message: 'cannot write standard output: no space is left (ENOSPC)' };
const full = { onOut: () => Promise.reject(new OutputError('check_failed', FULL)) };

it('ends with 15 and says so, whichever command reads', async () => {
  await using here = await world({ data: 'demo', wallet: 100 });
  await writeFile(join(here.folder, 'event.json'), '{"id":"evt_1","type":"card.created"}');
  await writeFile(join(here.folder, 'secret.txt'), 'whsec_0123456789abcdef0123456789abcdef\n', { mode: 0o600 });
  const id = async (line: string) => (await here.run(line)).out.trim();
  const card = await id('cards create --bin bin_1 --amount 60 -q');
  await here.run(`sandbox simulate authorize --card ${card} --amount 20 --merchant Acme`);
  await here.run('books reconcile -q');
  const signature = await id('webhooks sign --payload event.json --secret-file secret.txt');
  const wrong: string[] = [];
  for (const line of LINES) {
    const whole = line.replace('CARD', card).replace('SIGNATURE', signature);
    const { code, err } = await here.run(whole, full);
    if (code !== 15 || !err.includes(FULL.message)) wrong.push(`${line}: ${code}: ${err}`);
  }
  expect(wrong).toEqual([]);
});

/** Changes, and what standard error names when nobody is left to read what they made. */
const CHANGES: readonly (readonly [line: string, told: string | RegExp])[] = [
  ['cards create --bin bin_1 --amount 5 -q', /carried out for card_1, but .*try: cardwright ops resume op_\w{26}\n/s],
  ['cards create --bin bin_1 --amount 6 --json', /"hint":"cardwright ops resume op_\w{26}"/],
  ['cards fund card_1 --amount 5 -o csv', /try: cardwright ops resume op_/],
  ['cards freeze card_1 -q', 'try: cardwright audit list'],
  ['cards create --file rows.csv --yes -q', /carried out, but .*\n.*\n {2}try: cardwright ops resume op_/],
  ['api POST /cards/card_1/fund -F amount:=4 --yes', /carried out/],
  ['webhooks create --url https://example.com/hook --event * -q', 'carried out for wh_1'],
  ['sandbox faults add rule.json -q', /carried out/],
];

it('a change whose reader left says where what it made stands, and ends with 15; a read owes nothing', async () => {
  await using here = await world({ wallet: 200 });
  await writeFile(join(here.folder, 'rows.csv'), 'bin_id,amount\nbin_1,7\nbin_1,8\n');
  await writeFile(
    join(here.folder, 'rule.json'),
    '{"match":{"operation":"wallet.addresses"},"action":{"kind":"reset"}}',
  );
  for (const [line, told] of CHANGES) {
    const { code, err } = await here.run(line, { readerLeft: true });
    expect([line, code, err]).toEqual([line, 15, expect.stringMatching(told)]);
  }
  expect((await here.run('cards list --jq ".data | length"')).out).toBe('4\n');
  for (const line of ['cards list', 'cards create --bin bin_1 --amount 9 --dry-run'])
    expect([line, (await here.run(line, { readerLeft: true })).code]).toEqual([line, 0]);
});

it.each(
  firstOf(
    [
      ['cards create --bin bin_1 --amount 5 -q', 1],
      ['cards create --file rows.csv --yes -q', 2],
    ],
    { isWhole },
  ),
)('%s: a second time only after the answer that was lost was shown', async (line, cards) => {
  await using here = await world({ wallet: 200 });
  await writeFile(join(here.folder, 'rows.csv'), 'bin_id,amount\nbin_1,7\nbin_1,8\n');
  const count = async () => Number((await here.run('cards list --all --jq ".data | length"')).out);
  for (const [round, lose] of [{ readerLeft: true }, full].entries()) {
    const before = await count();
    const first = cards > 1 && round > 0 ? `${line} --again` : line;
    expect((await here.run(first, lose)).code).toBe(15);
    for (const again of [line, line]) expect((await here.run(again)).code).toBe(14);
    const [op = ''] = /op_\w{26}/.exec((await here.run(line)).err) ?? [];
    const shown = await here.run(`ops resume ${op} -o ndjson`);
    expect([shown.code, shown.out.trim().split('\n').length]).toEqual([0, cards]);
    expect(await count()).toBe(before + cards);
    const meant = await here.run(cards > 1 ? `${line} --again` : line);
    expect([meant.code, meant.err]).toEqual([0, expect.any(String)]);
    expect(await count()).toBe(before + 2 * cards);
  }
});
