/**
 * "Later" (429) of what is done already, or a moment after the answer, before readings that show new cards late or not at all;
 * and "later" for ever.
 */
import type { Behind, WriteOperation } from '../support/hostile-service.ts';
import type { Cell, Road } from './cells.ts';

const MOVED: readonly WriteOperation[] = ['fund', 'withdraw', 'terminate', 'freeze', 'unfreeze'];
const AN_HOUR = 3_600_000;

const NONE = '429, none';
const DONE = '429, done';
const DONE_AFTER = '429, done 1500 ms later';
const HONEST = 'honest, done';

/** New cards show so late, in more and more of what can be read. */
const late = (ms: number): readonly Behind[] => [
  { listMs: ms },
  { listMs: ms, newMs: ms },
  { listMs: ms, newMs: ms, walletMs: ms },
];

function cells(operation: WriteOperation, around: Partial<Cell>, ...answers: readonly (readonly string[])[]): Cell[] {
  const plain = { operation, road: 'single', mode: 'test', known: 'unknown', keys: 'ignored' } as const;
  return answers.map(each => ({ ...plain, ...around, answers: each }));
}

/** Of an effect that comes after its 429, and that neither list nor wallet shows before the next one, nothing can be known. */
function creates(around: Partial<Cell>): Cell[] {
  const lies = [[DONE], [NONE, DONE], [DONE_AFTER], [NONE, DONE_AFTER], [HONEST]];
  return [
    ...[2_500, 6_000].flatMap(late).flatMap(behind => cells('create', { ...around, behind }, ...lies)),
    ...cells('create', { ...around, behind: { listMs: AN_HOUR } }, ...lies),
    ...cells('create', { ...around, behind: { listMs: AN_HOUR, newMs: AN_HOUR } }, [DONE], [HONEST]),
    ...cells('create', { ...around, isEndless: true }, [NONE], [DONE], [DONE_AFTER]),
  ];
}

const ROADS: readonly Partial<Cell>[] = (['single', 'bulk', 'api'] as const)
  .flatMap(road => (['test', 'live'] as const).map((mode): Partial<Cell> => ({ road, mode })))
  .concat([{ road: 'lease' }]);

export const LATE_CELLS: readonly Cell[] = [
  ...ROADS.flatMap(creates),
  ...(['single', 'bulk'] as const).flatMap(road =>
    cells('create', { road, known: 'honoured', keys: 'honoured', behind: { listMs: AN_HOUR } }, [DONE], [NONE, DONE]),
  ),
  ...(['single', 'bulk', 'api'] as const).flatMap(road =>
    MOVED.flatMap(operation => [
      ...cells(operation, { road }, [DONE_AFTER], [NONE, DONE_AFTER], [NONE, NONE, DONE_AFTER]),
      ...cells(operation, { road, isEndless: true }, [NONE]),
    ]),
  ),
];

const FEW: readonly (readonly [Road, Behind | undefined, string])[] = [
  ['single', { listMs: 2_500 }, DONE],
  ['single', { listMs: 6_000, newMs: 6_000, walletMs: 6_000 }, DONE_AFTER],
  ['single', { listMs: AN_HOUR }, DONE],
  ['single', { listMs: AN_HOUR }, DONE_AFTER],
  ['single', undefined, NONE],
  ['lease', { listMs: AN_HOUR }, DONE],
  ['api', { listMs: AN_HOUR }, DONE],
  ['bulk', { listMs: 2_500 }, DONE],
  ['bulk', { listMs: AN_HOUR }, DONE],
  ['bulk', { listMs: 6_000, newMs: 6_000 }, HONEST],
  ['bulk', { listMs: AN_HOUR, newMs: AN_HOUR }, DONE],
  ['bulk', undefined, NONE],
];

/** Each road once, and each way to be late. */
export const FEW_LATE_CELLS: readonly Cell[] = FEW.flatMap(([road, behind, answer]) =>
  cells('create', { road, ...(behind === undefined ? { isEndless: true } : { behind }) }, [answer]),
);
