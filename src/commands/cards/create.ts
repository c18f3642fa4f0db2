/** Creating cards, one or many. `--intent` is the caller's own name for one purchase, also when the command is repeated. */

import { command } from '../../cli/parsing/command.ts';
import { type FlagValues, needs, option, takes, typedOnly } from '../../cli/parsing/flag.ts';
import { usage } from '../../core/errors.ts';
import { dollars } from '../../core/money.ts';
import { intentFault, purposeFault } from '../../core/names.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { UsedIntent } from '../../writes/single-write.ts';
import { bestBin, binFor } from '../bins/bins.ts';
import { CARD_COLUMNS, cardName, money } from './cards.ts';

/** How a change is named. */
export const NAME_FLAGS = {
  intent: option(
    takes.text('Your own name for this purchase: one purchase, one intent, also when repeated.'),
    '<name>',
  ),
  purpose: option(
    takes.text('What the purchase is for, at most 100 characters. Approvers and the books show it.'),
    '<text>',
  ),
  idempotencyKey: option(takes.text('Your own idempotency key; a new one by default.', { maxLength: 64 }), '<key>'),
} as const;

/** What those flags say, as it may be used. Throws `usage`. */
export function nameOf({ intent, purpose, idempotencyKey }: Partial<FlagValues<typeof NAME_FLAGS>>) {
  const refuse = (flag: string, fault: string | undefined) => {
    if (fault !== undefined) throw usage(`${flag} ${fault}`);
  };
  if (intent !== undefined) refuse('--intent', intentFault(intent));
  if (purpose !== undefined) refuse('--purpose', purposeFault(purpose));
  return { intentName: intent, purpose: purpose?.normalize('NFC').trim(), key: idempotencyKey };
}

/** For JSON: what came of the name, where one was given. */
export function withIntent<Answer extends object>(
  answer: Answer,
  used: UsedIntent | undefined,
): Answer & { readonly intent?: UsedIntent } {
  return used === undefined ? answer : { ...answer, intent: used };
}

/** For people: what was done, and whether an earlier command with the name had done it. */
export function doneText(used: UsedIntent | undefined, line: string): string {
  if (used?.repeated !== true) return line;
  return `Done before under the intent ${JSON.stringify(used.name)}, by ${used.op}, and not again: ${line}`;
}

const bin = takes.text('BIN to issue from, or auto for the best one.', { names: 'bin' });

export const createCard = command({
  path: 'cards create',
  summary: 'Issue a card and fund it from the wallet',
  about: [
    'Label, limit, categories and auto-freeze cannot be changed later: the service has no operation for it.',
    'At a terminal it asks for values that you leave out, and prints the complete command before it runs.',
  ],
  operation: 'cards.create',
  bulk: { keeps: ['noMarker'], bestBin: (bins, amount) => binFor(bins, amount)?.id },
  flags: {
    bin: needs(bin, '<bin|auto>'),
    amount: 'body.amount',
    label: 'body.label',
    spendingLimit: 'body.spending_limit',
    allowCategory: 'body.allowed_categories',
    autoFreezeAt: 'body.auto_freeze_at',
    metadata: 'body.metadata',
    ...NAME_FLAGS,
    noMarker: typedOnly(
      option(
        takes.flag('Leave out the metadata key cardwright. A card whose answer was lost can then not be found again.'),
      ),
    ),
  },
  examples: {
    'A card with $25 from the best BIN': 'cards create --bin auto --amount 25',
    'One card for each line of a file': 'cards create --file team.csv --max-total 500 --yes',
    'Only its id, for a script': 'cards create --bin auto --amount 5 -q',
    'For software only, frozen when it runs low':
      'cards create --bin auto --amount 120 --label "ads: search" --allow-category software --auto-freeze-at 20',
  },
  asks: ['label'],
  async run(ctx, { bin, amount, noMarker, ...more }) {
    const binId = bin === 'auto' ? (await bestBin(ctx, amount)).id : bin;
    const body = {
      bin_id: binId,
      amount,
      label: more.label,
      spending_limit: more.spendingLimit,
      allowed_categories: more.allowCategory,
      auto_freeze_at: more.autoFreezeAt,
      metadata: more.metadata,
    };
    const made = await ctx.api.write('cards.create', body, {
      ...nameOf(more),
      // Another BIN may be the best one when the command is repeated.
      ...(bin === 'auto' && { asked: { bin_id: bin } }),
      intent: `Create a card with ${dollars(amount)} from the wallet`,
      marker: noMarker !== true,
    });
    return withIntent(made.result, made.intent);
  },
  noun: 'card',
  columns: CARD_COLUMNS,
  says: made =>
    doneText(made.intent, `Created ${made.id}, ${cardName(made)}, with ${money(made.balance)} from the wallet.`),
  show: made => ({ notes: [`Next: cardwright cards details ${shellWord(made.id)}   show number and CVV`] }),
});
