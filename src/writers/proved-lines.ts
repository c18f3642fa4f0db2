/** A statement without the lines that nothing proves yet: an import that keeps lines would book them again. */
import type { Statement, StatementAccount } from '../books/statement-model.ts';
import type { ExportFormat } from './formats.ts';

/** Each new file takes the place of the one before it; of all other formats the lines stay in the program that read them. */
const REPLACED: ReadonlySet<ExportFormat> = new Set(['hledger', 'ledger', 'beancount']);

export class ProvedLines {
  readonly statement: Statement;
  /** Lines that were left out of the accounts that were walked. */
  leftOut = 0;

  constructor(statement: Statement, format: ExportFormat) {
    this.statement = REPLACED.has(format)
      ? statement
      : { ...statement, accounts: { [Symbol.iterator]: () => this.#accounts(statement) } };
  }

  *#accounts({ accounts }: Statement): Generator<StatementAccount> {
    this.leftOut = 0;
    for (const account of accounts) {
      const lines = account.lines.filter(line => line.unproved === undefined);
      this.leftOut += account.lines.length - lines.length;
      yield { ...account, lines };
    }
  }
}
