/**
 * Cells of refusals that cannot be believed: after the deed, in foreign words, from something on the way, and before
 * readings that are behind the books, so that a single look shows nothing.
 */
import type { Behind, WriteOperation } from '../support/card-books.ts';
import { answersTo } from './answers.ts';
import type { Cell, Road } from './cells.ts';

const OPERATIONS: readonly WriteOperation[] = ['create', 'fund', 'withdraw', 'terminate', 'freeze', 'unfreeze'];
const STATES: readonly WriteOperation[] = ['terminate', 'freeze', 'unfreeze'];
const PLAIN = { road: 'single', mode: 'test', known: 'unknown', keys: 'honoured' } as const;

/** Everything that is read is so old. */
const allBehind = (ms: number): Behind => ({ listMs: ms, cardMs: ms, walletMs: ms });

/** As a replica is that lags. */
export const LAGGING = allBehind(2_500);
/** Longer than anybody looks: what proves nothing by itself must not become a no. */
const BLIND = allBehind(60_000);
/** Lists come from an index of their own. */
const LISTED_LATE: Behind = { listMs: 60_000 };

/** A no that the operation cannot give, or that is not the service's: it proves nothing, whatever is read. */
const PROVES_NOTHING = / foreign | html|without a word|404 empty|idempotency_key_reused/;
/** A no that only looking decides. */
const ODD = /odd word|duplicate_request|409 card_/;

function oddAnswersTo(operation: WriteOperation, kind: RegExp): string[] {
  return answersTo(operation)
    .filter(({ name, says }) => says === 'odd-no' && kind.test(name))
    .map(({ name }) => name);
}

function cells(
  operations: readonly WriteOperation[],
  road: Road,
  around: Partial<Cell>,
  kind: RegExp,
  lead: readonly string[] = [],
): Cell[] {
  return operations.flatMap(operation =>
    oddAnswersTo(operation, kind).map(name => ({ ...PLAIN, operation, road, ...around, answers: [...lead, name] })),
  );
}

const ROADS: readonly (readonly [Road, readonly WriteOperation[]])[] = [
  ['single', OPERATIONS],
  ['bulk', OPERATIONS],
  ['several', STATES],
  ['api', OPERATIONS],
  ['lease', ['create']],
];

const EITHER = new RegExp(`${PROVES_NOTHING.source}|${ODD.source}`);

/** A no to our own resend says nothing of what was sent first. */
const RESENT: readonly Cell[] = (['429, done', 'lost before-headers, done', '503, done'] as const).flatMap(first =>
  (['single', 'several', 'bulk', 'api'] as const).flatMap(road =>
    [LAGGING, BLIND].flatMap(behind =>
      STATES.map(operation => ({ ...PLAIN, operation, road, behind, answers: [first] })),
    ),
  ),
);

/** Every such refusal on every road, before readings that lag; those that prove nothing also where nobody can see. */
export const REFUSAL_CELLS: readonly Cell[] = [
  ...ROADS.flatMap(([road, operations]) => cells(operations, road, { behind: LAGGING }, EITHER)),
  ...ROADS.flatMap(([road, operations]) => cells(operations, road, { behind: BLIND }, PROVES_NOTHING)),
  ...cells(OPERATIONS, 'single', { behind: LAGGING, known: 'honoured' }, EITHER),
  ...cells(OPERATIONS, 'single', { behind: LAGGING, mode: 'live', keys: 'ignored' }, EITHER),
  ...cells(['create'], 'single', { behind: LISTED_LATE }, EITHER),
  ...RESENT,
];

/** One of each kind, and each road once. */
export const FEW_REFUSAL_CELLS: readonly Cell[] = REFUSAL_CELLS.filter(
  ({ operation, road, mode, known, behind, answers }) => {
    const [name = ''] = answers;
    if (!name.endsWith(', done') || mode === 'live' || known !== 'unknown') return false;
    // Of two that undo each other one is enough, and so is each road once for what changes a state.
    if (operation === 'withdraw' || operation === 'unfreeze') return false;
    if ((operation === 'freeze' && road === 'bulk') || (operation === 'terminate' && road === 'several')) return false;
    if (behind === LISTED_LATE) return name.startsWith('409 odd');
    if (road === 'single' && behind === BLIND && operation.endsWith('freeze')) return /^403 html/.test(name);
    if (road === 'single' && behind === BLIND)
      return /^403 html|^422 idempotency|foreign (?:card_terminated|bin_not)/.test(name);
    if (road === 'single') return /^409 (?:odd|card_)|^429/.test(name);
    return road !== 'api' && behind === LAGGING && /^(?:409 odd|429)/.test(name);
  },
);
