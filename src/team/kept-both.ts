/**
 * Names and keys of ops of this machine that belong to other ops in a shared journal. The same purchase was made in both, or
 * one name was used for two: only a person who has looked at both can say that both are right.
 */
import { CliError } from '../core/errors.ts';
import { capital, rowsNamed, rowWords } from '../core/row-words.ts';
import type { LocalOp } from '../journal/store/local-export.ts';
import type { NotedIntent } from '../journal/store/op-store.ts';
import { decodeLines } from '../journal/wal/codec.ts';
import { historyOf, mayBePerformed, type RowHistory } from '../journal/wal/replay.ts';
import type { Clash } from './calls.ts';
import type { SharedOps } from './shared-ops.ts';

export interface ClashingOp {
  readonly op: string;
  readonly clashes: readonly Clash[];
}

const MOST_SHOWN = 10;

/** `check_failed` for ops that were not moved; what is not theirs was. */
export function clashing(found: readonly ClashingOp[]): CliError {
  const [first] = found;
  const op = first?.op ?? '';
  const [one, ...others] = found.slice(0, MOST_SHOWN).map(pairOf);
  const rest = found.length > MOST_SHOWN ? [`and ${found.length - MOST_SHOWN} more`] : [];
  return new CliError('check_failed', {
    message: `${one} in the shared journal${[...others, ...rest].map(more => `; ${more}`).join('')}. ${found.length === 1 ? `${op} was` : `These ${found.length} were`} not moved, and everything else was`,
    notes: [
      `Two machines have used one name. Look at both operations, the one of this machine first. The other one: cardwright ops show ${first?.clashes[0]?.op}`,
      `Where both have happened, this moves it without the name, which stays with the other one, and sends nothing: cardwright journal move --to shared --keep-both ${found.map(each => each.op).join(',')}`,
    ],
    hint: `cardwright ops show ${op} --journal local`,
    outcome: 'not_sent',
    op,
  });
}

function pairOf({ op, clashes: [clash] }: ClashingOp): string {
  return `${clash === undefined ? '' : nameOf(clash)} of ${op} belongs to ${clash?.op}`;
}

function nameOf({ intent, key }: Clash): string {
  return intent === undefined ? `the idempotency key ${key}` : `the intent ${intent}`;
}

/**
 * Why an op is moved without its names, for the audit log; undefined where nothing of it belongs to another one. Throws
 * `guarded` while a row with such a name is not settled: a resume would make the purchase once more.
 */
export async function reasonToKeep(
  { statements, account }: SharedOps,
  { plan, bytes, ownsKey }: LocalOp,
  noted: readonly NotedIntent[],
): Promise<string | undefined> {
  const { op, given_key: key } = plan;
  const names = noted.map(({ name }) => name);
  const used = names.length === 0 ? [] : await statements().intentsOf(account, names);
  const theirs = new Map(used.filter(each => each.op !== op).map(each => [each.name, each.op]));
  const user = key === undefined || !ownsKey ? undefined : await statements().givenKeyOf(account, key);
  const isOthersKey = user !== undefined && user !== op;
  if (theirs.size === 0 && !isOthersKey) return undefined;
  const history = historyOf(decodeLines(bytes, op).written);
  const rows = history?.end === undefined ? [...(history?.rows.values() ?? [])] : [];
  const left = rows.filter(row => isOthersKey || theirs.has(row.item.intent ?? '')).filter(isOpen(plan.bulk));
  if (left.length > 0)
    throw notSettled(
      op,
      left.map(({ item }) => item.row),
    );
  return `its ${isOthersKey ? 'idempotency key' : 'intent'} belongs to ${[...theirs.values(), user][0]}; both have happened`;
}

/** As `ops resolve` takes it. */
const isOpen = (bulk: boolean) => (row: RowHistory) => row.state === 'unknown' || mayBePerformed(row, bulk);

function notSettled(op: string, rows: readonly number[]): CliError {
  const settle = (as: string) =>
    `cardwright ops resolve ${op} ${rowWords(rows)} --as ${as} --note "why" --journal local`;
  const [they, were] = rows.length === 1 ? ['It', 'is'] : ['They', 'are'];
  return new CliError('guarded', {
    message: `${rowsNamed(rows)} of ${op} ${were} not settled, and a resume could make the purchase once more; ${op} was not moved`,
    notes: [
      `Look at the service, then say so. ${they} did not happen: ${settle('not-done')}`,
      `${capital(they)} happened: ${settle('done')}`,
    ],
    hint: `cardwright ops show ${op} --journal local`,
    outcome: 'not_sent',
    op,
  });
}
