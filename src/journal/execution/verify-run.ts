/**
 * The audit of a run: what the journal calls done is compared with what the service has
 * (docs/design/reliability.md, section 6).
 */
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, centsOf, dollars } from '../../core/money.ts';
import type { RowHistory } from '../wal/replay.ts';
import { MARKER_KEY, markerOf } from './marker.ts';
import type { MadeCard, RowIndex } from './row-index.ts';
import type { RunContext } from './run-context.ts';
import { duplicateNotes } from './unknown-error.ts';

/** What is wrong, a sentence each. Throws as reading does when the service cannot be asked. */
export async function auditRun(context: RunContext): Promise<string[]> {
  const made = cardsOf(context.rowIndex);
  if (made.bins.size === 0) return [];
  const { missing, twice, ...listed } = await compared(context, made);
  const others = await otherCards(context, listed);
  return [...(await notThere(context.reader, missing)), ...others, ...twice, ...made.objections];
}

/** What the rows say, gone through once: there may be a hundred thousand of them. */
interface Made {
  readonly bins: ReadonlySet<string>;
  /** Rows by their cards. */
  readonly rows: Map<string, number>;
  readonly duplicates: Map<number, RowHistory>;
  readonly objections: readonly string[];
}

function cardsOf(rowIndex: RowIndex): Made {
  const rows = new Map<string, number>();
  const duplicates = new Map<number, RowHistory>();
  const objections: string[] = [];
  const add = ({ row, id }: MadeCard) => {
    const first = rows.get(id);
    if (first === undefined) rows.set(id, row);
    // Answers went astray, and no marker in them told so.
    else
      objections.push(`rows ${first} and ${row}: both were answered with card ${id}, so one of them has another card`);
  };
  for (const card of rowIndex.restingCards()) add(card);
  const bins = new Set(rows.size > 0 ? rowIndex.restingBins : []);
  for (const row of rowIndex.held()) {
    const { item, state, done, duplicate } = row;
    if (item.operation !== 'cards.create' || state !== 'done') continue;
    bins.add(String(item.input['bin_id']));
    if (duplicate !== undefined) duplicates.set(item.row, row);
    if (done?.id !== undefined) add({ row: item.row, id: done.id });
    objections.push(...otherAmount(row));
  }
  return { bins, rows, duplicates, objections };
}

/**
 * Whether the wallet changed by what the done rows moved. No objection: somebody else may use it at the same time.
 * Nothing when it was not read before, or cannot be read now.
 */
export async function walletRemarks(
  { reader, plan, rowIndex }: RunContext,
  moved: Cents,
  others: () => Promise<readonly OtherOp[]>,
): Promise<string[]> {
  if (plan.wallet === undefined) return [];
  const wanted = plan.wallet + (movesBack(rowIndex) ? moved : -moved);
  try {
    const now = centsOf((await reader.read('wallet.get', {})).balance);
    if (now === undefined || now === wanted) return [];
    const other = `${dollars(cents(Math.abs(now - wanted)))} ${now < wanted ? 'less' : 'more'}`;
    const why = whoElse(await others(), now - wanted);
    return [
      `the wallet holds ${dollars(now)}, ${other} than ${dollars(cents(plan.wallet))} before and the done rows explain: ${why}`,
    ];
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind !== 'internal') return [];
    throw thrown;
  }
}

/** Another operation of this machine, and what it did to the wallet; `untold` when the journal does not know all of it. */
export interface OtherOp {
  readonly op: string;
  readonly cents: number;
  readonly untold: boolean;
}

const MOST_NAMED = 3;

/** Who has used the wallet meanwhile: this machine, as its journal has it, or somebody else. */
function whoElse(others: readonly OtherOp[], difference: number): string {
  if (others.length === 0) return 'somebody else has used it meanwhile';
  const more = others.length > MOST_NAMED ? ` and ${others.length - MOST_NAMED} more` : '';
  const ops = `${others
    .slice(0, MOST_NAMED)
    .map(({ op }) => op)
    .join(', ')}${more}`;
  const sum = others.reduce((all, each) => all + each.cents, 0);
  if (sum === difference && !others.some(({ untold }) => untold)) {
    return `that is what other commands of this machine have moved meanwhile: ${ops}`;
  }
  const what = sum === 0 ? '' : ` (${dollars(cents(Math.abs(sum)))} ${sum < 0 ? 'out' : 'in'} by its journal)`;
  return `other commands of this machine have used it meanwhile: ${ops}${what}; the rest was somebody else, or a row whose amount the journal does not know`;
}

/** Whether the rows give money back to the wallet. All rows of a run that move money move it one way; others move none. */
function movesBack(rowIndex: RunContext['rowIndex']): boolean {
  for (const row of rowIndex.all()) {
    const { item } = row.history();
    if (item.amount !== undefined) return item.operation === 'cards.withdraw';
  }
  return false;
}

/**
 * The lists of their BINs: cards that are not in them, by row, those that do not show the marker of their row there, and
 * rows of which they show several.
 */
async function compared(context: RunContext, { bins, rows, duplicates }: Made) {
  const { reader, plan } = context;
  const missing = new Map(rows);
  const unmarked = new Map<string, number>();
  let isDenied = false;
  const first = new Map<number, string>();
  const several = new Map<number, string[]>();
  const prefix = `${plan.op}.`;
  for (const binId of bins) {
    for await (const { data } of reader.pages('cards.list', { bin_id: binId, per_page: 100 })) {
      for (const { id, metadata } of data) {
        missing.delete(id);
        const marker = metadata?.[MARKER_KEY];
        const own = rows.get(id);
        if (own !== undefined && marker !== markerOf(plan.op, own)) unmarked.set(id, own);
        if (unmarked.has(id) && metadata !== undefined && metadata !== null) isDenied = true;
        if (!context.markerUsable() || typeof marker !== 'string' || !marker.startsWith(prefix)) continue;
        const row = Number(marker.slice(prefix.length));
        if (marker !== markerOf(plan.op, row)) continue;
        const other = first.get(row);
        if (other === undefined) first.set(row, id);
        else several.set(row, [...(several.get(row) ?? [other]), id]);
      }
    }
  }
  const found = [...several].map(([row, ids]) => {
    const history = context.rowIndex.row(row);
    return history?.state === 'done'
      ? { ...history, duplicate: { t: 'DUPLICATE', row, ids, at: 0 } as const }
      : undefined;
  });
  const told = [...duplicates.values()].filter(({ item }) => !several.has(item.row));
  const twice = [...found, ...told].flatMap(row => (row === undefined ? [] : duplicateNotes(row)));
  return { missing, unmarked, isDenied, twice };
}

/** Of a service whose lists hold no metadata every card looks unmarked: so many are read to tell. */
const MOST_READ = 20;

/**
 * An answer may hold our marker beside the id of a card that was there before: the card itself does not carry it. Where one
 * is found among the first, or the list shows metadata without the marker, none is believed before it was read.
 */
async function otherCards(
  { reader, plan, markerUsable }: RunContext,
  { unmarked, isDenied }: { readonly unmarked: ReadonlyMap<string, number>; readonly isDenied: boolean },
) {
  if (!markerUsable()) return [];
  const others: string[] = [];
  let read = 0;
  for (const [id, row] of unmarked) {
    if (read === MOST_READ && !isDenied && others.length === 0) break;
    const { metadata } = await reader.read('cards.get', { card_id: id });
    read += 1;
    if (metadata === undefined || metadata === null || metadata[MARKER_KEY] === markerOf(plan.op, row)) continue;
    others.push(
      `row ${row}: card ${id} does not carry the marker of this run, so it is not the card that was asked for`,
    );
  }
  return others;
}

/** A list may be stale or leave states out; a card that is not in it is asked for by name. */
async function notThere(reader: RunContext['reader'], missing: ReadonlyMap<string, number>): Promise<string[]> {
  const gone: string[] = [];
  for (const [id, row] of missing) {
    try {
      await reader.read('cards.get', { card_id: id });
    } catch (thrown) {
      if (!(thrown instanceof CliError) || thrown.kind !== 'not_found') throw thrown;
      gone.push(`row ${row}: card ${id} does not exist`);
    }
  }
  return gone;
}

function otherAmount({ item, done }: RowHistory): string[] {
  if (done?.balance === undefined || done.via !== 'answer' || done.balance === item.amount) return [];
  const [issued, planned] = [dollars(cents(done.balance)), dollars(cents(item.amount ?? 0))];
  return [`row ${item.row}: card ${done.id} was issued with ${issued}, planned were ${planned}`];
}
