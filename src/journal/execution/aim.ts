/** Rows that bring a card to a balance: the card is read again just before its row is sent. */
import { CliError } from '../../core/errors.ts';
import { cents, centsOf, dollars } from '../../core/money.ts';
import type { ItemRecord } from '../wal/records.ts';
import type { Desk } from './run-context.ts';

/**
 * Why the row must not be sent any more: its amount would take the card beyond the balance it is meant to have.
 * Undefined for a row without such an aim, and for a card that is as it was or better. Throws what a failed read of
 * the card throws; nothing was sent then.
 */
export async function missesAim({ reader }: Desk, { operation, aim, amount, card }: ItemRecord) {
  if (aim === undefined || amount === undefined || card === undefined) return undefined;
  const balance = centsOf((await reader.read('cards.get', { card_id: card })).balance);
  if (balance === undefined)
    throw new CliError('contract_mismatch', { message: `cards.get shows no balance of ${card}` });
  const funds = operation === 'cards.fund';
  const beyond = funds ? balance + amount > aim : balance - amount < aim;
  if (!beyond) return undefined;
  const [moved, side] = funds ? ['more', 'above'] : ['less', 'below'];
  const [now, step, goal] = [dollars(balance), dollars(cents(amount)), dollars(cents(aim))];
  return new CliError('guarded', {
    message: `${card} has changed since it was chosen: it has ${now}, and ${step} ${moved} would be ${side} ${goal}`,
    hint: 'the same command again, for what is still needed',
    outcome: 'not_sent',
    operation,
  });
}
