/** Commands that send one operation of the control surface: arguments, flags, request and list are made from its row. */

import type { Context } from '../../cli/context.ts';
import { PAGING_FLAGS, type Paging, pagedListing, pagesAsked } from '../../cli/listing.ts';
import { command as declareCommand } from '../../cli/parsing/command.ts';
import type { Arguments, Command, Declaration } from '../../cli/parsing/declaration.ts';
import { argument, type FlagSources, flagName, type OwnFlag } from '../../cli/parsing/flag.ts';
import { CALLS, type PagedName } from '../../contract/calls.ts';
import type { Field } from '../../contract/field.ts';
import type { InputOf, ItemOf, ListPage, Operation, ResultOf } from '../../contract/operation.ts';
import { ADMIN_OPERATIONS, type AdminName, type AdminOperations } from '../../contract/sandbox/admin.ts';
import { usage } from '../../core/errors.ts';
import type { Values } from '../../core/objects.ts';
import type { Listing } from '../../terminal/view.ts';

/** Declares a command of a sandbox: only with one the rows of the control surface are loaded. */
export const command: typeof declareCommand = declaration =>
  declareCommand(declaration, { ...CALLS, ...ADMIN_OPERATIONS });

type Request<N extends AdminName> = InputOf<AdminOperations[N]>;

/**
 * Sends one operation. A change goes to the sandbox that is started on this store, where there is one: it knows then what was
 * done, and sends what follows. Else to the one every command steers. Throws `usage` in a dry run.
 */
export async function runAdmin<N extends AdminName>(
  ctx: Context,
  operation: N,
  input: Request<N>,
): Promise<ResultOf<AdminOperations[N]>> {
  if (ctx.dryRun) throw usage('simulations touch the sandbox alone and have no dry run');
  const isChange = ADMIN_OPERATIONS[operation].effect !== 'read';
  const started = isChange ? await (await ctx.sandbox.servers()).control() : undefined;
  const admin = started ?? (await ctx.sandbox.admin());
  return (await admin.send(operation, input)).result;
}

/** A page, some or all of a list of the control surface. `as` makes the row that is shown of one that came. */
export async function adminListing<N extends PagedName<AdminOperations>>(
  ctx: Context,
  [operation, noun]: readonly [operation: N, noun: string],
  query: Omit<Request<N>, 'page' | 'per_page'>,
  asked: Paging,
  as: (row: ItemOf<AdminOperations[N]>) => object = row => row as object,
): Promise<Listing> {
  const { page, perPage: per_page } = asked;
  const admin = await ctx.sandbox.admin();
  async function* pages() {
    for await (const each of admin.pages(operation, { ...query, page, per_page } as Request<N>))
      yield { ...each, data: each.data.map(as) };
  }
  return pagedListing(pages(), { noun, ...pagesAsked(ctx, asked) });
}

export interface AdminDeclaration<N extends AdminName>
  extends Omit<
    Declaration<N, Arguments, FlagSources<N>, ResultOf<AdminOperations[N]>>,
    'run' | 'summary' | 'operation' | 'args' | 'flags'
  > {
  readonly operation: N;
  /** That of its row when left out. */
  readonly summary?: string;
  /** Members of its body that are arguments, as those of its path are. */
  readonly args?: readonly string[];
  /** The flag of a member, where it is not the name of the member without `_id`; null for none. */
  readonly named?: Readonly<Record<string, string | null>>;
  /** Flags that are no members of the request, or members as a person says them. */
  readonly flags?: Readonly<Record<string, OwnFlag>>;
  /** May refuse the request, and say members of it in other words. */
  readonly check?: (request: Request<N> & Values, ctx: Context) => Values | undefined | Promise<Values | undefined>;
  /** The row that is shown of one that came, of a list. */
  readonly as?: (row: ItemOf<AdminOperations[N]>) => object;
}

/** A command that sends its operation and shows the answer. */
export function adminCommand<const N extends AdminName>(declaration: AdminDeclaration<N>): Command {
  const { operation, args: operands = [], named = {}, flags = {}, check, as, ...declared } = declaration;
  const row: Operation = ADMIN_OPERATIONS[operation];
  const members = { ...row.params, ...row.query, ...row.body };
  const isPaged = row.returns.kind === 'page';
  /** What a person types, by member. */
  const keys = new Map(Object.keys(members).map(member => [member, named[member] ?? keyOf(member, members)]));
  const keyed = (names: readonly string[], made: (member: string) => unknown) =>
    Object.fromEntries(names.map(member => [keys.get(member), made(member)]));
  const flagged = Object.keys({ ...row.query, ...row.body }).filter(
    member => !operands.includes(member) && named[member] !== null,
  );
  return command({
    ...(declared as object),
    path: declared.path,
    examples: declared.examples,
    operation,
    summary: declared.summary ?? row.summary,
    args: keyed([...Object.keys(row.params ?? {}), ...operands], member =>
      argument(members[member] as Field<unknown, unknown>),
    ) as Arguments,
    flags: {
      ...keyed(flagged, member => `${row.body?.[member] === undefined ? 'query' : 'body'}.${member}`),
      ...(isPaged && PAGING_FLAGS),
      ...flags,
    } as FlagSources<N>,
    async run(ctx, typed: Values) {
      const request = { ...typed, ...Object.fromEntries([...keys].map(([member, key]) => [member, typed[key]])) };
      const whole: Values = { ...request, ...(await check?.(request as Request<N> & Values, ctx)) };
      const given = Object.keys(members).filter(member => whole[member] !== undefined);
      const input = Object.fromEntries(given.map(member => [member, whole[member]]));
      const called = (member: string) => flagName(keys.get(member) ?? member);
      const wrong = row.together?.({ given: new Set(given), values: input, called });
      if (wrong !== undefined) throw usage(wrong.text);
      if (isPaged) {
        const { page, per_page, ...query } = input;
        const asked = { ...typed, page, perPage: per_page } as Paging;
        return adminListing(ctx, [operation as 'events', declared.noun ?? 'row'], query, asked, as as undefined);
      }
      const result = await runAdmin(ctx, operation, input as Request<N>);
      if (as === undefined) return result;
      const list = result as ListPage<ItemOf<AdminOperations[N]>>;
      return { ...list, data: list.data.map(as) };
    },
  });
}

/** `card_id` is `card`, `crypto_amount` is `cryptoAmount`. */
function keyOf(member: string, members: object): string {
  const short = member.replace(/_id$/, '');
  return (short in members ? member : short).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
