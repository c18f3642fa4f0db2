/** Leading a browser to the inspector of a started sandbox. */
import type { Context, StartedBrowser } from '../../cli/context.ts';
import type { SandboxAdmin } from '../../contract/sandbox/admin-calls.ts';
import type { PageAccess } from '../../contract/sandbox/page.ts';
import { CliError } from '../../core/errors.ts';

/** ms until it is said that nobody came yet: a browser in a box cannot read the file that leads it. */
const SAY_AFTER = 5_000;
const PRINT = 'cardwright sandbox open --print';
const LOOK_EVERY = 100;

interface Wanted {
  readonly access: PageAccess;
  /** Behind `#`: `/cards/card_1`. */
  readonly place: string;
}

/** An address that opens the page once, and until when. */
export async function ticketFor(admin: SandboxAdmin, { access, place }: Wanted) {
  const { url, expires_at } = (await admin.send('page.tickets', { access })).result;
  return { url: `${url}&to=${encodeURIComponent(place)}`, expires_at };
}

export interface Opening {
  /** Settles when a browser has used the ticket. Rejects with `wait_expired` when its time is over. */
  readonly redeemed: Promise<void>;
}

/** Starts a browser. Throws `unreachable` where none can be started. */
export async function openPage(ctx: Context, admin: SandboxAdmin, wanted: Wanted): Promise<Opening> {
  const { opened: before } = (await admin.send('page.show', {})).result;
  const browser = await ctx.openBrowser((await ticketFor(admin, wanted)).url);
  if (!browser.started) {
    await browser.remove();
    throw new CliError('unreachable', {
      message: 'no browser could be started from here',
      hint: PRINT,
      outcome: 'not_sent',
    });
  }
  return { redeemed: redeemed(ctx, admin, { browser, before }) };
}

async function redeemed(
  ctx: Context,
  admin: SandboxAdmin,
  { browser, before }: { readonly browser: StartedBrowser; readonly before: number },
): Promise<void> {
  const began = ctx.clock.monotonic();
  let isSaid = false;
  try {
    for (;;) {
      const { opened: now, ticket_waits: waits } = (await admin.send('page.show', {})).result;
      if (now > before) return;
      if (!waits) throw nobodyCame();
      if (!isSaid && ctx.clock.monotonic() - began > SAY_AFTER) {
        ctx.notice(`No browser has opened the page yet. For its address: ${PRINT}`);
        isSaid = true;
      }
      await ctx.clock.sleep(LOOK_EVERY, ctx.signal);
    }
  } finally {
    await browser.remove();
  }
}

const nobodyCame = () =>
  new CliError('wait_expired', { message: 'no browser opened the inspector within a minute', hint: PRINT });
