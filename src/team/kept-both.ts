/**
 * Names and keys of ops of this machine that belong to other ops in a shared journal. The same purchase was made in both, or
 * one name was used for two: only a person who has looked at both can say that both are right.
 */
import { CliError } from '../core/errors.ts';
import { capital, rowsNamed, rowWords } from '../core/row-words.ts';
import { isLeft, ownerOf } from '../journal/runs/names-of-others.ts';
import type { LocalOp } from '../journal/store/local-export.ts';
import type { NamesUsed, NotedIntent } from '../journal/store/op-store.ts';
import { decodeLines } from '../journal/wal/codec.ts';
import { type History, historyOf } from '../journal/wal/replay.ts';
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
  const { op, given_key } = plan;
  const names = noted.map(({ name }) => name);
  const used = await usedByOthers({ statements, account }, op, { names, key: ownsKey ? given_key : undefined });
  if (used.names.size === 0 && used.key === undefined) return undefined;
  const history = historyOf(decodeLines(bytes, op).written);
  const left = history === undefined ? [] : rowsNotSettled(history, used);
  if (left.length > 0) throw notSettled(op, left);
  return `its ${used.key === undefined ? 'intent' : 'idempotency key'} belongs to ${[...used.names.values(), used.key][0]}; both have happened`;
}

/** Rows that a resume would send although their name belongs to another op, as `ops resolve` takes them. */
export function rowsNotSettled(history: History, used: NamesUsed): readonly number[] {
  if (history.end !== undefined) return [];
  const owner = ownerOf(history, used);
  const left = [...history.rows.values()].filter(isLeft(history.plan.bulk)).map(({ item }) => item.row);
  return left.filter(row => owner(row) !== undefined);
}

/** See `OpStore.usedByOthers`. */
export async function usedByOthers(
  { statements, account }: Pick<SharedOps, 'statements' | 'account'>,
  op: string,
  { names, key }: { readonly names: readonly string[]; readonly key?: string | undefined },
): Promise<NamesUsed> {
  const [used, user] = await Promise.all([
    names.length === 0 ? [] : statements().intentsOf(account, names),
    key === undefined ? undefined : statements().givenKeyOf(account, key),
  ]);
  const others = used.filter(each => each.op !== op).map(each => [each.name, each.op] as const);
  return { names: new Map(others), key: user === op ? undefined : user };
}

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
