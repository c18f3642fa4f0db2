/** The cells of the table: every class of answer on every operation, and what surrounds it varied around that. */
import type { WriteOperation } from '../support/card-books.ts';
import { answersTo } from './answers.ts';
import type { Arena } from './arena.ts';
import { type Cell, type HowFar, nameOf, type Played, playCell } from './cells.ts';
import { FEW_REFUSAL_CELLS, REFUSAL_CELLS } from './refusal-cells.ts';

const OPERATIONS: readonly WriteOperation[] = ['create', 'fund', 'withdraw', 'terminate', 'freeze', 'unfreeze'];
const ONCE: readonly WriteOperation[] = ['create', 'fund', 'withdraw', 'terminate'];
const STATES: readonly WriteOperation[] = ['terminate', 'freeze', 'unfreeze'];

const LOST = 'lost before-headers';
const LOST_DONE = `${LOST}, done`;
const LOST_NONE = `${LOST}, none`;
const LATER = `${LOST}, later`;
const THROTTLED = '429, none';
const IN_PROGRESS = '409 idempotency_in_progress, done';
/** A no that follows the deed: in words that nobody knows, and about the key. */
const FEW_NO_AFTER_ALL = [['409 odd word, done'], ['422 idempotency_key_reused, done']] as const;
const NO_AFTER_ALL = [
  ...FEW_NO_AFTER_ALL,
  ['400 odd word, done'],
  ['422 odd word, done'],
  ['409 idempotency_key_reused, done'],
] as const;

const PLAIN = { road: 'single', mode: 'test', known: 'unknown', keys: 'honoured' } as const;

/** One or two of each kind of answer, where all of them would be the same story again. */
const TYPICAL: ReadonlySet<string> = new Set([
  'honest',
  LOST,
  'lost in-body',
  '200 status failed',
  '200 errors',
  '200 {}',
  '200 empty',
  '201 old card',
  '201 old card with all that was asked',
  '201 old card that says it is new',
  '201 other amount',
  '201 other marker',
  '200 other card',
  '200 unchanged balances',
  '200 forged balances',
  '200 state as before',
  '200 other card in that state',
  '202 empty',
  '200 pending',
  '307',
  '500',
  '502 html',
  '429',
  '400 insufficient_funds',
  '400 invalid_request',
  '401',
  '404 not_found',
  '409 card_terminated',
  '400 odd word',
  '409 odd word',
  '403 html',
  '409 foreign card_expired',
  '409 duplicate_request',
  '422 idempotency_key_reused',
  '409 idempotency_in_progress',
  '404 odd word',
]);

/** Rows are not read one by one: the end of the run objects to such a card, as `misnamed-cards.test.ts` shows. */
const SEEN_AT_THE_END = '201 old card that says it is new';

type Chosen = 'every' | 'typical';

/** `leads` come before each class of answer, so that it meets a later attempt. */
function cellsFor(
  operations: readonly WriteOperation[],
  chosen: Chosen,
  around: Partial<Cell>,
  ...leads: readonly (readonly string[])[]
): Cell[] {
  const isPlayed = (name: string) => around.road !== 'bulk' || !name.startsWith(SEEN_AT_THE_END);
  const isChosen = (name: string) => chosen === 'every' || TYPICAL.has(name.slice(0, name.lastIndexOf(',')));
  return operations.flatMap(operation =>
    (leads.length === 0 ? [[]] : leads).flatMap(lead =>
      answersTo(operation)
        .filter(({ name }) => isChosen(name) && isPlayed(name))
        .map(({ name }) => ({ ...PLAIN, operation, ...around, answers: [...lead, name] })),
    ),
  );
}

/** One lead alone, with what follows honest. */
function cellsOf(
  operations: readonly WriteOperation[],
  around: Partial<Cell>,
  ...answers: readonly (readonly string[])[]
): Cell[] {
  return operations.flatMap(operation => answers.map(each => ({ ...PLAIN, operation, ...around, answers: each })));
}

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

/** A card that is in the wanted state before it is asked for. */
export const ALREADY: readonly Cell[] = (['single', 'bulk', 'several', 'api'] as const).flatMap(road =>
  cellsFor(STATES, 'typical', { road, already: true }),
);

const THROTTLED_DONE = '429, done';
/** "Later" of what is done already: where keys are ignored, honoured, not known, and at each of the attempts. */
export const LATER_CELLS: readonly Cell[] = [
  ...(['single', 'bulk', 'api'] as const).flatMap(road =>
    (['test', 'live'] as const).flatMap(mode =>
      cellsOf(
        OPERATIONS,
        { road, mode, keys: 'ignored' },
        [THROTTLED_DONE],
        [THROTTLED, THROTTLED_DONE],
        [THROTTLED_DONE, THROTTLED_DONE, THROTTLED_DONE],
        [THROTTLED, THROTTLED, THROTTLED_DONE],
        ['429 in 20 s, done'],
        ['429 in an hour, done'],
        ['429 in an hour, none'],
        ['503 rate_limited, done'],
      ),
    ),
  ),
  ...cellsOf(STATES, { road: 'several' }, [THROTTLED_DONE], [THROTTLED, THROTTLED, THROTTLED_DONE]),
  ...cellsOf(['create'], { road: 'lease', keys: 'ignored' }, [THROTTLED_DONE], [THROTTLED, THROTTLED_DONE]),
  ...cellsOf(
    ONCE,
    { known: 'honoured', keys: 'forgotten soon' },
    [LOST_DONE],
    [THROTTLED_DONE],
    [LOST_DONE, '429 in 20 s, none'],
    ['429 in 20 s, done'],
    ['429 in 20 s, done', '429 in 20 s, none'],
  ),
  ...cellsOf(ONCE, { known: 'honoured', keys: 'front' }, [THROTTLED_DONE], [THROTTLED]),
  ...cellsOf(ONCE, { known: 'honoured', keys: 'forgotten', doze: true }, [THROTTLED_DONE], [THROTTLED]),
  ...cellsOf(ONCE, { known: 'honoured', keys: '409' }, [THROTTLED_DONE]),
];

/** Every cell. */
export const FULL: readonly Cell[] = [
  ...cellsFor(OPERATIONS, 'every', {}),
  ...cellsFor(ONCE, 'every', { known: 'honoured' }, [LOST_DONE]),
  ...cellsFor(ONCE, 'typical', { known: 'honoured' }, [], [LOST_NONE], [THROTTLED], ...THIRD),
  ...cellsFor(ONCE, 'typical', {}, [THROTTLED]),
  ...cellsFor(ONCE, 'typical', { known: 'ignored', keys: 'ignored' }, [], [LOST_DONE], [THROTTLED]),
  ...cellsFor(ONCE, 'typical', { known: 'other key honoured', keys: 'ignored' }, [], [LOST_DONE]),
  ...cellsFor(OPERATIONS, 'typical', { mode: 'live', keys: 'ignored' }),
  ...cellsFor(ONCE, 'typical', { mode: 'live', known: 'other key honoured', keys: 'ignored' }, [], [LOST_DONE]),
  ...cellsFor(['create', 'fund'], 'typical', { mode: 'live', road: 'bulk', keys: 'ignored' }),
  ...cellsFor(['create', 'fund'], 'typical', { mode: 'live', road: 'api', keys: 'ignored' }),
  ...REPEATS,
  ...cellsOf(
    ONCE,
    { known: 'honoured', keys: 'forgotten', doze: true },
    [LOST_DONE, THROTTLED],
    [THROTTLED, LOST_DONE],
  ),
  ...cellsFor(['create'], 'typical', { metadata: 'not-in-lists' }),
  ...cellsFor(['create'], 'every', { metadata: 'nowhere' }),
  ...cellsFor(OPERATIONS, 'every', { road: 'bulk' }),
  ...cellsFor(ONCE, 'typical', { road: 'bulk', known: 'honoured' }, [LOST_DONE]),
  ...cellsFor(STATES, 'typical', { road: 'several' }),
  ...cellsFor(OPERATIONS, 'typical', { road: 'api' }),
  ...cellsFor(['create'], 'every', { road: 'lease' }),
  ...cellsFor(['create'], 'typical', { road: 'lease', known: 'honoured' }, [LOST_DONE]),
  ...cellsFor(['create'], 'typical', { road: 'lease', metadata: 'nowhere' }),
  ...ALREADY,
  ...LATER_CELLS,
  ...REFUSAL_CELLS,
  ...cellsOf(['create'], { road: 'lease end' }, ...answersTo('terminate').map(({ name }) => [name])),
  // Answers that are not typical of their operation or road, and are told in the short table too.
  ...(['single', 'bulk'] as const).flatMap(road => cellsOf(ONCE, { road, keys: 'ignored' }, [IN_PROGRESS])),
  ...cellsOf(['create'], { road: 'api' }, ...NO_AFTER_ALL),
  ...(['several', 'api'] as const).flatMap(road => cellsOf(STATES, { road }, ['200 forged state, none'])),
  ...cellsOf(STATES, { already: true }, ['204, none']),
];

const classOf = ({ answers: [name = ''] }: Cell) => name.slice(0, name.lastIndexOf(','));

/** Of classes that are not told apart by their effect one cell each: done behind the first, not done behind the next, and so on. */
function withOneEffectEach(cells: readonly Cell[], both: ReadonlySet<string>): Cell[] {
  const classes = [...new Set(cells.map(classOf))].filter(each => !both.has(each));
  const chosen = classes.flatMap((name, at) => {
    const effects = cells.filter(cell => classOf(cell) === name);
    return effects.slice(at % effects.length, (at % effects.length) + 1);
  });
  return [...cells.filter(cell => both.has(classOf(cell))), ...chosen];
}

/** What a create is told both ways, for money may have moved behind it, or not. */
const EITHER_WAY: ReadonlySet<string> = new Set([LOST, '200 status failed', '429', '409 odd word']);

/** Classes that a create is not told, too: what moves money between wallet and card shows two balances. */
const ofTransfersAlone = (cells: readonly Cell[]) => {
  const ofCreate = new Set(cellsFor(['create'], 'typical', {}).map(classOf));
  return cells.filter(cell => !ofCreate.has(classOf(cell)) || EITHER_WAY.has(classOf(cell)));
};

/** The typical classes for create or fund, and one of each thing around them. */
export const SHORT: readonly Cell[] = [
  ...FEW_REFUSAL_CELLS,
  ...withOneEffectEach(cellsFor(['create'], 'typical', {}), EITHER_WAY),
  ...withOneEffectEach(ofTransfersAlone(cellsFor(['fund'], 'typical', {})), new Set([LOST])),
  ...REPEATS.filter(
    ({ operation, known, answers }) => operation === 'fund' && known !== 'ignored' && answers.join() === LOST_DONE,
  ),
  ...cellsOf(['fund'], { mode: 'live', known: 'other key honoured', keys: 'ignored' }, [LOST_DONE]),
  ...cellsOf(['fund'], { known: 'honoured', keys: 'forgotten', doze: true }, [LOST_DONE, THROTTLED]),
  ...cellsOf(['terminate', 'unfreeze'], {}, ['200 forged state, none']),
  ...cellsOf(['freeze'], {}, ['409 odd word, done'], ['200 {}, none']),
  ...cellsOf(['fund', 'create'], { road: 'bulk' }, ['200 status failed, none'], [LOST_DONE], ['200 {}, done']),
  ...cellsOf(['fund'], { road: 'api' }, ['200 status failed, none'], ['200 {}, none']),
  // What an answer shows in full, and the books do not, on each road.
  ...cellsOf(['withdraw'], {}, ['200 forged balances, none']),
  ...(['bulk', 'api'] as const).flatMap(road => cellsOf(['fund'], { road }, ['200 forged balances, none'])),
  ...(['bulk', 'several', 'api'] as const).flatMap(road => cellsOf(['freeze'], { road }, ['200 forged state, none'])),
  // "Later" of what is done already: each operation, each road, and where a key is forgotten before it is used again.
  ...cellsOf(['withdraw', 'terminate', 'freeze'], { mode: 'live', keys: 'ignored' }, [THROTTLED_DONE]),
  ...cellsOf(['create', 'fund'], { mode: 'live', keys: 'ignored' }, [THROTTLED, THROTTLED, THROTTLED_DONE]),
  ...(['bulk', 'api'] as const).flatMap(road =>
    cellsOf(['create', 'fund'], { road, keys: 'ignored' }, [THROTTLED_DONE]),
  ),
  ...cellsOf(['create'], { road: 'lease', keys: 'ignored' }, [THROTTLED_DONE]),
  ...cellsOf(['create', 'fund'], { known: 'honoured', keys: 'forgotten soon' }, [LOST_DONE, '429 in 20 s, none']),
  ...cellsOf(['fund'], { known: 'honoured', keys: 'front' }, [THROTTLED_DONE]),
  // What is so already was not changed by anything.
  ...cellsOf(['unfreeze'], { already: true }, ['200 status failed, none'], ['204, none'], [LOST_NONE]),
  ...(['single', 'bulk', 'several', 'api'] as const).flatMap(road =>
    cellsOf(['terminate'], { road, already: true }, ['200 status failed, none']),
  ),
  // Nobody has proved the key: "in progress" is no reason to send it again.
  ...cellsOf(['create', 'fund'], { keys: 'ignored' }, [IN_PROGRESS]),
  ...cellsOf(['fund'], { known: 'ignored', keys: 'ignored' }, [IN_PROGRESS]),
  ...cellsOf(['create'], { mode: 'live', known: 'other key honoured', keys: 'ignored' }, [IN_PROGRESS]),
  ...cellsOf(['create'], { road: 'bulk', keys: 'ignored' }, [IN_PROGRESS]),
  ...cellsOf(['fund'], { mode: 'live', road: 'api', keys: 'ignored' }, [IN_PROGRESS]),
  ...cellsOf(['fund'], { road: 'bulk' }, ...FEW_NO_AFTER_ALL),
  ...cellsOf(['withdraw'], { road: 'bulk' }, ['409 odd word, done']),
  ...cellsOf(['create'], { road: 'api' }, ...FEW_NO_AFTER_ALL),
  ...cellsOf(['create'], { road: 'api' }, ['201 old card that says it is new, none']),
  ...cellsOf(['create'], { metadata: 'nowhere' }, ...FEW_NO_AFTER_ALL),
  ...cellsOf(
    ['create'],
    { road: 'lease' },
    ['201 old card, none'],
    ['201 old card, done'],
    ['201 old card with all that was asked, none'],
    ['201 old card that says it is new, none'],
    [LOST_DONE],
  ),
];

/** What a cell has: its answers, its operation on its road, what is known of keys and what becomes of them, and each thing around. */
function factsOf({ operation, answers, road, known, keys, ...around }: Cell): readonly string[] {
  const others = Object.entries(around).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [answers.join(), `${operation} by ${road}`, `keys ${known}, ${keys}`, ...others];
}

/** Those that have something that none of the others has: one after the other goes whose facts are left without it. */
function withNothingTwice(cells: readonly Cell[]): Cell[] {
  const counts = new Map<string, number>();
  for (const fact of cells.flatMap(factsOf)) counts.set(fact, (counts.get(fact) ?? 0) + 1);
  return cells.filter(cell => {
    const facts = factsOf(cell);
    const isNeeded = facts.some(fact => counts.get(fact) === 1);
    if (!isNeeded) for (const fact of facts) counts.set(fact, (counts.get(fact) ?? 0) - 1);
    return isNeeded;
  });
}

/** Of the short table every answer once, every operation on every road once, and once everything that surrounds them. */
export const SHARPEST: readonly Cell[] = withNothingTwice(SHORT);

export interface Summary {
  readonly cells: number;
  readonly wrong: readonly Played[];
  readonly needless: readonly Played[];
}

/** Plays them one after the other. */
export async function playTable(arena: Arena, cells: readonly Cell[], how: HowFar): Promise<Summary> {
  const played: Played[] = [];
  for (const cell of cells) {
    played.push(await playCell(arena, cell, how));
  }
  return {
    cells: cells.length,
    wrong: played.filter(({ wrong }) => wrong.length > 0),
    needless: played.filter(({ needless }) => needless),
  };
}

/** The counts in one line. */
export function countsText({ cells, wrong, needless }: Summary): string {
  const figures = [`${wrong.length} wrong`, `${needless.length} unknown though knowable`];
  return `${cells} cells: ${figures.join(', ')}`;
}

/** A paragraph for each cell that broke a law. */
export function wrongText({ wrong }: Summary): string {
  return wrong.map(({ cell, wrong: said }) => `${nameOf(cell)}\n  ${said.join('\n  ')}`).join('\n');
}
