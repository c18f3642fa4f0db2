/** Books that are right, and what is said of them all the same. */

import { describe, expect, it } from 'vitest';
import { isWhole } from '../support/whole.ts';
import { Account, type Counting, live, Reader, randomOf, type StepOptions } from './model.ts';

interface Life {
  readonly counting?: Counting;
  readonly options?: StepOptions;
  /** Only before the first checkpoint: what a baseline takes in. */
  readonly othersFirst?: boolean;
  /** Rows of unknown outcome are resolved by hand later. */
  readonly resolves?: boolean;
}

/** Ways in which a service may count and an account may live; each is named in the answer. */
const LIVES: Readonly<Record<string, Life>> = {
  default: {},
  'other spenders before the first checkpoint': { othersFirst: true },
  'rows of unknown outcome': { options: { unknownRows: true } },
  'rows of unknown outcome, resolved later': { options: { unknownRows: true }, resolves: true },
  'total_spent gross': { counting: { gross: true } },
  'cards_total_balance active only': { counting: { activeOnly: true } },
  'balance with holds (ledger-balance)': { counting: { withHolds: true } },
  'one record a purchase (auth-single)': { counting: { oneRecord: true } },
};

/** Alarms over histories of three checkpoints each: at most ten of them, and how many checkpoints there were. */
function alarms(life: string, histories: number, firstSeed = 1) {
  const { counting = {}, options = {}, othersFirst = false, resolves = false } = LIVES[life] ?? {};
  const wrong: string[] = [];
  const counts = { checkpoints: 0, provisional: 0, alarms: 0 };
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
    const random = randomOf(seed);
    const account = new Account(counting);
    const reader = new Reader(account);
    for (let checkpoint = 1; checkpoint <= 3; checkpoint++) {
      live(account, random, 10 + random(20), { ...options, others: othersFirst && checkpoint === 1 });
      if (resolves) account.resolve(random);
      const { findings, verdict } = reader.reconcile();
      counts.checkpoints += 1;
      counts.provisional += Number(verdict === 'provisional');
      const said = findings.filter(each => each.isWrong || each.class.startsWith('other_'));
      if (said.length === 0) continue;
      counts.alarms += 1;
      const told = said.map(each => `${each.class} ${each.cents}`).join(', ');
      if (wrong.length < 10) wrong.push(`${life}, seed ${seed}, checkpoint ${checkpoint}: ${told}`);
    }
  }
  return { wrong, ...counts };
}

describe('books that are right', () => {
  it.each(Object.keys(LIVES))('no alarm: %s', life => {
    const histories = life === 'default' ? 60 : 40;
    const found = alarms(life, histories);
    expect(found.wrong).toEqual([]);
    expect(found.checkpoints).toBe(3 * histories);
    // The bound rule is exercised, and does not swallow everything.
    expect(found.provisional).toBeGreaterThan(0);
    expect(found.provisional).toBeLessThan(found.checkpoints / 2);
  });

  // A row that is known late stands in the first checkpoint already, and another one of the same card, unknown still, was done
  // since: neither explains the sums alone.
  it.each([827, 1204, 1240, 1428, 1791, 2191])('no alarm: two own rows of one card, life %s', seed => {
    expect(alarms('rows of unknown outcome, resolved later', 1, seed).wrong).toEqual([]);
  });

  // Before, several spenders moved the base by a wrong amount, or their sum was not seen behind holds.
  it.each([145, 719, 937, 1120, 1205, 1300, 2174, 3163])('no alarm: several other spenders, life %s', seed => {
    for (const partialReversals of [false, true]) expect(alarmsOfOthers(seed, partialReversals)).toEqual([]);
  });
});

/** Histories of a block. */
const BLOCK = 10_000;

it
  .runIf(isWhole)
  .each(
    Object.keys(LIVES).flatMap(life =>
      life === 'default' ? Array.from({ length: 10 }, (_, at) => ({ life, at })) : [{ life, at: 0 }],
    ),
  )(
  'no alarm: $life, block $at of 10,000 histories',
  ({ life, at }) => {
    const found = alarms(life, BLOCK, 1 + at * BLOCK);
    expect(found.wrong).toEqual([]);
    expect(found.checkpoints).toBe(3 * BLOCK);
  },
  600_000,
);

/** What is called wrong while others move money between the checkpoints, and once every authorization has closed. */
function alarmsOfOthers(seed: number, partialReversals: boolean): readonly string[] {
  const random = randomOf(seed);
  const account = new Account();
  const reader = new Reader(account);
  const wrong = () =>
    reader.reconcile().findings.flatMap(each => (each.isWrong ? [`${each.class} ${each.cents}`] : []));
  const said: string[] = [];
  for (let checkpoint = 1; checkpoint <= 3; checkpoint++) {
    live(account, random, 10 + random(20), { others: checkpoint > 1, partialReversals });
    said.push(...wrong());
  }
  for (const each of account.authorizations.values()) if (each.held > 0) account.reverse(each, each.held);
  return [...said, ...wrong()];
}
