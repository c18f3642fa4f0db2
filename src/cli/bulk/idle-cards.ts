/** Which cards had no transaction for a while: asked over all pages of the transactions since then. */

import type { Reader } from '../../contract/service.ts';
import { durationOf } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { isoTime } from '../../core/iso-time.ts';
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

/** Rows may move between pages while they are read; a second reading is then whole. */
const READINGS = 3;

/**
 * A test for cards that are older than `since` and have no transaction of any kind at or after it; a decline counts.
 * Throws `unreachable` when the list of transactions does not come whole: a card could be taken for idle wrongly.
 */
export async function idleCards({ reader, progress, since }: Idling): Promise<Test> {
  for (let reading = 0; reading < READINGS; reading += 1) {
    const used = new Set<string>();
    let [rows, first, last]: [number, number | undefined, number | undefined] = [0, undefined, undefined];
    const pages = reader.pages('transactions.list', { from: isoTime(since) });
    for await (const { data, page } of pagesWithProgress(pages, { noun: 'transaction', progress })) {
      rows += data.length;
      first ??= page.total;
      last = page.total ?? last;
      // A service that leaves `from` out of account sends older ones too; a time that cannot be read counts.
      for (const { card_id, created_at } of data) {
        if (isBefore(created_at, since)) continue;
        if (typeof card_id !== 'string') throw withoutCard();
        used.add(card_id);
      }
    }
    if (last === undefined || (last === rows && first === last))
      return ({ id, created_at }) => isBefore(created_at, since) && !used.has(String(id));
  }
  throw new CliError('unreachable', {
    message: 'the list of transactions is incomplete, so idle cards cannot be determined. Nothing was sent',
    hint: 'the same command again, when fewer transactions come in',
    outcome: 'not_sent',
  });
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
