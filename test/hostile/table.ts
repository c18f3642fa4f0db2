/** The cells of the table: every class of answer on every operation, and what surrounds it varied around that. */
import type { WriteOperation } from '../support/hostile-service.ts';
import { answersTo } from './answers.ts';
import type { Arena } from './arena.ts';
import { type Cell, nameOf, type Played, playCell, type Road } from './cells.ts';

const OPERATIONS: readonly WriteOperation[] = ['create', 'fund', 'withdraw', 'terminate', 'freeze', 'unfreeze'];
const ONCE: readonly WriteOperation[] = ['create', 'fund', 'withdraw', 'terminate'];
const STATES: readonly WriteOperation[] = ['terminate', 'freeze', 'unfreeze'];

const LOST_DONE = 'lost before-headers, done';
const LOST_NONE = 'lost before-headers, none';
const LATER = 'lost before-headers, later';
const THROTTLED = '429, none';

const PLAIN = { road: 'single', mode: 'test', known: 'unknown', keys: 'honoured' } as const;

/** `leads` come before each class of answer, so that it meets a later attempt. */
function cellsFor(
  operations: readonly WriteOperation[],
  around: Partial<Cell>,
  ...leads: readonly (readonly string[])[]
): Cell[] {
  return operations.flatMap(operation =>
    (leads.length === 0 ? [[]] : leads).flatMap(lead =>
      answersTo(operation).map(({ name }) => ({ ...PLAIN, operation, ...around, answers: [...lead, name] })),
    ),
  );
}

/** One lead alone, with what follows honest. */
function cellsOf(
  operations: readonly WriteOperation[],
  around: Partial<Cell>,
  ...answers: readonly string[][]
): Cell[] {
  return operations.flatMap(operation => answers.map(each => ({ ...PLAIN, operation, ...around, answers: each })));
}

const SECOND = [[LOST_DONE], [LOST_NONE], [THROTTLED]] as const;
const THIRD = [
  [LOST_NONE, LOST_DONE],
  [THROTTLED, LOST_DONE],
] as const;

/** What a service does with a repeated key, each in the two ways an answer is lost. */
const REPEATS: readonly Cell[] = (['ignored', 'forgotten', 'front', '409', '400', '422'] as const).flatMap(keys =>
  (['unknown', 'honoured', 'ignored'] as const)
    // What was proved and is not so any more is a service that changed its mind; only a life that ends is to be expected.
    .filter(known => known !== 'honoured' || keys === 'forgotten' || keys === 'front')
    .flatMap(known =>
      cellsOf(
        ONCE,
        { keys, known },
        [LOST_DONE],
        [LOST_NONE],
        [LATER],
        ['503, done'],
        ['500, none'],
        ['429, none', LOST_DONE],
        [LOST_DONE, THROTTLED],
        [LOST_DONE, LOST_DONE],
      ),
    ),
);

const BULK = (road: Road) => cellsFor(road === 'several' ? STATES : OPERATIONS, { road });

/** Every cell. */
export const FULL: readonly Cell[] = [
  ...cellsFor(OPERATIONS, {}),
  ...cellsFor(ONCE, { known: 'honoured' }, [], ...SECOND),
  ...cellsFor(['create', 'fund'], { known: 'honoured' }, ...THIRD),
  ...cellsFor(ONCE, {}, [THROTTLED]),
  ...cellsFor(ONCE, { known: 'ignored', keys: 'ignored' }, [], [LOST_DONE], [THROTTLED]),
  ...cellsFor(ONCE, { known: 'other key honoured', keys: 'ignored' }, [], [LOST_DONE]),
  ...cellsFor(OPERATIONS, { mode: 'live', keys: 'ignored' }),
  ...cellsFor(ONCE, { mode: 'live', known: 'other key honoured', keys: 'ignored' }, [], [LOST_DONE]),
  ...REPEATS,
  ...cellsOf(
    ONCE,
    { known: 'honoured', keys: 'forgotten', doze: true },
    [LOST_DONE, THROTTLED],
    [THROTTLED, LOST_DONE],
  ),
  ...(['not-in-lists', 'nowhere'] as const).flatMap(metadata => cellsFor(['create'], { metadata })),
  ...BULK('bulk'),
  ...cellsFor(ONCE, { road: 'bulk', known: 'honoured' }, [LOST_DONE]),
  ...BULK('several'),
  ...BULK('api'),
  ...cellsFor(['create'], { road: 'lease' }),
  ...cellsFor(['create'], { road: 'lease', known: 'honoured' }, [LOST_DONE]),
  ...cellsFor(['create'], { road: 'lease', metadata: 'nowhere' }),
  ...cellsOf(['create'], { road: 'lease end' }, ...answersTo('terminate').map(({ name }) => [name])),
];

/** Every class once for create and fund, and one of each thing around it. */
export const SHORT: readonly Cell[] = [
  ...cellsFor(['create', 'fund'], {}),
  ...REPEATS.filter(({ operation, answers }) => operation === 'fund' && answers.join() === LOST_DONE),
  ...cellsOf(['fund'], { mode: 'live', known: 'other key honoured', keys: 'ignored' }, [LOST_DONE]),
  ...cellsOf(['fund'], { known: 'honoured', keys: 'forgotten', doze: true }, [LOST_DONE, THROTTLED]),
  ...cellsOf(STATES, {}, ['409 odd word, done'], ['200 forged state, none'], ['200 {}, none']),
  ...cellsOf(['fund', 'create'], { road: 'bulk' }, ['200 status failed, none'], [LOST_DONE], ['200 {}, done']),
  ...cellsOf(['fund'], { road: 'api' }, ['200 status failed, none'], ['200 {}, none']),
  ...cellsOf(['create'], { road: 'lease' }, ['201 old card, none'], ['201 old card, done'], [LOST_DONE]),
];

export interface Summary {
  readonly cells: number;
  readonly wrong: readonly Played[];
  readonly needless: readonly Played[];
  readonly deceived: number;
}

/** Plays them one after the other. */
export async function playTable(
  arena: Arena,
  cells: readonly Cell[],
  onPlayed: (played: Played) => void = () => undefined,
): Promise<Summary> {
  const played: Played[] = [];
  for (const cell of cells) {
    const one = await playCell(arena, cell);
    onPlayed(one);
    played.push(one);
  }
  return {
    cells: cells.length,
    wrong: played.filter(({ wrong }) => wrong.length > 0),
    needless: played.filter(({ needless }) => needless),
    deceived: played.filter(({ deceived }) => deceived).length,
  };
}

/** The counts in one line. */
export function countsText({ cells, wrong, needless, deceived }: Summary): string {
  const figures = [
    `${wrong.length} wrong`,
    `${needless.length} unknown though knowable`,
    `${deceived} whole lies believed`,
  ];
  return `${cells} cells: ${figures.join(', ')}`;
}

/** A paragraph for each cell that broke a law. */
export function wrongText({ wrong }: Summary): string {
  return wrong.map(({ cell, wrong: said }) => `${nameOf(cell)}\n  ${said.join('\n  ')}`).join('\n');
}

/** Names of the cells that said "unknown" although the model knows. */
export function needlessText({ needless }: Summary): string {
  return needless.map(({ cell }) => nameOf(cell)).join('\n');
}
