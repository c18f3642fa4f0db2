/** One call of `present`, and the rows in it. */
import type { Environment, Streams } from '../platform/host.ts';
import { printable } from './printable.ts';
import { checkNames, rowsOf, sortRows } from './rows.ts';
import type { OutputSettings, Presentation, Row } from './view.ts';

export interface Job {
  readonly presentation: Presentation;
  readonly settings: OutputSettings;
  readonly streams: Streams;
  readonly env: Environment;
}

/** All rows of a result, in the asked order, names checked. Nothing has been written when this throws. */
export async function collectRows({ presentation, settings }: Job): Promise<readonly Row[]> {
  const rows: Row[] = [];
  if (presentation.listing === undefined) rows.push(...rowsOf(presentation.data));
  else for await (const batch of presentation.listing.batches) for (const row of batch) rows.push(row);
  checkNames(settings, rows, presentation.columns);
  return sortRows(rows, settings.sort).slice(0, presentation.listing?.most);
}

/** The rows as they come; all at once where an order was asked for. */
export async function* batchesOf(job: Job): AsyncIterable<readonly Row[]> {
  const { listing } = job.presentation;
  if (listing === undefined || job.settings.sort !== undefined) yield await collectRows(job);
  else yield* listing.batches;
}

/** Says on standard error that rows are a part of what there is; a document says it itself, a screen in its footer. */
export async function noteCut({ presentation, settings, streams }: Job): Promise<void> {
  const cut = streams.stdout.closed || settings.quiet ? undefined : presentation.listing?.cutShort?.();
  if (cut !== undefined) await streams.stderr.write(`note: ${printable(cut)}\n`);
}
