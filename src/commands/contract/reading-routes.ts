/** Asks every route that only reads, one GET each, and tells which answer as the contract says. */
import type { Context } from '../../cli/context.ts';
import type { ReadName } from '../../contract/calls.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { CliError, type ErrorKind } from '../../core/errors.ts';
import type { Row } from '../../terminal/view.ts';

/** One row a route: `fits`, `wrong` with what is wrong, or `skipped` when no id is there to ask with. */
export async function readingRoutes(ctx: Context): Promise<Row[]> {
  const reader = await ctx.reader();
  const overrides = (await ctx.overrides()).operations;
  const ids: { card?: string; webhook?: string } = {};
  const rows: Row[] = [];
  const asked = Object.entries(OPERATIONS).filter(([, { effect }]) => effect === 'read');
  // Lists first: they hold the ids that the single reads need.
  for (const [name, row] of asked.sort(([, one], [, other]) => Number('params' in one) - Number('params' in other))) {
    const input = 'params' in row ? idInput(row.params, ids) : {};
    const { path } = { ...row, ...(Object.hasOwn(overrides, name) ? overrides[name] : {}) };
    const route = `GET ${path}`;
    if (input === undefined) {
      rows.push({ operation: name, result: 'skipped', route, detail: 'there is no id to ask with' });
      continue;
    }
    const { answer, ...observed } = await ask(() => reader.read(name as ReadName, input as never));
    rows.push({ operation: name, ...observed, route });
    const [first] = (answer as { data?: readonly { id?: unknown }[] } | undefined)?.data ?? [];
    if (typeof first?.id !== 'string') continue;
    if (name === 'cards.list') ids.card = first.id;
    if (name === 'webhooks.list') ids.webhook = first.id;
  }
  return rows;
}

function idInput(params: object, { card, webhook }: { card?: string; webhook?: string }): object | undefined {
  if ('card_id' in params) return card === undefined ? undefined : { card_id: card };
  return webhook === undefined ? undefined : { webhook_id: webhook };
}

/** What the key or the network cannot do is no finding about a route, so it ends the check. */
const ENDING: readonly ErrorKind[] = ['not_authenticated', 'interrupted', 'terminated', 'guarded', 'usage', 'internal'];

interface Told {
  readonly answer?: unknown;
  readonly result: 'fits' | 'wrong';
  readonly detail: string;
}

async function ask(read: () => Promise<unknown>): Promise<Told> {
  try {
    return { answer: await read(), result: 'fits', detail: '' };
  } catch (thrown) {
    if (!(thrown instanceof CliError) || ENDING.includes(thrown.kind)) throw thrown;
    return { result: 'wrong', detail: thrown.message };
  }
}
