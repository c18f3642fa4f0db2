import { describe, expect, it } from 'vitest';
import { readPeriod, WallClock } from '../../src/books/period.ts';
import type { CheckpointCardRow, CheckpointRow } from '../../src/books/rows.ts';
import { statementOf } from '../../src/books/statement.ts';
import type { Mirror } from '../../src/mirror/mirror.ts';
import { statementRows } from '../../src/mirror/statement-rows.ts';
import { type Played, played } from '../books/over-http.ts';
import { firstOf } from '../support/first-of.ts';
import { isWhole } from '../support/whole.ts';

const QUIET = { patienceMs: 0, soleOperator: true, report: () => '' } as const;
const MONTHS = 3;

/** What a checkpoint says of the account, whatever it is called. */
function judged({ checkpoint, checkpointCards, verdict, findings }: Awaited<ReturnType<Mirror['reconcile']>>) {
  const { cut_id: _, ...sums } = checkpoint as CheckpointRow;
  const cards = (checkpointCards as readonly CheckpointCardRow[]).map(({ cut_id: __, ...row }) => row);
  // A late settlement of a purchase that was left out is a force post here, and a tip there: neither is wrong.
  const said = findings.map(each => [each.isWrong, each.isProvisional, each.cents].join(' ')).sort();
  return { sums, cards: cards.sort((a, b) => (a.card_id < b.card_id ? -1 : 1)), verdict, said };
}

async function month(account: Played): Promise<void> {
  for (let left = 10; left > 0; left -= 1) await account.step();
  await account.advance('30d');
}

async function counted(mirror: Mirror): Promise<{ readonly records: number; readonly folded: number }> {
  const { transactions: records, folded } = await mirror.status();
  return { records, folded };
}

async function linesOf(mirror: Mirror, name: string) {
  const clock = new WallClock('UTC');
  const period = readPeriod(name, clock, 0);
  using copy = await mirror.read();
  const statement = statementOf({ ...statementRows(copy.db, period), period, clock, now: Date.parse(copy.as_of) });
  return [...statement.accounts].map(({ card_id, opening, closing, lines }) => ({
    card_id,
    opening,
    closing,
    lines: lines.map(({ id, cents, source }) => (source === 'derived' ? cents : `${id} ${cents}`)),
  }));
}

describe('a copy that keeps three months', () => {
  it.each(firstOf(['default', 'envelope-more'], { isWhole }))(
    'judges as one that keeps everything: %s',
    async dialect => {
      await using account = await played(dialect, 11);
      const whole = account.mirror('whole');
      const short = account.mirror('short', { months: async () => MONTHS });
      for (let nth = 0; nth < 6; nth += 1) {
        await month(account);
        expect(judged(await short.reconcile(QUIET))).toEqual(judged(await whole.reconcile(QUIET)));
      }
      const [all, left] = [await counted(whole), await counted(short)];
      expect(left.folded).toBeGreaterThan(10);
      expect(left.records + left.folded).toBe(all.records);
      expect(await short.status()).toMatchObject({ kept_since: expect.stringMatching(/^2027-/), gone: 0 });

      // Reading everything again brings nothing back, and doubles nothing.
      await short.sync({ full: true });
      expect(await counted(short)).toEqual(left);
      expect(judged(await short.reconcile(QUIET))).toEqual(judged(await whole.reconcile(QUIET)));

      // A statement of what is kept is the same; of what is not, there is none.
      expect(await linesOf(short, '2027-04')).toEqual(await linesOf(whole, '2027-04'));
      await expect(linesOf(short, '2026-11')).rejects.toMatchObject({ kind: 'check_failed' });
      using copy = await short.read();
      // What merchants only older records named is gone from the file.
      const kept = copy.db.all<{ merchant: number }>('select distinct merchant from record where merchant is not null');
      expect(copy.db.all('select id from merchant')).toHaveLength(kept.length);
    },
  );

  it.runIf(isWhole)('keeps everything where a purchase is one changing record', async () => {
    await using account = await played('auth-single', 3);
    const short = account.mirror('short', { months: async () => MONTHS });
    for (let nth = 0; nth < 5; nth += 1) {
      await month(account);
      expect((await short.reconcile(QUIET)).findings.filter(each => each.isWrong)).toEqual([]);
    }
    expect(await short.status()).toMatchObject({ kept_since: null, folded: 0 });
  });
});
