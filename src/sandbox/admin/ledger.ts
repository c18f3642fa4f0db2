/** deposits, ledger.accounts, .entries, .check */
import { toUsd } from '../../core/money.ts';
import { wireDeposit } from '../account/objects.ts';
import type { AdminHandlers } from '../calls/handler.ts';
import { invariantResults, uncheckedInvariants } from '../checks/invariant-results.ts';
import { checkInvariants } from '../checks/invariants.ts';
import { damagedPages } from '../checks/whole.ts';
import { pageFacts } from '../handlers/paging.ts';
import { isoTime } from '../rules/dates.ts';
import { keepCheck } from '../store/ledger-checks.ts';
import { entriesInOrder, ledgerAccounts, newestDeposits, type Page, postingsOf } from '../store/ledger-pages.ts';

interface AskedPage {
  readonly page?: number | undefined;
  readonly per_page?: number | undefined;
}

function pageOf({ page = 1, per_page: limit = 100 }: AskedPage) {
  const where: Page = { limit, offset: (page - 1) * limit };
  return { where, facts: (total: number) => pageFacts(page, limit, total) };
}

export const listDeposits: AdminHandlers['deposits'] = async ({ sql, account, input }) => {
  const { where, facts } = pageOf(input);
  const { rows, total } = await newestDeposits(sql, account, { ...input, ...where });
  return { data: rows.map(wireDeposit), page: facts(total) };
};

export const listAccounts: AdminHandlers['ledger.accounts'] = async ({ sql, account, input }) => {
  const { where, facts } = pageOf(input);
  const { rows, total } = await ledgerAccounts(sql, account, where);
  const data = rows.map(({ ledger, balance, postings }) => ({ account: ledger, balance: toUsd(balance), postings }));
  return { data, page: facts(total) };
};

export const listEntries: AdminHandlers['ledger.entries'] = async ({ sql, account, input }) => {
  const { where, facts } = pageOf(input);
  const { rows, total } = await entriesInOrder(sql, account, { ...where, ledger: input.account, ref: input.ref });
  const data = [];
  for (const row of rows) {
    const postings = await postingsOf(sql, account, row.id);
    data.push({
      ...row,
      created_at: isoTime(row.created_at),
      postings: postings.map(({ ledger, amount }) => ({ account: ledger, amount: toUsd(amount) })),
    });
  }
  return { data, page: facts(total) };
};

export const checkLedger: AdminHandlers['ledger.check'] = async ({ sql, account, now }) => {
  const damaged = await damagedPages(sql);
  // Of a damaged file the books would say anything, and it is better not written to.
  if (damaged.length > 0)
    return {
      ok: false,
      faults: damaged.map(line => `the file is damaged: ${line}`),
      invariants: uncheckedInvariants(),
    };
  const faults = await checkInvariants(sql, account);
  await keepCheck(sql, account, { at: now, faults });
  return { ok: faults.length === 0, faults, invariants: invariantResults(faults) };
};
