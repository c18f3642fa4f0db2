/** Books that are right, and what is said of them all the same. */
import { Account, type Counting, live, Reader, randomOf, type StepOptions } from './model.ts';

export interface Life {
  readonly counting?: Counting;
  readonly options?: StepOptions;
  /** Only before the first checkpoint: what a baseline takes in. */
  readonly othersFirst?: boolean;
  /** Rows of unknown outcome are resolved by hand later. */
  readonly resolves?: boolean;
}

/** Ways in which a service may count and an account may live; each is named in the answer. */
export const LIVES: Readonly<Record<string, Life>> = {
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
export function alarms(life: string, histories: number, firstSeed = 1) {
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
