/** Which cards had no transaction for a while: asked over all pages of the transactions since then. */

import type { Reader } from '../../contract/service.ts';
import { fromWholeList } from '../../contract/whole-list.ts';
import { durationOf, isoTime } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import type { Progress } from '../../terminal/progress.ts';
import type { Test } from '../condition.ts';
import { pagesWithProgress } from '../listing.ts';
import { quote, usage } from '../parsing/values.ts';

export interface Idling {
  readonly reader: Reader;
  readonly progress: Progress;
  /** ms UTC by the clock of the service: transactions at or after it count. */
  readonly since: number;
}

/** The value of `--idle`, ms. Throws `usage`. */
export function idleSpan(text: string): number {
  const span = durationOf(text);
  if (span === undefined) throw usage(`--idle ${quote(text)} is not a length of time such as 30d`);
  return span;
}

/**
 * A test for cards that are older than `since` and have no transaction of any kind at or after it; a decline counts.
 * Throws `contract_mismatch` when the list of transactions does not come whole: a card could be taken for idle wrongly.
 */
export async function idleCards({ reader, progress, since }: Idling): Promise<Test> {
  const because = 'A card whose transaction is not seen would count as idle. Nothing was sent';
  const list = { reader, operation: 'transactions.list', input: { from: isoTime(since) }, because } as const;
  const used = await fromWholeList(list, async pages => {
    const ids = new Set<string>();
    for await (const { data } of pagesWithProgress(pages, { noun: 'transaction', progress })) {
      // A service that leaves `from` out of account sends older ones too; a time that cannot be read counts.
      for (const { card_id, created_at } of data) {
        if (isBefore(created_at, since)) continue;
        if (typeof card_id !== 'string') throw withoutCard();
        ids.add(card_id);
      }
    }
    return ids;
  });
  return ({ id, created_at }) => isBefore(created_at, since) && !used.has(String(id));
}

/** False for a time that is missing or cannot be read. */
function isBefore(time: unknown, since: number): boolean {
  return typeof time === 'string' && Date.parse(time) < since;
}

function withoutCard(): CliError {
  return new CliError('contract_mismatch', {
    message: 'a transaction does not name its card, so idle cards cannot be determined. Nothing was sent',
    outcome: 'not_sent',
  });
}
