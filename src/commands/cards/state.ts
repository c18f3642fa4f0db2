/** What freeze, unfreeze and terminate share: one card or several, changed or already so. */

import { type Answers, tells } from '../../cli/answer-fields.ts';
import type { Context } from '../../cli/context.ts';
import { ATTEMPT_COLUMNS, ATTEMPT_ROW, type Attempts, confirmAll, forEachCard } from '../../cli/each.ts';
import type { Shown } from '../../cli/shown.ts';
import type { Result } from '../../contract/calls.ts';
import { CARD } from '../../contract/card.ts';
import type { Reader } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import type { UsedIntent } from '../../writes/single-write.ts';
import { CARD_COLUMNS, cardName, money } from './columns.ts';
import { repeatedLines, withIntent } from './intent-flag.ts';
import { beforeTermination, returnedBalance } from './returned-balance.ts';

type StateOperation = 'cards.freeze' | 'cards.unfreeze' | 'cards.terminate';
type Card = Result<'cards.freeze'>;

/** One card with `changed`; for several a row each. */
export const STATE_ANSWERS: Answers = {
  either: [
    { one: { ...CARD, changed: tells.yes('False if the card was already in this state.') } },
    { list: ATTEMPT_ROW },
  ],
};

export type StateResult =
  | {
      readonly card: Card;
      readonly changed: boolean;
      readonly used?: UsedIntent;
      /** What went back to the wallet, for a person. */
      readonly returned?: string | undefined;
    }
  | Attempts;

/** Takes each card to the state the operation leads to. */
export async function changeState(
  ctx: Context,
  operation: StateOperation,
  { cards: ids, fromInput }: { readonly cards: readonly string[]; readonly fromInput?: true },
  intentName?: string,
): Promise<StateResult> {
  const verb = operation.split('.')[1] ?? operation;
  const intent = (id: string) => `${verb[0]?.toUpperCase()}${verb.slice(1)} ${id}`;
  const [only] = ids;
  const isSingle = ids.length === 1 && fromInput !== true;
  const isWatched =
    operation === 'cards.terminate' &&
    !ctx.dryRun &&
    ((isSingle && ctx.forPeople) || (await ctx.identity()).mode !== 'sandbox');
  const watched = async (id: string, asked: object) => {
    const watch = isWatched && { before: (reader: Reader) => beforeTermination(reader, id) };
    const done = await ctx.write(operation, { card_id: id }, { intent: intent(id), ...asked, ...watch });
    const { text, note } = done.changed ? await returnedBalance(await ctx.reader(), done.before) : {};
    if (note !== undefined) ctx.notice(ids.length === 1 ? note : note.replace('the card', id));
    return { ...done, returned: text };
  };
  if (isSingle && only !== undefined) {
    const { result, changed, intent: used, returned } = await watched(only, { intentName });
    return { card: result, changed, returned, ...(used && { used }) };
  }
  if (intentName !== undefined) throw severalNamed();
  if (ids.length === 0) ctx.notice('Standard input holds no ids. There is nothing to do.');
  const confirmed = await confirmAll(ctx, operation, ids);
  return forEachCard(ctx, ids, async id => {
    const { result, changed } = await watched(id, { confirmed });
    return { changed, card: result };
  });
}

/** One name is one change. */
function severalNamed(): CliError {
  return new CliError('usage', {
    message: '--intent names one change, and these are several cards',
    notes: ['In a file each row has an intent of its own: columns card_id,intent.'],
    hint: 'cardwright cards terminate --file cards.csv',
    outcome: 'not_sent',
  });
}

/** The card with `changed` beside its fields; for several cards one row each. */
export function showState(result: StateResult, words: { readonly done: string; readonly already: string }): Shown {
  if ('attempts' in result) {
    async function* batches() {
      yield 'attempts' in result ? result.attempts.map(attempt => ({ ...attempt })) : [];
    }
    return {
      listing: { batches: batches(), page: () => ({ total: result.attempts.length }) },
      noun: 'card',
      idField: 'card_id',
      columns: ATTEMPT_COLUMNS,
      failure: result.failure,
    };
  }
  const { card, changed, used, returned } = result;
  const line = `${changed ? words.done : words.already}: ${card.id}, ${cardName(card)}, ${card.status}, ${money(card.balance)}.`;
  return {
    data: withIntent({ ...card, changed }, used),
    noun: 'card',
    columns: [...CARD_COLUMNS, { field: 'changed', title: 'CHANGED', kind: 'boolean', priority: 6, wideOnly: true }],
    blocks: [
      ...repeatedLines(used),
      { kind: 'line', text: line },
      ...(returned === undefined ? [] : [{ kind: 'line', text: returned } as const]),
    ],
  };
}
