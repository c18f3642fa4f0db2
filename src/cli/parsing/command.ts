/** How a command is declared. The declaration is data: flags, help, completion and the reference are derived from it. */
import { CALLS, type Table } from '../../contract/calls.ts';
import type { AnyField, Shape } from '../../contract/field.ts';
import type { Operation, PageFacts } from '../../contract/operation.ts';
import { CliError } from '../../core/errors.ts';
import { type Listing, lineBlock, type Presentation } from '../../terminal/view.ts';
import { type BulkInput, type BulkOperation, rowSource, runFlagsOf } from '../bulk/flags.ts';
import { columnsIn, rowsListing } from '../listing.ts';
import type { Arguments, Command, Declaration, InputOfCommand } from './declaration.ts';
import {
  type Argument,
  type FlagSources,
  flagOf,
  namedArgument,
  type OwnFlag,
  type RowName,
  shapesOf,
} from './flag.ts';

/** Declares a command. Flag and argument types follow from the contract and reach `run` checked; its row is one of `rows`. */
export function command<
  const N extends RowName | undefined = undefined,
  const Args extends Arguments = Record<never, never>,
  const Flags extends FlagSources<N> = Record<never, never>,
  R = unknown,
>(declaration: Declaration<N, Args, Flags, R>, rows: Table = CALLS): Command {
  const { run, says, show, bulk, noun = 'result', idField, columns, ...described } = declaration;
  const { operation, about = [], ends = {}, args = {}, asks = [], ...declared } = described;
  const shown = Object.entries(declared.examples).map(([does, run]) => ({ does, run }));
  const asData = { does: 'As data', run: `${shown[0]?.run} --json` };
  const runFlags = bulk === undefined ? undefined : runFlagsOf(operation, bulk);
  const row = operation === undefined ? undefined : rows[operation];
  const answers = declared.answers && [declared.answers].flat();
  const shape: Shape = answers === undefined ? (row?.returns.shape ?? {}) : Object.assign({}, ...shapesOf(answers));
  const effect = declared.effect ?? row?.effect ?? 'read';
  const ownReach = effect === 'read' ? 'words' : 'files';
  const flags: Readonly<Record<string, string | OwnFlag>> = { ...declared.flags, ...runFlags?.declared };
  return {
    ...declared,
    ...(operation !== undefined && { operation }),
    row,
    answers,
    effect,
    reach: declared.reach ?? (operation === undefined ? ownReach : 'service'),
    examples: shown.length === 1 ? [...shown, asData] : shown,
    about: [about].flat(),
    ends,
    args: Object.entries<Argument>(args).map(each => namedArgument(...each)),
    flags: Object.entries(flags).map(([key, source]) =>
      flagOf(key, typeof source === 'string' ? fieldFlag(declared.path, row, source) : source),
    ),
    asks,
    runFlags,
    async execute(ctx, input) {
      if (bulk !== undefined && (rowSource(input) !== undefined || input['ids'] !== undefined)) {
        const { runBulk } = await import('../bulk/run.ts');
        return runBulk(ctx, { ...bulk, operation: operation as BulkOperation }, input as BulkInput);
      }
      const result = await run(ctx, input as InputOfCommand<N, Args, Flags>);
      const own = show?.(result);
      // What is shown as one thing is no list, whatever it is made of.
      const listing = own?.data === undefined ? listingIn(result, noun) : undefined;
      return {
        ...{ data: result as NonNullable<Presentation['data']>, noun },
        columns: columnsIn(shape, columns),
        ...(idField !== undefined && { idField }),
        ...(listing && { listing }),
        ...(says && { blocks: [lineBlock(says(result))] }),
        ...own,
      };
    },
  };
}

/** The flag of a field of the operation: `body.amount`. */
function fieldFlag(path: string, row: Operation | undefined, reference: string): OwnFlag {
  const [part = '', name = ''] = reference.split('.');
  const field: AnyField | undefined = row?.[part as 'params' | 'query' | 'body']?.[name];
  if (field === undefined) throw new CliError('internal', { message: `${path}: no field ${reference}` });
  return { field, needed: field.must };
}

/** A result that is a list: rows, a list of the service, or pages as they come. */
function listingIn(result: unknown, noun: string): Listing | undefined {
  if (Array.isArray(result)) return rowsListing(result, { noun });
  const { batches, data, page } = (result ?? {}) as { batches?: unknown; data?: unknown; page?: PageFacts };
  if (batches !== undefined) return result as Listing;
  return Array.isArray(data) && page !== undefined ? rowsListing(data, { page, noun }) : undefined;
}
