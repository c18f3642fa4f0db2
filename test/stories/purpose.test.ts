/** What a purchase is for: kept with it, read by whoever approves it, and told by the books. */
import { expect, test } from 'vitest';
import { errorOf, world } from '../support/world.ts';

const PURPOSE = 'office chairs, "blue"; 2 of them';

test('words that are too long, hold a card number or several lines are refused before anything is sent', async () => {
  await using here = await world();
  for (const words of ['x'.repeat(101), '4242 4242 4242 4242', ' ', 'two\nlines']) {
    const ran = await here.run(`cards create --bin auto --amount 5 --purpose "${words}"`);
    expect({ words, code: ran.code }).toEqual({ words, code: 2 });
  }
  expect((await here.run(`cards create --bin auto --amount 5 --purpose "${'ä'.repeat(100)}"`)).code).toBe(0);
  await here.run('cards create --bin auto --amount 5');
  const many = await here.run('cards fund - --amount 5 --purpose chairs --yes', { stdin: 'card_1\ncard_2\n' });
  expect(many.code).toBe(2);
});

test('the person who approves reads it, ops show keeps it, and other words are the same change', async () => {
  await using here = await world({ served: true, env: { CARDWRIGHT_PROFILE: 'team' } });
  const login = `login --profile team --base-url ${here.sandbox.url} --key-stdin`;
  await here.run(login, { stdin: here.sandbox.key.expose(), env: { CARDWRIGHT_PROFILE: '' } });
  const typed = (...words: string[]) => ({ terminal: 100, typed: words });
  await here.run('profiles set team approve_above 20');
  await here.run('ops keys create', typed('correct horse', 'correct horse'));
  const create = `cards create --bin auto --amount 25 --intent chairs --json --purpose`;
  const held = await here.run(`${create} "office chairs"`);
  expect(held.code).toBe(17);
  const { op, approval } = errorOf(held);
  expect(approval.render).toContainEqual(['For', 'office chairs']);
  const approved = await here.run(`ops approve ${op}`, typed('25.00', 'correct horse'));
  expect(approved.all).toContain('office chairs');
  const sent = await here.run(`${create} "chairs for the office"`);
  expect(sent.code).toBe(0);
  const { items } = JSON.parse((await here.run(`ops show ${op} --json`)).out);
  expect(items).toMatchObject([{ outcome: 'done', intent: 'chairs', purpose: 'office chairs' }]);
});

test('statements and exports carry it to the purchases of the card, and a reconcile names what does not fit', async () => {
  await using here = await world();
  const data = async (line: string) => JSON.parse((await here.run(`${line} --json`)).out);
  for (const line of [
    `cards create --bin bin_1 --amount 60 --purpose ${JSON.stringify(PURPOSE)}`,
    'cards create --bin bin_1 --amount 40 --purpose "never bought"',
    'cards create --bin bin_1 --amount 30',
    'sandbox simulate authorize --card card_1 --amount 60 --merchant DESKS --mcc 5812',
    'sandbox simulate settle txn_1 --amount 60',
    'sandbox clock advance --by 1d',
  ])
    expect({ line, code: (await here.run(line)).code }).toEqual({ line, code: 0 });
  const first = await data('books reconcile');
  expect(first.findings).toMatchObject([{ class: 'purpose_unspent', candidates: ['card_2'], wrong: false }]);
  expect(first.findings[0].text).toContain('never bought');
  // More than it was given: funded without a purpose, and spent all the same.
  await here.run('cards fund card_1 --amount 20');
  await here.run('sandbox simulate authorize --card card_1 --amount 20 --merchant DESKS');
  await here.run('sandbox simulate settle txn_3');
  await here.run('cards terminate card_2 --yes');
  // What had money for nothing in particular is free to spend it, whatever a later one was for.
  await here.run('cards fund card_3 --amount 5 --purpose lunch');
  await here.run('sandbox simulate authorize --card card_3 --amount 25 --merchant DESKS');
  await here.run('sandbox simulate settle txn_5');
  await here.run('sandbox clock advance --by 11d');
  const second = await here.run('books reconcile --json');
  expect(second.code).toBe(0);
  const found = JSON.parse(second.out).findings;
  expect(found).toContainEqual(
    expect.objectContaining({ class: 'beyond_purpose', candidates: ['card_1'], amount: -20 }),
  );
  expect(found).toContainEqual(expect.objectContaining({ class: 'purpose_unspent', candidates: ['card_2'] }));
  expect(JSON.stringify(found)).not.toContain('card_3');
  // Each is told once.
  expect((await data('books reconcile')).findings).toEqual([]);
  const statement = await data('books statement --period 2026-11 --card card_1');
  const purposes = statement.data[0].lines.map(({ type, purpose }: Record<string, string>) => `${type}: ${purpose}`);
  expect(purposes).toEqual([`transfer: ${PURPOSE}`, `settlement: ${PURPOSE}`, 'transfer: ', `settlement: ${PURPOSE}`]);
  // A purchase of the next month is still for what its card was given money for.
  await here.run('cards fund card_1 --amount 5');
  await here.run('sandbox simulate authorize --card card_1 --amount 5 --merchant LATE');
  await here.run('sandbox simulate settle txn_7');
  await here.run('books sync');
  const later = await data('books statement --period 2026-12 --card card_1 --unreconciled');
  expect(later.data[0].lines).toContainEqual(expect.objectContaining({ type: 'settlement', purpose: PURPOSE }));
  const exported = async (format: string) =>
    (await here.run(`books export --period 2026-11 --card card_1 --format ${format}`)).out;
  expect(await exported('csv')).toContain(`,"${PURPOSE.replaceAll('"', '""')}"\n`);
  expect(await exported('hledger')).toContain('    ; purpose: office chairs; "blue"; 2 of them\n');
  expect(await exported('beancount')).toContain(`  purpose: ${JSON.stringify(PURPOSE)}\n`);
  for (const format of ['ledger', 'ofx', 'qif', 'csv --layout xero', 'csv --layout quickbooks'])
    expect({ format, text: await exported(format) }).toMatchObject({ text: expect.stringContaining('office chairs') });
});
