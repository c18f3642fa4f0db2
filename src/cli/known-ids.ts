/** The ids that there are, by what they name, with what tells one from another: for short ids, and to choose from. */
import { CARD_STATUSES } from '../contract/card.ts';
import { TRANSITIONS } from '../contract/transitions.ts';
import { incompleteList } from '../contract/whole-list.ts';
import { dollars, toCents } from '../core/money.ts';
import type { Context } from './context.ts';
import type { Command } from './parsing/declaration.ts';

/** Kinds of ids that can be looked up: what one is, and the command that shows the whole ids. */
export const KINDS = {
  card: { noun: 'card', list: 'cardwright cards list --all' },
  bin: { noun: 'BIN', list: 'cardwright bins list' },
  webhook: { noun: 'subscription', list: 'cardwright webhooks list' },
  op: { noun: 'operation', list: 'cardwright ops list' },
  transaction: { noun: 'transaction', list: 'cardwright tx list --all' },
  challenge: { noun: 'challenge', list: 'cardwright 3ds list' },
  pending: { noun: 'authorization or challenge', list: 'cardwright 3ds list' },
} as const;
export type Kind = keyof typeof KINDS;

export interface KnownId {
  readonly id: string;
  readonly last4?: string;
  /** `visa ending 4242`, `active`, `$20.00`, `"ads"`. */
  readonly facts: readonly string[];
}

interface Looking {
  readonly command: Command;
  readonly context: Context;
  /** Only cards in one of these states. */
  readonly states?: readonly string[] | undefined;
}

/**
 * Every id of the kind, over all pages; of cards from what the command itself reads, the service or the mirror. Throws
 * `contract_mismatch` at the end of a list of cards that may be incomplete.
 */
export async function* knownIds(kind: Kind, looking: Looking): AsyncIterable<KnownId> {
  const { api, journal } = looking.context;
  switch (kind) {
    case 'card':
      return yield* cards(looking);
    case 'bin':
      for (const { id, network, type, acceptance_rate, best_for } of (await api.read('bins.list', {})).data.toSorted(
        (a, b) => (b.acceptance_rate ?? 0) - (a.acceptance_rate ?? 0),
      )) {
        const accepted = acceptance_rate == null ? undefined : `${acceptance_rate}% accepted`;
        yield { id, facts: present(network, type, accepted, best_for?.join(', ')) };
      }
      return;
    case 'webhook':
      for (const { id, url, status } of (await api.read('webhooks.list', {})).data)
        yield { id, facts: present(url, status) };
      return;
    case 'transaction':
      return yield* transactions(looking.context);
    case 'challenge':
      return yield* challenges(looking.context);
    case 'pending':
      yield* challenges(looking.context);
      return yield* transactions(looking.context, 'authorization');
    case 'op':
      for (const { op, command, state } of await (await journal.open()).list())
        yield { id: op, facts: present(command, state) };
  }
}

/** States that the operation starts from; undefined when it asks for none. A terminated card has no details to show. */
export function statesFor(operation: string | undefined): readonly string[] | undefined {
  if (operation === 'cards.details') return ['active', 'frozen'];
  return TRANSITIONS.card.find(({ trigger }) => trigger === operation)?.from;
}

async function* cards({ command, context, states }: Looking): AsyncIterable<KnownId> {
  const isOfMirror = command.reach === 'files' && !command.path.startsWith('audit ');
  using copy = isOfMirror ? await (await context.api.mirror()).read() : undefined;
  const reader = copy?.reader ?? (await context.api.reader());
  let incomplete: string | undefined;
  const onIncomplete = (why: string) => {
    incomplete = why;
  };
  // Asking for one state leaves the others to the service.
  const status = states?.length === 1 ? CARD_STATUSES.find(each => each === states[0]) : undefined;
  for await (const { data } of reader.pages('cards.list', { per_page: 100, status }, { onIncomplete })) {
    for (const { id, last4, network, status: state, balance, label } of data) {
      if (states !== undefined && !states.includes(state)) continue;
      const name = `${network ?? 'card'} ending ${last4}`;
      yield { id, last4, facts: present(name, state, dollars(toCents(balance)), label && JSON.stringify(label)) };
    }
  }
  if (incomplete !== undefined) throw incompleteList('cards.list', `${incomplete}. A short id could mean another card`);
}

async function* transactions(ctx: Context, type?: 'authorization'): AsyncIterable<KnownId> {
  for await (const { data } of (await ctx.api.reader()).pages('transactions.list', { type })) {
    for (const { id, merchant, amount, created_at } of data)
      yield { id, facts: present(created_at, merchant, dollars(toCents(amount))) };
  }
}

async function* challenges(ctx: Context): AsyncIterable<KnownId> {
  for (const { id, merchant, amount, status } of (await ctx.api.read('challenges.list', {})).data) {
    yield { id, facts: present(merchant, amount == null ? undefined : dollars(toCents(amount)), status) };
  }
}

function present(...facts: readonly (string | null | undefined)[]): readonly string[] {
  return facts.filter(fact => fact != null && fact !== '') as string[];
}
