/** One cell of the table: what is asked on which road, what the service does and says, and whether what is reported is true. */
import type { Behind, BookOptions, WriteOperation } from '../support/card-books.ts';
import type { SeenRequest } from '../support/hostile-service.ts';
import type { Ran } from '../support/world.ts';
import { type AnswerClass, answerNamed } from './answers.ts';
import { type Arena, type Known, type Mode, PATIENCE, type Place } from './arena.ts';
import { type Claim, claimOf, isKnowable, isTrue, type Says } from './model.ts';

export type Road = 'single' | 'bulk' | 'several' | 'api' | 'lease' | 'lease end';
/** What the service truly does with a repeated key. */
export type Keys = 'honoured' | 'ignored' | 'forgotten' | 'forgotten soon' | 'front' | '409' | '400' | '422';

export interface Cell {
  readonly operation: WriteOperation;
  readonly road: Road;
  readonly mode: Mode;
  readonly known: Known;
  readonly keys: Keys;
  /** Names of answers, one for each attempt; honest after the last. */
  readonly answers: readonly string[];
  readonly metadata?: 'not-in-lists' | 'nowhere';
  /** How far what is read is behind the books. */
  readonly behind?: Behind;
  /** The wall clock goes on by a day in the first pause, as while a laptop sleeps. */
  readonly doze?: boolean;
  /** The cards are in the wanted state before anything is asked. */
  readonly already?: boolean;
}

export interface Played {
  readonly cell: Cell;
  /** Every broken law, in words; empty where all of it is true. */
  readonly wrong: readonly string[];
  /** It said "unknown" where the model knows. */
  readonly needless: boolean;
}

const DAY = 86_400_000;
const AMOUNT = 25;
const WANTED: Partial<Record<WriteOperation, string>> = {
  terminate: 'terminated',
  freeze: 'frozen',
  unfreeze: 'active',
};

export function nameOf({ operation, road, mode, known, keys, answers, ...cell }: Cell): string {
  const { metadata, behind, doze, already } = cell;
  const late = behind && Object.entries(behind).map(([what, ms]) => `${what} ${ms}`);
  const more = [late?.join(' '), metadata && `metadata ${metadata}`, doze && 'a day asleep', already && 'already so']
    .filter(Boolean)
    .map(each => `, ${each}`);
  return `${operation} by ${road}, ${mode}, key ${known}, in truth ${keys}${more.join('')}: ${answers.join(' | ')}`;
}

/** Rows of a cell: one, or three of which the second meets the answers. */
const rowsOn = (road: Road) => (road === 'bulk' || road === 'several' ? [1, 2, 3] : [1]);
const playedRow = (road: Road) => (rowsOn(road).length === 3 ? 2 : 1);

function accountFor({ operation, keys, metadata, behind, already = false }: Cell): BookOptions {
  const before = operation === 'unfreeze' ? 'frozen' : 'active';
  const status = already ? (WANTED[operation] ?? before) : before;
  // Where money is checked before keys, the first request leaves too little for a second one.
  const scarce = keys === 'front';
  const cards = [1, 2, 3, 4].map(() => ({ status, cents: scarce && operation === 'withdraw' ? AMOUNT * 100 : 10_000 }));
  return {
    walletCents: scarce ? AMOUNT * 100 : 100_000,
    checksBeforeKeys: scarce,
    keys: keyPolicy(keys),
    cards,
    ...(metadata === undefined ? {} : { metadata }),
    ...(behind === undefined ? {} : { behind }),
  };
}

function keyPolicy(keys: Keys): NonNullable<BookOptions['keys']> {
  if (keys === 'honoured' || keys === 'ignored') return keys;
  if (keys === 'front') return 'honoured';
  if (keys === 'forgotten') return { forgottenAfterMs: 600_000 };
  if (keys === 'forgotten soon') return { forgottenAfterMs: 3_000 };
  const error = keys === '409' ? 'duplicate_request' : 'idempotency_key_reused';
  return { repeated: { status: Number(keys), body: { error, message: `no: ${error}`, code: Number(keys) } } };
}

interface Command {
  readonly line: string;
  readonly stdin?: string;
}

function commandOf({ operation, road }: Cell): Command {
  const money = operation === 'fund' || operation === 'withdraw';
  if (road === 'lease' || road === 'lease end') {
    return { line: `cards lease --bin bin_1 --amount ${AMOUNT} --ttl ${PATIENCE} --reveal -- /bin/true` };
  }
  if (road === 'several') return { line: `cards ${operation} card_1 card_2 card_3` };
  if (road === 'bulk') {
    const columns = operation === 'create' ? 'bin_id,amount,label' : money ? 'card_id,amount' : 'card_id';
    const row = (n: number) =>
      operation === 'create' ? `bin_1,${AMOUNT},row-${n}` : money ? `card_${n},${AMOUNT}` : `card_${n}`;
    return { line: `cards ${operation} --file -`, stdin: [columns, row(1), row(2), row(3), ''].join('\n') };
  }
  if (road === 'api') {
    const body = money || operation === 'create' ? ` -F amount:=${AMOUNT}` : '';
    const path = operation === 'create' ? '/cards -f bin_id=bin_1 -f label=row-1' : `/cards/card_1/${operation}`;
    return { line: `api POST ${path}${body}` };
  }
  if (operation === 'create') return { line: `cards create --bin bin_1 --amount ${AMOUNT} --label row-1` };
  return { line: `cards ${operation} card_1${money ? ` --amount ${AMOUNT}` : ''}` };
}

const isOfRow = (seen: SeenRequest, { operation, road }: Cell, row: number): boolean => {
  if (seen.operation !== operation) return false;
  if (road === 'lease' || road === 'lease end') return true;
  return operation === 'create' ? seen.body['label'] === `row-${row}` : seen.card === `card_${row}`;
};

interface Stage {
  readonly arena: Arena;
  readonly cell: Cell;
  readonly place: Place;
}

/** How often the books say that a row happened by requests of this operation of the journal: their keys begin with its id. */
function effectsBy(stage: Stage, row: number, op: string): number {
  const { arena, cell, place } = stage;
  const own = new Set(
    arena.service.requests
      .filter(seen => isOfRow(seen, cell, row) && seen.key?.startsWith(`${op}.`))
      .map(({ number }) => number),
  );
  return arena.service.books(place.key).effects.filter(({ request }) => own.has(request.number)).length;
}

/** How often the books say that a row happened; of a state, whether it is the wanted one. */
function effectsOf({ arena, cell, place }: Stage, row: number): number {
  const { cards, effects } = arena.service.books(place.key);
  const wanted = WANTED[cell.operation];
  if (cell.road === 'lease' || cell.road === 'lease end') {
    return effects.filter(({ operation }) => operation === 'create').length;
  }
  if (wanted !== undefined) return cards.get(`card_${row}`)?.status === wanted ? 1 : 0;
  const fits = (effect: (typeof effects)[number]) =>
    cell.operation === 'create' ? effect.label === `row-${row}` : effect.card === `card_${row}`;
  return effects.filter(effect => effect.operation === cell.operation && fits(effect)).length;
}

interface Reported {
  readonly code: number;
  readonly op: string | undefined;
  /** What is claimed of each row. */
  readonly claims: ReadonlyMap<number, Claim>;
  readonly printed: Readonly<Record<string, unknown>>;
  /** The row is named among what the verification objects to, and the command ends with 15, or with 11 for another reason. */
  readonly objectsTo: (row: number) => boolean;
}

const ROW_CLAIMS: Readonly<Record<string, Claim>> = {
  done: 'done',
  refused: 'not done',
  not_sent: 'not done',
  unknown: 'unknown',
};

function reportedBy({ code, out, err }: Ran, rows: readonly number[]): Reported {
  const error = jsonOf(err.trim().split('\n').at(-1) ?? '')['error'] as ToldError | undefined;
  const printed = jsonOf(out);
  const listed = Array.isArray(printed['data']) ? (printed['data'] as Record<string, unknown>[]) : [];
  const page = printed['page'] as { op?: string } | undefined;
  const ofCommand = claimOf(code, error?.outcome);
  const claims = new Map(
    rows.map(row => {
      const line = listed.find(each => each['row'] === row || each['card_id'] === `card_${row}`);
      return [row, ROW_CLAIMS[String(line?.['outcome'])] ?? ofCommand] as const;
    }),
  );
  const objections = code === 15 || code === 11 ? (error?.evidence?.objections ?? []) : [];
  const objectsTo = (row: number) => objections.some(text => new RegExp(`\\brows? (\\d+, )*${row}\\b`).test(text));
  return { code, op: error?.op ?? page?.op, claims, printed, objectsTo };
}

interface ToldError {
  readonly op?: string;
  readonly outcome?: string;
  readonly evidence?: { readonly objections?: readonly string[] };
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export interface HowFar {
  /** Also two at once and once more at the end, after the same command again and one `ops resume`. */
  readonly isThorough: boolean;
}

/** Plays one cell: the command, and what somebody may do after it. */
export async function playCell(arena: Arena, cell: Cell, how: HowFar): Promise<Played> {
  await using place = await arena.enter(cell.known, cell.mode);
  const stage = { arena, cell, place };
  const rows = rowsOn(cell.road);
  arena.service.reset({ [place.key]: accountFor(cell) });
  const classes = cell.answers.map(answerNamed);
  const row = playedRow(cell.road);
  const played = cell.road === 'lease end' ? { ...cell, operation: 'terminate' as const } : cell;
  arena.service.script({
    operation: played.operation,
    where: seen => isOfRow(seen, played, row),
    plays: classes.map(({ play }) => play),
  });
  if (cell.doze) arena.clock.doze(DAY);
  const { line, stdin } = commandOf(cell);
  const wrong: string[] = [];
  const reported = reportedBy(await place.run(line, stdin), rows);
  const needless = cell.road !== 'lease end' && isNeedless(stage, reported, classes);
  wrong.push(...judged(stage, reported, 'the command'), ...strangers(stage));
  arena.service.settle();
  if (!cell.road.startsWith('lease')) wrong.push(...(await followed(stage, reported, how)));
  return { cell, needless, wrong };
}

/** Laws about one command that says how things stand; `op` where only an operation of the journal is reported. */
function judged(stage: Stage, reported: Reported, what: string, op?: string): string[] {
  const { cell } = stage;
  if (reported.code === 1) return [`${what}: exit 1`];
  const isLease = cell.road.startsWith('lease');
  const wrong = rowsOn(cell.road).flatMap(row => {
    const effects = effectsOf(stage, row);
    const claim = reported.claims.get(row) ?? 'unknown';
    const own = op === undefined || claim === 'done' ? effects : effectsBy(stage, row, op);
    // What no reading shows while rows are sent cannot be prevented; it must not go unsaid.
    const isSaid = cell.behind !== undefined && cell.road === 'bulk' && reported.objectsTo(row);
    return [
      ...(effects > 1 && !isSaid ? [`${what}: row ${row} has ${effects} effects`] : []),
      // What ends a lease after its card was made is reported by other means.
      // A request that was refused may find its card in the wanted state: it was so before.
      ...(isTrue(claim, own > 0) || ((isLease || cell.already === true) && claim === 'not done')
        ? []
        : [`${what}: exit ${reported.code} says "${claim}" of row ${row}, ${own} effects`]),
    ];
  });
  return [...wrong, ...untrueNumbers(stage, reported, what), ...untrueChanges(stage, reported, what)];
}

/** What is printed as the result is so in the books. */
function untrueNumbers({ arena, cell, place }: Stage, reported: Reported, what: string): string[] {
  if (reported.code !== 0 || cell.road === 'bulk' || cell.road === 'several' || what !== 'the command') return [];
  const { cards, effects, walletCents } = arena.service.books(place.key);
  const { id, card_balance, wallet_balance, status } = reported.printed;
  if (cell.operation === 'create' && cell.road === 'single') {
    const made = effects.find(({ operation }) => operation === 'create')?.card;
    return id === made ? [] : [`${what}: prints ${String(id)} as the new card, and that is ${String(made)}`];
  }
  const card = cards.get('card_1');
  const wrong: string[] = [];
  const differs = (shown: unknown, cents: number | undefined) =>
    typeof shown === 'number' && cents !== undefined && Math.round(shown * 100) !== cents;
  if (cell.road === 'single' && differs(card_balance, card?.cents)) wrong.push(`${what}: prints another card balance`);
  if (cell.road === 'single' && differs(wallet_balance, walletCents)) wrong.push(`${what}: prints another wallet`);
  if (cell.road === 'single' && WANTED[cell.operation] !== undefined && status !== card?.status) {
    wrong.push(`${what}: prints the state ${String(status)}`);
  }
  return wrong;
}

/** Nothing is called a change that no request has made. */
function untrueChanges({ arena, cell, place }: Stage, { printed }: Reported, what: string): string[] {
  if (WANTED[cell.operation] === undefined || cell.road.startsWith('lease')) return [];
  const { effects } = arena.service.books(place.key);
  const listed = Array.isArray(printed['data']) ? (printed['data'] as Record<string, unknown>[]) : [printed];
  return listed
    .filter(({ changed }) => changed === true)
    .map(({ card_id, id }) => card_id ?? id)
    .filter(card => !effects.some(effect => effect.operation === cell.operation && effect.card === card))
    .map(card => `${what}: says that ${String(card)} was changed, and nothing has changed it`);
}

/** A lease touches no card but those it made. */
function strangers({ arena, cell, place }: Stage): string[] {
  if (!cell.road.startsWith('lease')) return [];
  const { effects, cards } = arena.service.books(place.key);
  const own = new Set(effects.filter(({ operation }) => operation === 'create').map(({ card }) => card));
  const touched = arena.service.requests.filter(
    ({ operation, card }) => (operation === 'details' || operation === 'terminate') && !own.has(card ?? ''),
  );
  const open = [...own].filter(id => cards.get(id)?.status !== 'terminated');
  return [
    ...touched.map(({ operation, card }) => `the lease: ${operation} of ${String(card)}, which is not its own`),
    ...(cell.road === 'lease end' ? [] : open.slice(1).map(id => `the lease: ${id} is left open`)),
  ];
}

function isNeedless(stage: Stage, reported: Reported, classes: readonly AnswerClass[]): boolean {
  const { arena, cell, place } = stage;
  const row = playedRow(cell.road);
  if (reported.claims.get(row) !== 'unknown') return false;
  const answers = arena.service.requests
    .filter(({ bearer }) => bearer === place.key)
    .filter(seen => isOfRow(seen, cell, row))
    .map(seen => readingOf(seen, classes));
  return isKnowable({
    operation: cell.operation,
    answers,
    keyProved: cell.known === 'honoured' && cell.keys === 'honoured',
    // What `api` sends carries no marker.
    markerShown: cell.metadata === undefined && cell.road !== 'api',
    wasThere: cell.already === true,
    readsLate: cell.behind !== undefined,
    markerNeeded: cell.road === 'lease',
    happened: effectsOf(stage, row) > 0,
  });
}

function readingOf({ play, status = 0 }: SeenRequest, classes: readonly AnswerClass[]): Says {
  const found = classes.find(each => each.play === play);
  if (found !== undefined) return found.says;
  return status < 300 ? 'shown' : 'odd-no';
}

/** The same command again, `ops resume`, again, and two at once: never one effect more than was asked for. */
async function followed(stage: Stage, reported: Reported, { isThorough }: HowFar): Promise<string[]> {
  const { arena, cell, place } = stage;
  if (reported.code === 0) return [];
  const rows = rowsOn(cell.road);
  const wrong: string[] = [];
  if (cell.keys === 'forgotten') arena.clock.pass(25 * 3_600_000);
  const { line, stdin } = commandOf(cell);
  let isDone = false;
  const resume = async (what: string) => {
    if (reported.op === undefined) return;
    const resumed = reportedBy(await place.run(`ops resume ${reported.op}`), rows);
    isDone ||= resumed.code === 0;
    // A guard says nothing of the rows: somebody else is at it, or nothing is left to do.
    if (resumed.code !== 14) wrong.push(...judged(stage, resumed, what, reported.op));
  };
  const again = async (what: string) => {
    // What was said to be done may well be asked for a second time.
    if (isDone) return;
    const before = rows.map(row => effectsOf(stage, row));
    const repeated = reportedBy(await place.run(line, stdin), rows);
    isDone ||= repeated.code === 0;
    for (const [at, row] of rows.entries()) {
      const [effects, claim] = [effectsOf(stage, row), repeated.claims.get(row) ?? 'unknown'];
      if (effects > Math.max(1, before[at] ?? 0)) wrong.push(`${what}: row ${row} has ${effects} effects`);
      if (claim === 'done' && effects === 0) wrong.push(`${what}: exit ${repeated.code} without the effect`);
      if (claim === 'not done' && effects > (before[at] ?? 0)) wrong.push(`${what}: exit ${repeated.code} with it`);
    }
  };
  await again('the same command again');
  await resume('ops resume');
  if (!isThorough || ![...reported.claims.values()].includes('unknown')) return wrong;
  await Promise.all([resume('two ops resume at once'), resume('two ops resume at once')]);
  await again('the same command at the end');
  return wrong;
}
