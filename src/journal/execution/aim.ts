/** Rows that bring a card to a balance: the card is read again just before its row is sent. */
import type { Balances } from '../../contract/evidence.ts';
import { CliError } from '../../core/errors.ts';
import { cents, dollars } from '../../core/money.ts';
import type { ItemRecord } from '../wal/records.ts';
import { cardNow } from './evidence.ts';
import type { RunContext } from './run-context.ts';

/**
 * Of a row with such an aim its card as it is, and why it must not be sent any more: its amount would take the card
 * beyond the balance it is meant to have. Throws what a failed read of the card throws; nothing was sent then.
 */
export async function missesAim(
  { reader }: RunContext,
  { operation, aim, amount, card }: ItemRecord,
): Promise<{ readonly now?: Balances; readonly error?: CliError }> {
  if (aim === undefined || amount === undefined || card === undefined) return {};
  const now = await cardNow(reader, card);
  const balance = now.card;
  const funds = operation === 'cards.fund';
  const beyond = funds ? balance + amount > aim : balance - amount < aim;
  if (!beyond) return { now };
  const [moved, side] = funds ? ['more', 'above'] : ['less', 'below'];
  const [has, step, goal] = [dollars(balance), dollars(cents(amount)), dollars(cents(aim))];
  const error = new CliError('guarded', {
    message: `${card} has changed since it was chosen: it has ${has}, and ${step} ${moved} would be ${side} ${goal}`,
    notes: ['Run the command again for what is still needed.'],
    outcome: 'not_sent',
    operation,
  });
  return { now, error };
}
