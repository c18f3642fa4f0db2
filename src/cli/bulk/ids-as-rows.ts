/** Ids from standard input in place of one card: `cards fund - --amount 5` runs a row for each. */
import { CliError } from '../../core/errors.ts';
import { type Cents, toUsd } from '../../core/money.ts';
import type { Context, Shown } from '../context.ts';
import type { BulkInput } from './flags.ts';
import { RESULT_COLUMNS } from './result-row.ts';
import { type BulkCommand, runBulk } from './run-bulk.ts';

/** Flags of one change; what the rows share is its amount. */
export interface IdsInput {
  readonly ids: readonly string[];
  readonly amount?: Cents | undefined;
  readonly intent?: unknown;
  readonly idempotencyKey?: unknown;
}

/** Throws as a run of a file does, and `usage` for a name or a key, which one change has. */
export async function runIds(ctx: Context, bulk: BulkCommand, input: IdsInput): Promise<Shown> {
  const { ids, amount, intent, idempotencyKey } = input;
  const see = `cardwright ${bulk.operation.replace('.', ' ')} --help`;
  if (intent !== undefined || idempotencyKey !== undefined) {
    throw new CliError('usage', {
      message: `${intent === undefined ? '--idempotency-key' : '--intent'} names one change, and standard input may hold several cards`,
      notes: ['In a file each row has an intent of its own: columns card_id,amount,intent.'],
      hint: see,
      outcome: 'not_sent',
    });
  }
  if (ids.length === 0) {
    ctx.ui.notice('Standard input holds no ids. There is nothing to do.');
    async function* none() {
      yield [];
    }
    return {
      listing: { batches: none(), page: () => ({ total: 0 }) },
      noun: 'row',
      idField: 'card_id',
      columns: RESULT_COLUMNS,
    };
  }
  const rows = ids.map(
    id => `${JSON.stringify({ card_id: id, ...(amount !== undefined && { amount: toUsd(amount) }) })}\n`,
  );
  async function* pieces() {
    yield Buffer.from(rows.join(''));
  }
  const openInput = async () => ({
    pieces: pieces(),
    unchanged: async () => true,
    [Symbol.asyncDispose]: async () => undefined,
  });
  const withRows = { ...ctx, files: { ...ctx.files, openInput } };
  return runBulk(withRows, bulk, { file: '-' } satisfies BulkInput);
}
