/** Statements on `bins`. */
import type { Cents } from '../../core/money.ts';
import type { Sql } from './sql.ts';

export interface BinRow {
  readonly id: string;
  readonly network: 'visa' | 'mastercard';
  readonly type: 'prepaid' | 'debit' | 'credit';
  readonly three_ds: number;
  readonly apple_pay: number;
  readonly google_pay: number;
  readonly max_transaction: Cents;
  readonly max_monthly: Cents;
  /** Tenths of a percent, because only whole numbers are stored. */
  readonly acceptance_tenths: number;
  /** JSON list of tags. */
  readonly best_for: string;
}

const COLUMNS =
  'id, network, type, three_ds, apple_pay, google_pay, max_transaction, max_monthly, acceptance_tenths, best_for';

export const binById = async (sql: Sql, account: string, id: string) =>
  (await sql.known<BinRow>(`select ${COLUMNS} from bins where account_id = ? and id = ?`, account, id))[0];

/** All BINs in the order of the data set. */
export const allBins = (sql: Sql, account: string) =>
  sql.all<BinRow>(`select ${COLUMNS} from bins where account_id = ? order by position`, account);

const PLACES = `(${new Array(12).fill('?').join(', ')})`;

/** Inserts all of them in one statement, in the order given. */
export const insertBins = (sql: Sql, account: string, bins: readonly BinRow[]) =>
  sql.run(
    `insert into bins (account_id, position, ${COLUMNS}) values ${bins.map(() => PLACES).join(', ')}`,
    ...bins.flatMap((bin, position) => [
      account,
      position,
      bin.id,
      bin.network,
      bin.type,
      bin.three_ds,
      bin.apple_pay,
      bin.google_pay,
      bin.max_transaction,
      bin.max_monthly,
      bin.acceptance_tenths,
      bin.best_for,
    ]),
  );
