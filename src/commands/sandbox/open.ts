import { maybe, tells } from '../../cli/answer-fields.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option, optionalArgument } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { flag, text } from '../../contract/field.ts';
import type { SandboxAdmin } from '../../contract/sandbox/admin-calls.ts';
import { PAGE_VIEWS, pageAddress } from '../../contract/sandbox/page-views.ts';
import { CliError } from '../../core/errors.ts';
import type { Column } from '../../terminal/view.ts';
import { openPage, ticketFor } from './opening.ts';

const ours = (doc: string) => ({ doc, basis: OURS });

/** Opens the inspector in a browser. */
export const openInspector = command({
  path: 'sandbox open',
  summary: 'Open the inspector of the started sandbox in a browser',
  reach: 'service',
  effect: 'reversible',
  effectSays: 'opens a browser; changes nothing in the sandbox',
  ends: {
    unreachable: 'No sandbox is started for this store, or no browser can be started.',
    wait_expired: 'No browser used the address within a minute.',
  },
  answers: {
    one: {
      opened: tells.yes('A browser has a session now.'),
      ended: maybe(tells.count('Sessions that were ended, with --end.')),
      url: maybe(tells.text('Address that opens it once, with --print.')),
      expires_at: maybe(tells.time('Until when the address is good, with --print.')),
    },
  },
  about: [
    `What it opens: a view (${PAGE_VIEWS.join(', ')}), or the id of a card, a transaction, a request or a delivery. Without one it is the overview.`,
    'The address is good once, for a minute. --print shows it, for a browser that cannot be started from here; a tunnel must keep the port. A session lasts 12 hours, or until the sandbox stops.',
    'The page shows what the sandbox holds. It simulates merchants, the chain and time; it never acts as your code.',
  ],
  args: { what: optionalArgument(text(ours('A view, or an id.'))) },
  flags: {
    print: option(flag(ours('Print the address and start no browser.'))),
    lookOnly: option(flag(ours('A session that changes nothing.'))),
    end: option(flag(ours('End all sessions of the inspector.'))),
  },
  examples: [
    { does: 'In a browser', run: 'sandbox open' },
    { does: 'One card, and nothing can be changed', run: 'sandbox open card_1 --look-only' },
    { does: 'End all sessions', run: 'sandbox open --end' },
  ],
  async run(ctx, { what, print, lookOnly, end }) {
    if (ctx.dryRun) throw usage('sandbox open sends nothing to the service; it has no dry run');
    if (end && (what !== undefined || print || lookOnly)) throw usage('--end goes alone');
    const place = pageAddress(what);
    if (place === undefined)
      throw usage(`${JSON.stringify(what)} is no view and no id; views: ${PAGE_VIEWS.join(', ')}`);
    const admin = await startedSandbox(ctx);
    if (end) return { opened: false, ended: (await admin.send('page.end', {})).result.ended };
    const access = lookOnly ? ('look' as const) : ('full' as const);
    if (!print) {
      await (await openPage(ctx, admin, { access, place })).redeemed;
      return { opened: true };
    }
    const { url, expires_at } = await ticketFor(admin, { access, place });
    return { opened: false, url, expires_at };
  },
  show: ({ opened, ended, url }) => ({
    noun: 'session',
    columns: url === undefined ? COLUMNS : ADDRESS_COLUMNS,
    blocks: [{ kind: 'line', text: url ?? (opened ? 'The inspector is open.' : sessionsEnded(ended ?? 0)) }],
    ...(url !== undefined && { notes: ['Good once, for a minute. The first browser that opens it has the session.'] }),
  }),
});

const COLUMNS: readonly Column[] = [
  { field: 'opened', title: 'OPENED', kind: 'boolean', priority: 1 },
  { field: 'ended', title: 'ENDED', kind: 'integer', priority: 1, unlessEmpty: true },
];
const ADDRESS_COLUMNS: readonly Column[] = [{ field: 'url', title: 'ADDRESS', kind: 'text', priority: 1 }];

const sessionsEnded = (ended: number) => (ended === 1 ? 'Ended 1 session.' : `Ended ${ended} sessions.`);

async function startedSandbox(ctx: Context): Promise<SandboxAdmin> {
  const isElsewhere = (await ctx.sandboxElsewhere()) !== undefined;
  const admin = isElsewhere ? await ctx.sandbox() : await ctx.servers.control();
  if (admin !== undefined) return admin;
  throw new CliError('unreachable', {
    message: 'no sandbox is started for this store',
    hint: 'cardwright sandbox start --detach',
    outcome: 'not_sent',
  });
}
