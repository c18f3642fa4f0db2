/** What `--again` would do, in words that nobody takes for a retry. */
import { cents, dollars } from '../../core/money.ts';
import type { PlannedRow } from '../types.ts';

/** The amount in cents. */
type Wanted = Pick<PlannedRow, 'operation'> & { readonly amount?: number | undefined };

/** `--again is no retry: it makes all 20 cards a second time, $100.00 more.`, of the rows that were done before. */
export function secondTime(rows: readonly Wanted[], of: number): string {
  const verb = rows.every(({ operation }) => operation === 'cards.create') ? 'makes' : 'sends';
  const noun = verb === 'makes' ? 'card' : 'row';
  const which = rows.length === of && of > 1 ? `all ${of}` : `${rows.length}`;
  const what = `${which} ${noun}${rows.length === 1 ? '' : 's'}`;
  const sum = rows.reduce((all, { amount = 0 }) => all + amount, 0);
  return `--again is no retry: it ${verb} ${what} a second time${sum === 0 ? '' : `, ${dollars(cents(sum))} more`}.`;
}
