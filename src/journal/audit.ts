/** The audit of a run: what the journal calls done is compared with what the service has (RELIABILITY, section 6). */
import type { Reader } from '../contract/service.ts';
import { CliError } from '../errors.ts';
import { cents, centsOf, dollars } from '../money.ts';
import type { Desk } from './desk.ts';
import type { RowHistory } from './history.ts';
import { MARKER_KEY, markerOf } from './marker.ts';
import type { PlanRecord } from './record.ts';
import { duplicateNotes } from './unknown.ts';

export interface Audited {
  readonly reader: Reader;
  readonly plan: PlanRecord;
  readonly rows: readonly RowHistory[];
  /** Created cards carry the marker, as far as seen. */
  readonly markerUsable: boolean;
}

/** What is wrong, a sentence each. Throws as reading does when the service cannot be asked. */
export async function auditRun(audited: Audited): Promise<string[]> {
  const made = audited.rows.filter(({ item, state }) => item.operation === 'cards.create' && state === 'done');
  if (made.length === 0) return [];
  const seen = await cardsOf(audited, made);
  return [
    ...missing(made, await existing(audited, made, seen.ids)),
    ...twice(audited.plan, made, seen.marked),
    ...shared(made),
    ...otherAmounts(made),
  ];
}

/**
 * Whether the wallet changed by what the done rows moved. No objection: somebody else may use it at the same time.
 * Nothing when it was not read before, or cannot be read now.
 */
export async function walletRemarks({ reader, plan, all }: Pick<Desk, 'reader' | 'plan' | 'all'>): Promise<string[]> {
  if (plan.wallet === undefined) return [];
  const done = all().filter(({ state }) => state === 'done');
  const back = done.some(({ item }) => item.operation === 'cards.withdraw');
  const moved = done.reduce((sum, { item }) => sum + (item.amount ?? 0), 0);
  const wanted = plan.wallet + (back ? moved : -moved);
  try {
    const now = centsOf((await reader.read('wallet.get', {})).balance);
    if (now === undefined || now === wanted) return [];
    const other = `${dollars(cents(Math.abs(now - wanted)))} ${now < wanted ? 'less' : 'more'}`;
    return [
      `the wallet holds ${dollars(now)}, ${other} than ${dollars(cents(plan.wallet))} before and the done rows explain: somebody else has used it meanwhile`,
    ];
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind !== 'internal') return [];
    throw thrown;
  }
}

interface Seen {
  readonly ids: ReadonlySet<string>;
  /** Ids by marker. */
  readonly marked: ReadonlyMap<string, readonly string[]>;
}

async function cardsOf({ reader, plan, markerUsable }: Audited, made: readonly RowHistory[]): Promise<Seen> {
  const ids = new Set<string>();
  const marked = new Map<string, string[]>();
  for (const binId of new Set(made.map(({ item }) => String(item.input['bin_id'])))) {
    for await (const { data } of reader.pages('cards.list', { bin_id: binId, per_page: 100 })) {
      for (const { id, metadata } of data) {
        ids.add(id);
        const marker = metadata?.[MARKER_KEY];
        if (!markerUsable || typeof marker !== 'string' || !marker.startsWith(`${plan.op}.`)) continue;
        marked.set(marker, [...(marked.get(marker) ?? []), id]);
      }
    }
  }
  return { ids, marked };
}

/** A list may be stale or leave states out; a card that is not in it is asked for by name. */
async function existing({ reader }: Audited, made: readonly RowHistory[], listed: ReadonlySet<string>) {
  const found = new Set(listed);
  for (const { done } of made) {
    if (done?.id === undefined || found.has(done.id)) continue;
    try {
      await reader.read('cards.get', { card_id: done.id });
      found.add(done.id);
    } catch (thrown) {
      if (!(thrown instanceof CliError) || thrown.kind !== 'not_found') throw thrown;
    }
  }
  return found;
}

function missing(made: readonly RowHistory[], ids: ReadonlySet<string>): string[] {
  return made
    .filter(({ done }) => done?.id !== undefined && !ids.has(done.id))
    .map(({ item, done }) => `row ${item.row}: card ${done?.id} does not exist`);
}

function twice({ op }: PlanRecord, made: readonly RowHistory[], marked: Seen['marked']): string[] {
  return made.flatMap(row => {
    const ids = marked.get(markerOf(op, row.item.row)) ?? [];
    if (ids.length < 2) return row.duplicate === undefined ? [] : duplicateNotes(row);
    return duplicateNotes({ ...row, duplicate: { t: 'DUPLICATE', row: row.item.row, ids, at: 0 } });
  });
}

/** Answers went astray, and no marker in them told so. */
function shared(made: readonly RowHistory[]): string[] {
  const rowsOf = new Map<string, number>();
  return made.flatMap(({ item, done }) => {
    const first = done?.id === undefined ? undefined : rowsOf.get(done.id);
    if (done?.id !== undefined && first === undefined) rowsOf.set(done.id, item.row);
    if (first === undefined) return [];
    return [`rows ${first} and ${item.row}: both were answered with card ${done?.id}, so one of them has another card`];
  });
}

function otherAmounts(made: readonly RowHistory[]): string[] {
  return made
    .filter(({ item, done }) => done?.balance !== undefined && done.via === 'answer' && done.balance !== item.amount)
    .map(
      ({ item, done }) =>
        `row ${item.row}: card ${done?.id} was issued with ${dollars(cents(done?.balance ?? 0))}, planned were ${dollars(cents(item.amount ?? 0))}`,
    );
}
