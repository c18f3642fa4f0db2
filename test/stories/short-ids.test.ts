/** Wherever a command takes an id, a beginning of it is looked up: told of every declared argument and option. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandsOf } from '../../src/cli/parsing/command.ts';
import { flagsOf } from '../../src/cli/parsing/globals.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import type { AnyField } from '../../src/contract/field.ts';
import { openEmbedded } from '../../src/sandbox/serving/embedded.ts';
import { world } from '../support/world.ts';

/** A beginning that several ids have: the answer names them, and nothing is done. */
const BEGINNINGS: Partial<Record<NonNullable<AnyField['names']>, string>> = {
  card: 'card',
  bin: 'bin',
  webhook: 'wh',
  op: 'op',
  transaction: 'txn',
  challenge: 'tds',
  pending: 't',
};

/** What each line needs besides the id. */
const MORE: Readonly<Record<string, string>> = {
  'cards create': '--amount 5 --yes',
  'cards search': 'ads',
  'cards details': '--reveal --print --yes',
  'cards exec': '--reveal --yes -- true',
  'cards lease': '--amount 5 --reveal --yes -- true',
  'cards fund': '--amount 5 --yes',
  'cards withdraw': '--amount 5 --yes',
  'cards freeze': '--yes',
  'cards unfreeze': '--yes',
  'cards terminate': '--yes',
  'tx get --card': 'txn_1',
  'tx search': 'acme',
  'tx tail': '--wait-timeout 1s',
  '3ds wait': '--any --wait-timeout 1s',
  '3ds watch': '--wait-timeout 1s',
  'webhooks update': '--status disabled --yes',
  'webhooks delete': '--yes',
  'wait card': '--until status=frozen --wait-timeout 1s',
  'wait tx': '--wait-timeout 1s',
  reconcile: '--wait-timeout 10s',
  'books statement': '--period 2026-11',
  'books export': '--format csv --period 2026-11',
  'ops reject': '--reason away',
  'ops resolve': '--as done --note seen --yes',
  'sandbox simulate authorize': '--amount 5',
  'sandbox simulate increment': '--amount 5',
  'sandbox simulate refund --card': '--amount 5',
  'sandbox simulate force-post': '--amount 5',
  'sandbox simulate challenge': '--amount 5',
  'sandbox simulate answer': '--right',
  'sandbox deliveries recover': '--since 1h',
  'sandbox deliveries send-example': '--event card.frozen',
  'sandbox deliveries send': '--event card.frozen',
  'sandbox deliveries explain': '--signature abc --body event.json',
};

/** Why these take whole ids; `help output` says it. */
const WHOLE: Readonly<Record<string, string>> = {
  'ops resolve --card': 'what is recorded stays, so the card is named whole',
  'sandbox simulate confirm deposit': 'no list of the service has deposits',
  'sandbox simulate fail deposit': 'no list of the service has deposits',
  'sandbox deliveries list --event-id': 'no list of the service has events',
  'sandbox deliveries show delivery': 'no list of the service has deliveries',
  'sandbox deliveries redeliver delivery': 'no list of the service has deliveries',
  'sandbox faults remove fault': 'no list of the service has fault rules',
};

/** An argument or option that says of itself that it takes an id. */
const SAYS_ID =
  /^(?:Id of|Challenge|Deposit|Delivery|Authorization|Only (?:for|about|lines about|those (?:of|to)) this)\b/i;

async function places() {
  const commands = (await Promise.all(REGISTRY.map(commandsOf))).flat();
  return commands.flatMap(command => [
    ...Object.entries(command.args).map(([key, { field }]) => ({ command, name: key, field: field.item ?? field })),
    ...flagsOf(command).map(({ name, field }) => ({ command, name, field: field.item ?? field })),
  ]);
}

test('a beginning that several ids have is refused with them, in every argument and option that takes an id', async () => {
  await using here = await world({ wallet: 200 });
  for (const line of [
    'cards create --bin bin_1 --amount 50 --label ads',
    'cards create --bin bin_1 --amount 50 --label ads',
    'sandbox simulate authorize --card card_1 --amount 5 --merchant Acme',
    'sandbox simulate authorize --card card_2 --amount 5 --merchant Acme',
    'sandbox simulate challenge --card card_1 --amount 5',
    'sandbox simulate challenge --card card_2 --amount 5',
    'webhooks create --url https://example.com/a --event *',
    'webhooks create --url https://example.com/b --event *',
  ])
    expect([line, (await here.run(line)).code]).toEqual([line, 0]);
  await writeFile(join(here.folder, 'event.json'), '{}');
  const wrong: string[] = [];
  let looked = 0;
  const all = await places();
  // Logs keep the words of the lines before: theirs are asked first.
  const isLog = ({ command }: (typeof all)[number]) => /^(?:audit list|sandbox requests)$/.test(command.path);
  for (const { command, name, field } of [...all.filter(isLog), ...all.filter(each => !isLog(each))]) {
    const place = `${command.path} ${name}`;
    const word = field.names === undefined ? undefined : BEGINNINGS[field.names];
    if (WHOLE[place] !== undefined) continue;
    if (word === undefined) {
      if (field.names === undefined && SAYS_ID.test(field.doc) && field.kind === 'text')
        wrong.push(`${place}: ${field.doc}`);
      continue;
    }
    const id = name.startsWith('--') ? `${name} ${word}` : word;
    const line = `${command.path} ${id} ${MORE[`${command.path} ${name}`] ?? MORE[command.path] ?? ''}`.trim();
    const { code, err } = await here.run(line);
    looked += 1;
    if (code !== 2 || !err.includes(`"${word}" fits `)) wrong.push(`${line}: ${code} ${err}`);
  }
  expect(wrong).toEqual([]);
  expect(looked).toBeGreaterThan(40);
});

test('a cut id among several is found, however long it is, before any card is changed', async () => {
  await using here = await world({ openSandbox: host => openEmbedded(host, { version: '0.0.0-test' }) });
  const made = await here.run('cards create --bin auto --amount 5 -q');
  const other = await here.run('cards create --bin auto --amount 5 -q');
  const [first, second] = [made.out.trim(), other.out.trim()];
  for (const cut of [second.slice(0, -1), second.slice(0, 20)]) {
    const asked = await here.run(`cards freeze ${first} ${cut}`);
    expect([asked.code, asked.err]).toEqual([3, expect.stringContaining(`${cut} is ${second} (`)]);
  }
  const absent = await here.run(`cards freeze ${first} ${second.slice(0, -2)}+ --yes`);
  expect([absent.code, absent.err]).toEqual([5, expect.stringContaining('no card has an id that begins with')]);
  expect((await here.run(`cards get ${first} --jq .status`)).out.trim()).toBe('active');
});

test('a dry run shows the whole id of a marked one, and says of another that it did not look; explain takes a beginning', async () => {
  await using here = await world({ openSandbox: host => openEmbedded(host, { version: '0.0.0-test' }) });
  const card = (await here.run('cards create --bin auto --amount 5 -q')).out.trim();
  const short = card.slice(0, 12);
  const shown = async (id: string) => {
    const { out, err } = await here.run(`cards fund ${id} --amount 5 --dry-run --json`);
    return [JSON.parse(out).path, err];
  };
  expect(await shown(short)).toEqual([
    `/cards/${short}/fund`,
    expect.stringContaining(`note: ${short} is shown as typed: a dry run does not look it up.`),
  ]);
  expect(await shown(`${short}…`)).toEqual([`/cards/${card}/fund`, expect.stringContaining(`is ${card} (`)]);
  expect(await shown(card)).toEqual([`/cards/${card}/fund`, '']);
  const op = (await here.run('ops list -o id')).out.trim();
  expect((await here.run(`explain ${op.slice(0, 12)} --jq .op`)).out.trim()).toBe(op);
});
