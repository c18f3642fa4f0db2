/** transactions.why: the checks of A-48 as they went for one record. */
import { Refused } from '../calls/handler.ts';
import { checkResults, type DeclineFacts, uncheckedResults } from '../rules/declines.ts';
import type { MomentHandler } from '../service/service.ts';
import { declineFacts } from '../store/decline-facts.ts';
import { transactionById } from '../store/transactions.ts';

/** Values are kept of declines alone; of a record that was approved, every check held. */
export const whyDecided: MomentHandler<'transactions.why'> = async ({ sql, account }, { transaction_id: id }) => {
  const row = await transactionById(sql, account, id);
  if (row === undefined) throw new Refused('not_found', `no transaction ${id}`);
  const about = { transaction: id, decline_reason: row.decline_reason };
  if (row.type === 'authorization') return { ...about, outcome: 'approved', checks: checkResults(null, undefined) };
  if (row.type !== 'decline') return { ...about, outcome: 'posted', checks: uncheckedResults() };
  const facts = await declineFacts(sql, account, id);
  const judged = facts === undefined ? undefined : (JSON.parse(facts) as DeclineFacts);
  return { ...about, outcome: 'declined', checks: checkResults(row.decline_reason, judged) };
};
