/** What an error of a statement means for the work that ran it, whichever engine it comes from. */
import { engineCode, isBusy, losesAll } from '../../engine/faults.ts';

/** A statement that PostgreSQL refused: nothing of it was done, and its transaction can only be undone. */
export class StatementRefused extends Error {
  override readonly name = 'StatementRefused';
  /** SQLSTATE, five characters. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The transaction is lost, with everything that others did in it. */
export class TransactionLost extends Error {
  override readonly name = 'TransactionLost';
}

/** The answer to a COMMIT was lost: whether it was carried out is not known, and nobody is told anything. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown';
}

/** Nobody may go on in this transaction: it is lost, or must be tried again. */
export function endsTransaction(error: unknown): boolean {
  return error instanceof TransactionLost || losesAll(error) || isBusy(error);
}

/** The engine refused a statement for what it says or stores. */
export function isRefusedStatement(error: unknown): boolean {
  return error instanceof StatementRefused || (engineCode(error) !== undefined && !endsTransaction(error));
}
