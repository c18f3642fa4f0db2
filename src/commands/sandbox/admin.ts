/**
 * Commands that send one operation of the control surface, made from its row: an argument `webhook` is the member
 * `webhook_id` of the request, and a flag that names a field of the row is that field.
 */
import type { Context } from '../../cli/context.ts';
import { type Paging, pagedListing, pagesAsked } from '../../cli/listing.ts';
import { command as declareCommand } from '../../cli/parsing/command.ts';
import type { Arguments, Command, Declaration, InputOfCommand } from '../../cli/parsing/declaration.ts';
import type { FlagSources } from '../../cli/parsing/flag.ts';
import type { PagedName } from '../../contract/calls.ts';
import type { Shape } from '../../contract/field.ts';
import type { InputOf, ItemOf, ResultOf } from '../../contract/operation.ts';
import { CALLS } from '../../contract/raw.ts';
import {
  ADMIN_OPERATIONS,
  type AdminName,
  type AdminOperations,
  type SandboxAdmin,
} from '../../contract/sandbox/admin.ts';
import { notSent, usage } from '../../core/errors.ts';
import type { Listing } from '../../terminal/view.ts';

/** Declares a command of a sandbox: only with one the rows of the control surface are loaded. */
export const command: typeof declareCommand = declaration =>
  declareCommand(declaration, { ...CALLS, ...ADMIN_OPERATIONS });

/**
 * Sends one operation to the sandbox that `elsewhere` finds. A change goes to the one that is started on this store, where
 * there is one: it knows then what was done, and sends what follows. Else to the one every command steers. Throws `usage`
 * in a dry run.
 */
export async function runAdmin<N extends AdminName>(
  ctx: Context,
  operation: N,
  input: InputOf<AdminOperations[N]>,
  elsewhere?: () => Promise<SandboxAdmin | undefined>,
): Promise<ResultOf<AdminOperations[N]>> {
  if (ctx.dryRun) {
    throw usage('simulations touch the sandbox alone and have no dry run');
  }
  const isChange = ADMIN_OPERATIONS[operation].effect !== 'read';
  const found =
    elsewhere === undefined && isChange ? await (await ctx.sandbox.servers()).control() : await elsewhere?.();
  const admin = found ?? (await ctx.sandbox.admin());
  return (await admin.send(operation, input)).result;
}

/** The sandbox elsewhere that is meant, or the one that is started for this store. Throws `unreachable` where there is neither. */
export async function startedSandbox({ sandbox }: Context, start = 'cardwright sandbox start'): Promise<SandboxAdmin> {
  const isElsewhere = (await sandbox.elsewhere()) !== undefined;
  const admin = isElsewhere ? await sandbox.admin() : await (await sandbox.servers()).control();
  if (admin !== undefined) return admin;
  throw notSent('unreachable', 'no sandbox is started for this store', start);
}

/** A page, some or all of a list of the control surface. `as` makes the row that is shown of one that came. */
export async function adminListing<N extends PagedName<AdminOperations>>(
  ctx: Context,
  [operation, noun]: readonly [operation: N, noun: string],
  query: Omit<InputOf<AdminOperations[N]>, 'page' | 'per_page'>,
  asked: Paging,
  as: (row: ItemOf<AdminOperations[N]>) => object = row => row as object,
): Promise<Listing> {
  const { page, perPage: per_page } = asked;
  const admin = await ctx.sandbox.admin();
  async function* pages() {
    const input = { ...query, page, per_page } as InputOf<AdminOperations[N]>;
    for await (const each of admin.pages(operation, input)) yield { ...each, data: each.data.map(as) };
  }
  return pagedListing(pages(), { noun, ...pagesAsked(ctx, asked) });
}

type Values = Readonly<Record<string, unknown>>;

interface RequestFields {
  readonly path: string;
  readonly params?: Shape;
  readonly query?: Shape;
  readonly body?: Shape;
}

/** What a person typed as the request of the operation, by the names of its row. */
function requestOf(operation: AdminName, flags: FlagSources<AdminName>, typed: Values): Values {
  const { params, query, body }: RequestFields = ADMIN_OPERATIONS[operation];
  const fields = { ...params, ...query, ...body };
  const member = (name: string) => {
    const source = flags[name];
    if (typeof source === 'string') return source.slice(source.indexOf('.') + 1);
    return `${name}_id` in fields ? `${name}_id` : name;
  };
  const given = Object.entries(typed).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [member(name), value]));
}

/** `check` may refuse, or say the request in other words. */
export type AdminDeclaration<N extends AdminName, Args extends Arguments, Flags extends FlagSources<N>> = Omit<
  Declaration<N, Args, Flags, ResultOf<AdminOperations[N]>>,
  'run' | 'summary'
> & {
  readonly operation: N;
  /** That of its row when left out. */
  readonly summary?: string;
  readonly check?: (
    typed: InputOfCommand<N, Args, Flags>,
    ctx: Context,
  ) => Values | undefined | Promise<Values | undefined>;
};

/** A command that sends its operation and shows the answer. */
export function adminCommand<
  const N extends AdminName,
  const Args extends Arguments = Record<never, never>,
  const Flags extends FlagSources<N> = Record<never, never>,
>(declaration: AdminDeclaration<N, Args, Flags>): Command {
  const { check, ...declared } = declaration;
  return command<N, Args, Flags, ResultOf<AdminOperations[N]>>({
    ...(declared as unknown as Declaration<N, Args, Flags, ResultOf<AdminOperations[N]>>),
    summary: declared.summary ?? ADMIN_OPERATIONS[declared.operation].summary,
    async run(ctx, typed) {
      const checked = await check?.(typed, ctx);
      const input = requestOf(declared.operation, declared.flags ?? {}, { ...typed, ...checked });
      return runAdmin(ctx, declared.operation, input as InputOf<AdminOperations[N]>);
    },
  });
}
