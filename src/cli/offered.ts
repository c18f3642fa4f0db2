/** What there is to choose from where an id was left out. */
import type { Item } from '../contract/calls.ts';
import { CARD_STATUSES } from '../contract/card.ts';
import { dollars, toCents } from '../core/money.ts';
import type { Choice } from '../terminal/prompts.ts';
import { statesFor } from './completion/states.ts';
import type { Context } from './context.ts';
import type { Command } from './parsing/command.ts';

/** More than a person looks through; who has more types an id. */
const MOST = 1_000;

/**
 * Ids of that kind with what tells them apart; for cards only those whose state the operation can act on. Undefined
 * for a kind there is no list of.
 */
export async function offered(
  ctx: Context,
  command: Command,
  kind: string | undefined,
): Promise<readonly Choice<string>[] | undefined> {
  switch (kind) {
    case 'card':
      return cardChoices(ctx, command);
    case 'bin':
      return (await ctx.read('bins.list', {})).data
        .toSorted((a, b) => (b.acceptance_rate ?? 0) - (a.acceptance_rate ?? 0))
        .map(bin => choice(bin.id, [bin.network, bin.type, percent(bin.acceptance_rate), bin.best_for?.join(', ')]));
    case 'webhook':
      return (await ctx.read('webhooks.list', {})).data.map(hook => choice(hook.id, [hook.url]));
    case 'profile':
      return (await (await ctx.profiles()).list()).map(({ name, mode, base_url }) => choice(name, [mode, base_url]));
    default:
      return undefined;
  }
}

async function cardChoices(ctx: Context, { operation }: Command): Promise<readonly Choice<string>[]> {
  const states = statesFor(operation);
  const reader = await ctx.reader();
  const pages = reader.pages('cards.list', {
    per_page: 100,
    // Asking for one state leaves the others to the service.
    status: states?.length === 1 ? CARD_STATUSES.find(status => status === states[0]) : undefined,
  });
  const found: Choice<string>[] = [];
  for await (const { data } of pages) {
    const fitting = data.filter(({ status }) => states === undefined || states.includes(status));
    found.push(...fitting.map(cardChoice));
    if (found.length >= MOST) break;
  }
  return found;
}

function cardChoice({ id, network, last4, status, balance, label }: Item<'cards.list'>): Choice<string> {
  return choice(id, [`${network} ${last4}`, status, dollars(toCents(balance)), label]);
}

function choice(value: string, facts: readonly (string | null | undefined)[]): Choice<string> {
  return { value, name: [value, ...facts.filter(Boolean)].join('  ') };
}

function percent(rate: number | null | undefined): string | undefined {
  return rate == null ? undefined : `${rate}% accepted`;
}
