/** Ids of an account that a short id may mean, each with facts that tell it from the others. */
import { incompleteList } from '../contract/whole-list.ts';
import { dollars, toCents } from '../core/money.ts';
import type { Context } from './context.ts';
import type { Command } from './parsing/command.ts';
import { usage } from './parsing/values.ts';

export const KINDS = ['card', 'bin', 'webhook', 'op', 'transaction', 'challenge', 'pending'] as const;
export type Kind = (typeof KINDS)[number];

export interface Candidate {
  readonly id: string;
  readonly last4?: string;
  /** What tells it from others: `visa ending 4242, active, $20.00, "ads"`. */
  readonly facts: string;
}

export interface CandidateSearch {
  readonly command: Command;
  readonly context: Context;
  readonly kind: Kind;
  /** A short id is written with its mark or as last digits: the audit log alone does not know those. */
  readonly isMarked: boolean;
}

/**
 * Every id of the kind, over all pages. Throws `usage` for a sandbox that was not chosen, and `contract_mismatch` at the end
 * of a list of cards that may be incomplete.
 */
export async function* candidates(search: CandidateSearch): AsyncIterable<Candidate> {
  const { command, context: ctx, kind, isMarked } = search;
  if (isOfSandbox(command) && (await ctx.identity()).mode !== 'sandbox') {
    throw usage('short ids are not looked up in a sandbox that was not chosen: add --sandbox, or write the whole id');
  }
  switch (kind) {
    case 'card':
      return yield* cardsFor(command, ctx, isMarked);
    case 'bin':
      for (const { id, network, type } of (await ctx.read('bins.list', {})).data)
        yield { id, facts: facts([network, type]) };
      return;
    case 'webhook':
      for (const { id, url, status } of (await ctx.read('webhooks.list', {})).data)
        yield { id, facts: facts([url, status]) };
      return;
    case 'transaction':
      return yield* transactions(ctx);
    case 'challenge':
      return yield* challenges(ctx);
    case 'pending':
      yield* challenges(ctx);
      return yield* transactions(ctx, 'authorization');
    case 'op':
      for (const { op, command, state } of await (await ctx.journal()).list())
        yield { id: op, facts: facts([command, state]) };
  }
}

/** From what the command itself reads: the service, the mirror, or the audit log, which knows no last four digits. */
async function* cardsFor(command: Command, ctx: Context, isMarked: boolean): AsyncIterable<Candidate> {
  const isOfLog = command.path.startsWith('audit ');
  if (isOfLog && !isMarked) return yield* cardsOfLog(ctx);
  if (command.reach !== 'files' || isOfLog) return yield* cards(await ctx.reader());
  using copy = await (await ctx.mirror()).read();
  yield* cards(copy.reader);
}

async function* cards(reader: Awaited<ReturnType<Context['reader']>>): AsyncIterable<Candidate> {
  let doubt: string | undefined;
  const onDoubt = (why: string) => {
    doubt = why;
  };
  for await (const { data } of reader.pages('cards.list', { per_page: 100 }, { onDoubt })) {
    for (const { id, last4, network, status, balance, label } of data) {
      const name = `${network ?? 'card'} ending ${last4}`;
      yield { id, last4, facts: facts([name, status, dollars(toCents(balance)), label && JSON.stringify(label)]) };
    }
  }
  if (doubt !== undefined) throw incompleteList('cards.list', `${doubt}. A short id could mean another card`);
}

/** Cards that the audit log names: a word without a mark costs no request where all else is on this machine. */
async function* cardsOfLog(ctx: Context): AsyncIterable<Candidate> {
  const { entries } = await (await ctx.audit()).read();
  const ids = new Set(entries.flatMap(({ card_id }) => (typeof card_id === 'string' ? [card_id] : [])));
  for (const id of ids) yield { id, facts: 'in the audit log' };
}

async function* transactions(ctx: Context, type?: 'authorization'): AsyncIterable<Candidate> {
  for await (const { data } of (await ctx.reader()).pages('transactions.list', { type })) {
    for (const { id, merchant, amount } of data) yield { id, facts: facts([merchant, dollars(toCents(amount))]) };
  }
}

async function* challenges(ctx: Context): AsyncIterable<Candidate> {
  for (const { id, merchant, amount, status } of (await ctx.read('challenges.list', {})).data) {
    yield { id, facts: facts([merchant, amount == null ? undefined : dollars(toCents(amount)), status]) };
  }
}

function facts(values: readonly (string | null | undefined)[]): string {
  return values.filter(Boolean).join(', ');
}

/** Speaks to the control surface of a sandbox. */
export function isOfSandbox({ path }: Command): boolean {
  return path.startsWith('sandbox ');
}
