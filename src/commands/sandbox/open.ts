/** Leading a browser to the inspector of a started sandbox. */

import type { Context } from '../../cli/context.ts';
import { columnsOf, countOf } from '../../cli/listing.ts';
import { maybe, option, optionalArgument, takes, tells } from '../../cli/parsing/flag.ts';
import type { SandboxAdmin } from '../../contract/sandbox/admin.ts';
import type { PageAccess } from '../../contract/sandbox/page.ts';
import { PAGE_VIEWS, pageAddress } from '../../contract/sandbox/page-views.ts';
import { CliError, notSent, usage } from '../../core/errors.ts';
import { lineBlock } from '../../terminal/view.ts';
import { command } from './admin.ts';

const PRINT = 'cardwright sandbox open --print';
const LOOK_EVERY = 100;

/** `place` stands behind `#`: `/cards/card_1`. */
type Wanted = Readonly<{ access: PageAccess; place: string }>;

/** An address that opens the page once, and until when. */
async function ticketFor(admin: SandboxAdmin, { access, place }: Wanted) {
  const { url, expires_at } = (await admin.send('page.tickets', { access })).result;
  return { url: `${url}&to=${encodeURIComponent(place)}`, expires_at };
}

/**
 * Starts a browser; `redeemed` settles when one has used the ticket, and rejects with `wait_expired` when its time is over. Throws
 * `unreachable` where none can be started.
 */
export async function openPage(ctx: Context, admin: SandboxAdmin, wanted: Wanted) {
  const { opened: before } = (await admin.send('page.show', {})).result;
  const browser = await ctx.openBrowser((await ticketFor(admin, wanted)).url);
  if (!browser.started) {
    await browser.remove();
    throw notSent('unreachable', 'no browser could be started from here', PRINT);
  }
  ctx.ui.notice(`Where no browser opens the page, its address: ${PRINT}`);
  const redeemed = async () => {
    for (;;) {
      const { opened: now, ticket_waits: waits } = (await admin.send('page.show', {})).result;
      if (now > before) return;
      if (!waits)
        throw new CliError('wait_expired', { message: 'no browser opened the inspector within a minute', hint: PRINT });
      await ctx.clock.sleep(LOOK_EVERY, ctx.signal);
    }
  };
  return { redeemed: redeemed().finally(() => browser.remove()) };
}

/** By the beginning of an id: the operation that answers `not_found` where there is no such thing. */
const READS = [
  ['card_', 'cards.show', 'card_id'],
  ['txn_', 'transactions.show', 'transaction_id'],
  ['req_', 'requests.get', 'request_id'],
  ['dlv_', 'deliveries.get', 'delivery_id'],
] as const;

const SESSION = {
  opened: tells.yes('A browser has a session now.'),
  ended: maybe(tells.count('Sessions that were ended, with --end.')),
  url: maybe(tells.text('Address that opens it once, with --print.')),
  expires_at: maybe(tells.time('Until when the address is good, with --print.')),
} as const;

export const openInspector = command({
  path: 'sandbox open',
  summary: 'Open the inspector of the started sandbox in a browser',
  reach: 'service',
  effect: 'reversible',
  effectSays: 'opens a browser; changes nothing in the sandbox',
  ends: {
    unreachable: 'No sandbox is started for this store, or no browser can be started.',
    wait_expired: 'No browser used the address within a minute.',
    not_found: 'The sandbox has no such thing.',
  },
  answers: {
    one: SESSION,
  },
  about: [
    `What it opens: a view (${PAGE_VIEWS.join(', ')}), or the id of a card, a transaction, a challenge, a deposit, a request or a delivery. Without one it is the overview.`,
    'The address is good once, for a minute. --print shows it, for a browser that cannot be started from here; a tunnel must keep the port. A session lasts 12 hours, or until the sandbox stops.',
    'The page shows what the sandbox holds. It simulates merchants, the chain and time; it never acts as your code.',
  ],
  args: { what: optionalArgument(takes.text('A view, or an id.')) },
  flags: {
    print: option(takes.flag('Print the address and start no browser.')),
    lookOnly: option(takes.flag('A session that changes nothing.')),
    end: option(takes.flag('End all sessions of the inspector.'), { conflicts: ['print', 'lookOnly'] }),
  },
  examples: {
    'In a browser': 'sandbox open',
    'One card, and nothing can be changed': 'sandbox open card_1 --look-only',
    'End all sessions': 'sandbox open --end',
  },
  async run(ctx, { what, print, lookOnly, end }) {
    if (end && what !== undefined) throw usage('--end goes alone');
    const place = pageAddress(what);
    if (place === undefined)
      throw usage(`${JSON.stringify(what)} is no view and no id; views: ${PAGE_VIEWS.join(', ')}`);
    const admin = (await ctx.sandbox.elsewhere())
      ? await ctx.sandbox.admin()
      : await (await ctx.sandbox.servers()).control();
    if (admin === undefined)
      throw notSent('unreachable', 'no sandbox is started for this store', 'cardwright sandbox start --detach');
    const [, operation, member] = READS.find(([prefix]) => what?.startsWith(prefix)) ?? [];
    if (operation !== undefined) await admin.send(operation as 'cards.show', { [member as 'card_id']: what ?? '' });
    if (end) return { opened: false, ended: (await admin.send('page.end', {})).result.ended };
    const access = lookOnly ? ('look' as const) : ('full' as const);
    if (!print) {
      await (await openPage(ctx, admin, { access, place })).redeemed;
      return { opened: true };
    }
    const { url, expires_at } = await ticketFor(admin, { access, place });
    return { opened: false, url, expires_at };
  },
  noun: 'session',
  show: ({ opened, ended, url }) => ({
    columns: columnsOf(SESSION, url === undefined ? 'opened ended' : 'url', { ended: { unlessEmpty: true } }),
    blocks: [lineBlock(url ?? (opened ? 'The inspector is open.' : `Ended ${countOf(ended ?? 0, 'session')}.`))],
    ...(url !== undefined && { notes: ['Good once, for a minute. The first browser that opens it has the session.'] }),
  }),
});
