/**
 * Every answer is lost. Then the service forgets the key, although a probe found keys honoured, and its readings show late
 * what was done: whoever sends again on the word of the probe, or after one look, does it twice.
 */
import type { Behind, WriteOperation } from '../support/hostile-service.ts';
import type { Cell, GoingOn, Road } from './cells.ts';

const LOST = 'lost before-headers';
const ALL_LOST = [`${LOST}, done`, `${LOST}, done`, `${LOST}, done`] as const;
const NEVER_DONE = [`${LOST}, none`, `${LOST}, none`, `${LOST}, none`] as const;
const AN_HOUR = 3_600_000;
/** Inside of what readings may be behind, and far beyond what the key was proved for. */
const LATE = 5_500;

const CARDS_LATE: readonly Behind[] = [
  { listMs: LATE },
  { listMs: LATE, newMs: LATE },
  { listMs: LATE, newMs: LATE, walletMs: LATE },
];
const BALANCES_LATE: readonly Behind[] = [{ cardMs: LATE }, { walletMs: LATE }, { cardMs: LATE, walletMs: LATE }];
const WAYS: readonly GoingOn[] = ['same command', 'intent', 'resume', 'intent and resume'];

function cells(operation: WriteOperation, road: Road, behind: Behind, ways: readonly GoingOn[] = WAYS): Cell[] {
  const around = { operation, road, mode: 'test', known: 'honoured', keys: 'forgotten soon', behind } as const;
  return ways.flatMap(goingOn => [ALL_LOST, NEVER_DONE].map((answers): Cell => ({ ...around, answers, goingOn })));
}

/** The wallet tells in time what the list never does. */
const NEVER_LISTED: Behind = { listMs: AN_HOUR, newMs: AN_HOUR };

export const FORGOTTEN_CELLS: readonly Cell[] = [
  ...CARDS_LATE.flatMap(behind => [
    ...cells('create', 'single', behind),
    ...cells('create', 'bulk', behind, ['same command', 'resume']),
    ...cells('create', 'lease', behind),
  ]),
  ...cells('create', 'single', NEVER_LISTED),
  ...cells('create', 'lease', NEVER_LISTED),
  ...(['fund', 'withdraw'] as const).flatMap(operation => [
    ...BALANCES_LATE.flatMap(behind => [
      ...cells(operation, 'single', behind),
      ...cells(operation, 'bulk', behind, ['same command', 'resume']),
    ]),
    ...cells(operation, 'single', { cardMs: AN_HOUR }),
  ]),
];

const [LISTED_LATE] = CARDS_LATE as readonly [Behind];

/** Each operation that moves money once, and each way of going on. */
export const FEW_FORGOTTEN_CELLS: readonly Cell[] = [
  ...cells('create', 'single', LISTED_LATE).filter(
    ({ goingOn, answers }) => goingOn === 'intent' || answers === ALL_LOST,
  ),
  ...cells('create', 'lease', LISTED_LATE, ['resume']),
  ...cells('create', 'single', NEVER_LISTED, ['resume']),
  ...(['fund', 'withdraw'] as const).flatMap(operation =>
    cells(operation, 'single', { cardMs: LATE, walletMs: LATE }, ['intent and resume']),
  ),
];
