/**
 * One story of commands, run under each dialect. What a script relies on, exit codes, states, balances and ids, must
 * be the same everywhere; what a dialect really changes stands in `DIFFERENCES` with its reason. The whole run tells it;
 * `paths-other` is reached with overrides.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { DIALECT_NAMES, type DialectName } from '../../src/contract/sandbox/faults.ts';
import { isWhole } from '../support/whole.ts';
import { type Ran, type World, world } from '../support/world.ts';

/** In order, on one sandbox; card_1 and so on are counted. */
const LINES: readonly string[] = [
  'bins list --json',
  'bins get bin_1 --json',
  'bins pick --need apple_pay --json',
  'wallet --json',
  'wallet addresses --json',
  'wallet addresses --currency btc --json',
  'cards list --json',
  'cards create --bin bin_1 --amount 100 --label one --json',
  'cards create --bin bin_2 --amount 50 --label two --auto-freeze-at 20 --metadata team=ads --json',
  'cards create --bin bin_1 --amount 0.5 --json',
  'cards create --bin bin_none --amount 5 --json',
  'cards create --bin bin_1 --amount 5000 --json',
  'cards create --bin bin_1 --amount 5 --allow-category nonsense --json',
  'cards create --file team.csv --yes --concurrency 1 --json',
  'cards list --all --json',
  'cards list --per-page 2 --json',
  'cards list --per-page 2 --page 3 --json',
  'cards list --per-page 2 --all --json',
  'cards list --status frozen --json',
  'cards list --label two --json',
  'cards get card_1 --json',
  'cards get card_none --json',
  'cards details card_1 --reveal --print --json',
  'cards details card_1 --reveal --print --field expiry',
  'cards fund card_1 --amount 25.50 --json',
  'cards fund card_1 --amount 5000 --json',
  'cards fund card_none --amount 5 --json',
  'cards withdraw card_1 --amount 5.50 --json',
  'cards withdraw card_1 --amount 1000 --json',
  'cards freeze card_1 --json',
  'cards freeze card_1 --json',
  'cards unfreeze card_1 --json',
  'cards unfreeze card_1 --json',
  'cards freeze card_1 card_none card_2 --json',
  'cards unfreeze card_1 card_2 --json',
  'sandbox simulate authorize --card card_1 --amount 30 --json',
  'cards get card_1 --json',
  'sandbox simulate settle txn_1 --amount 28 --json',
  'sandbox simulate refund txn_1 --amount 10 --json',
  'tx list --json',
  'tx list --card card_1 --type settlement --all --json',
  'sandbox simulate authorize --card card_2 --amount 40 --json',
  'cards get card_2 --json',
  'sandbox simulate challenge --card card_1 --amount 12 --json',
  '3ds list --json',
  'sandbox simulate answer tds_1 --right --json',
  '3ds list --json',
  'webhooks create --url https://example.com/a --event card.created,card.frozen --json',
  'webhooks list --json',
  'webhooks get wh_1 --json',
  'webhooks update wh_1 --status disabled --json',
  'webhooks delete wh_1 --yes --json',
  'webhooks delete wh_1 --yes --json',
  'cards terminate card_2 --yes --json',
  'cards terminate card_2 --yes --json',
  'cards fund card_2 --amount 5 --json',
  'cards freeze card_2 --json',
  'wallet --json',
  'sandbox status --json',
];

const HOLD = 'the open hold is part of the balance';

/** Why the facts of a line differ, by dialect and line. */
const DIFFERENCES: Readonly<Record<DialectName, Readonly<Record<string, string>>>> = {
  default: {},
  minimal: {},
  'envelope-items': {},
  'envelope-more': {},
  'envelope-wrapped': {},
  'names-stripe': {},
  'names-increase': {},
  'strict-422': {},
  'noop-200': {},
  'tds-terminal': { '3ds list --json': 'the answered challenge stays listed' },
  'auth-single': {
    'tx list --json': 'the purchase is one record',
    'tx list --card card_1 --type settlement --all --json': 'the purchase is one record',
  },
  'ledger-balance': {
    'cards get card_1 --json': HOLD,
    'cards get card_2 --json': HOLD,
  },
  'strict-freeze': {},
  'sig-prefixed': {},
  'keys-ignored': {},
  'paths-other': {},
};

const OVERRIDES = {
  operations: {
    'cards.terminate': { method: 'DELETE', path: '/cards/{card_id}' },
    'cards.freeze': { path: '/cards/{card_id}/suspend' },
    'cards.unfreeze': { path: '/cards/{card_id}/activate' },
    'cards.fund': { path: '/cards/{card_id}/topup' },
    'cards.withdraw': { path: '/cards/{card_id}/unload' },
    'wallet.get': { path: '/balance' },
  },
};

interface Answered {
  readonly line: string;
  readonly facts: unknown;
}

/** Runs the story; resolves to what each line answered. */
async function answersOf(dialect: DialectName): Promise<readonly Answered[]> {
  await using here: World = await world({ dialect, wallet: 1000 });
  await writeFile(join(here.folder, 'team.csv'), 'bin_id,amount,label\nbin_1,5,three\nbin_2,6.25,four\nbin_1,7,five\n');
  await writeFile(join(here.folder, 'other.json'), JSON.stringify(OVERRIDES));
  const env = dialect === 'paths-other' ? { CARDWRIGHT_CONTRACT: join(here.folder, 'other.json') } : {};
  const all: Answered[] = [];
  for (const line of LINES) all.push({ line, facts: factsOf(await here.run(line, { env })) });
  return all;
}

/** What a script reads: the exit code, the kind of the error, and these members wherever they stand. */
const MEMBERS: readonly string[] = [
  'id',
  'card_id',
  'bin_id',
  'status',
  'changed',
  'balance',
  'card_balance',
  'wallet_balance',
  'cards_total_balance',
  'total_deposited',
  'total_spent',
  'amount',
  'label',
  'last4',
  'number',
  'cvv',
  'exp_month',
  'exp_year',
  'type',
  'url',
  'events',
  'outcome',
  'otp',
  'address',
  'kind',
  'exit_code',
  'ledger_ok',
  'network',
];

function factsOf({ code, out, err }: Ran): unknown {
  const last = err.trim().split('\n').at(-1) ?? '';
  const error = last.startsWith('{') ? picked(JSON.parse(last)) : undefined;
  const text = out.trim();
  return { code, error, data: /^[{[]/.test(text) ? picked(JSON.parse(text)) : text };
}

/** Objects that only wrap others of the service are no facts of their own. */
const WRAPPERS: readonly string[] = ['card', 'wallet', 'page', 'service'];

function picked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(picked);
  if (typeof value !== 'object' || value === null) return undefined;
  const facts: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) {
    if (MEMBERS.includes(name)) facts[name] = part;
    else if (typeof part === 'object' && part !== null && !WRAPPERS.includes(name)) facts[name] = picked(part);
  }
  return facts;
}

/** Fails for a line that differs without a reason, and for a reason without a line that differs. */
async function differing(dialect: DialectName, usual: readonly Answered[], other: readonly Answered[]): Promise<void> {
  const reasons = DIFFERENCES[dialect];
  const seen = new Set<string>();
  for (const [index, { line, facts }] of other.entries()) {
    if (reasons[line] === undefined) expect({ line, ...(facts as object) }).toEqual({ line, ...factsAt(usual, index) });
    else if (JSON.stringify(facts) !== JSON.stringify(usual[index]?.facts)) seen.add(line);
  }
  expect([...seen].sort()).toEqual(Object.keys(reasons).sort());
}

const factsAt = (all: readonly Answered[], index: number) => all[index]?.facts as object;

describe.runIf(isWhole)('run under each dialect', () => {
  let usual: readonly Answered[] = [];
  beforeAll(async () => {
    usual = await answersOf('default');
  });

  it('the story does what it tells, as usual', () => {
    expect(usual).toHaveLength(LINES.length);
    const codes = usual.map(({ facts }) => (facts as { code: number }).code);
    // Enough of it succeeds, and enough is refused, for a comparison to mean something.
    expect(codes.filter(code => code === 0).length).toBeGreaterThan(40);
    expect(new Set(codes)).toEqual(new Set([0, 2, 5, 6, 9, 10]));
  });

  it.each(DIALECT_NAMES)('tells a script the same: %s', async dialect =>
    differing(dialect, usual, await answersOf(dialect)),
  );
});

describe('what people read', () => {
  it('a page that may not be the last says so', async () => {
    await using here = await world({ dialect: 'minimal', data: 'demo', terminal: 80 });
    expect((await here.run('cards list --per-page 5')).all).toContain(
      '5 cards, and perhaps more; --all gives all of them',
    );
    await using more = await world({ dialect: 'envelope-more', data: 'demo', terminal: 80 });
    expect((await more.run('cards list --per-page 5')).all).toContain('5 cards; --all gives all of them');
  });

  it('a transfer names its amount, whatever the answer leaves out', async () => {
    for (const dialect of ['minimal', 'names-stripe']) {
      await using here = await world({ dialect, terminal: 80 });
      await here.run('cards create --bin bin_1 --amount 20 -q');
      expect((await here.run('cards withdraw card_1 --amount 5.50')).all).toContain('Withdrew from card_1: $5.50.');
      expect((await here.run('cards fund card_1 --amount 5')).all).toContain('Funded card_1: $5.00.');
    }
  });

  it('a secret that was made and not shown is no secret one chose', async () => {
    await using here = await world({ dialect: 'minimal', terminal: 80 });
    const { all } = await here.run('webhooks create --url https://example.com/a --event *');
    expect(all).toContain('not shown by the service');
    expect(all).toContain('--secret-file');
  });
});
