/** Rows that bring a card to a balance: the card is read again just before its row is sent. */
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, dollars } from '../../core/money.ts';
import type { ItemRecord } from '../wal/records.ts';
import { cardBalance } from './evidence.ts';
import type { RunContext } from './run-context.ts';

/**
 * Of a row with such an aim the balance of its card, and why it must not be sent any more: its amount would take the card
 * beyond the balance it is meant to have. Throws what a failed read of the card throws; nothing was sent then.
 */
export async function missesAim(
  { reader }: RunContext,
  { operation, aim, amount, card }: ItemRecord,
): Promise<{ readonly balance?: Cents; readonly error?: CliError }> {
  if (aim === undefined || amount === undefined || card === undefined) return {};
  const balance = await cardBalance(reader, card);
  const funds = operation === 'cards.fund';
  const beyond = funds ? balance + amount > aim : balance - amount < aim;
  if (!beyond) return { balance };
  const [moved, side] = funds ? ['more', 'above'] : ['less', 'below'];
  const [now, step, goal] = [dollars(balance), dollars(cents(amount)), dollars(cents(aim))];
  const error = new CliError('guarded', {
    message: `${card} has changed since it was chosen: it has ${now}, and ${step} ${moved} would be ${side} ${goal}`,
    hint: 'the same command again, for what is still needed',
    outcome: 'not_sent',
    operation,
  });
  return { balance, error };
}
