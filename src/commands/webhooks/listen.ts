/** Listening for events: a receiver, its subscription where the service can reach it, and what ends the session. */

import { allOf, CONDITION_VALUES, CONDITIONS, type Test } from '../../cli/condition.ts';
import type { Context } from '../../cli/context.ts';
import { columnsOf, countOf, rowsListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, duration, type FlagValues, local, maybe, option, takes, tells } from '../../cli/parsing/flag.ts';
import { quote } from '../../cli/parsing/values.ts';
import { stoppedBy } from '../../cli/run.ts';
import { EVENTS, eventsMatching, matchesEvent } from '../../contract/events.ts';
import { SECOND } from '../../core/durations.ts';
import { asCliError, CliError, undefinedOn, usage } from '../../core/errors.ts';
import type { Identity } from '../../core/identity.ts';
import { randomName } from '../../core/names.ts';
import { type Arrived, type Counts, EVENT_ROW, type ReceivedEvent } from '../../events/listener.ts';
import { looks } from '../../events/poll.ts';
import { within } from '../../platform/time.ts';
import { durationText } from '../../terminal/times.ts';
import type { Row } from '../../terminal/view.ts';
import { LIVE_FLAGS, waitingOf } from '../wait/flags.ts';
import { checkPatterns } from './subscriptions.ts';
import { SECRET_FILES_IF_ANY, secretsFor } from './verify.ts';

const WATCH_EVERY_MS = 15_000;
/** So many looks without an answer, and nothing can be expected to come any more. */
const MOST_SILENT_LOOKS = 4;

/** Whether the service runs on this machine and so can reach a receiver here: a sandbox. */
async function sandboxHere(ctx: Context): Promise<Identity | undefined> {
  const identity = await undefinedOn('not_authenticated', ctx.api.identity());
  const isHere =
    identity !== undefined && /^embedded$|^http:\/\/(?:127\.|localhost[:/]|\[::1\])/.test(identity.baseUrl);
  return isHere ? identity : undefined;
}

/** The path of a receiver names its process, and is another one each time: the port may be that of another run by then. */
const LISTENER = /^http:\/\/127\.0\.0\.1:\d+\/([a-p]+(?:_[a-p]*){3})_[a-p]{8}$/;

/** Takes away subscriptions of runs that crashed. Resolves to their ids. */
async function endAbandoned(ctx: Context): Promise<readonly string[]> {
  const { isGone } = await ctx.processes();
  const { data } = await ctx.api.read('webhooks.list', {});
  const left = data.filter(({ url }) => {
    const [, name] = LISTENER.exec(url) ?? [];
    return name !== undefined && isGone(name);
  });
  for (const { id } of left) await endSubscription(ctx, id);
  return left.map(({ id }) => id);
}

async function endSubscription(ctx: Context, id: string): Promise<void> {
  const intent = `End subscription ${id}`;
  await undefinedOn('not_found', ctx.api.write('webhooks.delete', { webhook_id: id }, { intent, confirmed: true }));
}

/** Rejects when the subscription is gone, switched off, or the service no longer answers; resolves at the signal. */
async function watched(ctx: Context, id: string, signal: AbortSignal): Promise<void> {
  const pace = { firstMs: WATCH_EVERY_MS, longestMs: WATCH_EVERY_MS };
  const look = () => ctx.api.read('webhooks.get', { webhook_id: id });
  let silent = 0;
  try {
    for await (const { found, trouble } of looks({ ...waitingOf(ctx), signal }, pace, look)) {
      silent = found === undefined ? silent + 1 : 0;
      if (found?.status === 'disabled') throw sourceGone(`the subscription ${id} was switched off`);
      if (silent >= MOST_SILENT_LOOKS) throw sourceGone(`the service no longer answers: ${trouble?.message}`);
    }
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof CliError && error.kind === 'not_found') throw sourceGone(`the subscription ${id} is gone`);
    throw error;
  }
}

function sourceGone(why: string): CliError {
  return new CliError('unreachable', { message: `${why}; no further event arrives` });
}

/** Codes in an event, to be hidden in logs. */
function codesIn({ data }: ReceivedEvent): string[] {
  const otp = (data as { readonly otp?: unknown } | null | undefined)?.otp;
  return typeof otp === 'string' && otp !== '' ? [otp] : [];
}

/** `12 events, 3 repeated, 1 out of order in 3m04s.` */
function footerOf(counts: Readonly<Counts> | undefined, took: string): string {
  if (counts === undefined) return '';
  const { events, duplicates, out_of_order: late, refused } = counts;
  const more = Object.entries({ repeated: duplicates, 'out of order': late, refused });
  const told = more.flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []));
  return `${[countOf(events, 'event'), ...told].join(', ')} in ${took}.`;
}

const ON_SCREEN = { screenOnly: true, unlessEmpty: true } as const;
export const RECEIVED_COLUMNS = columnsOf(
  EVENT_ROW,
  'id type data.id:2 data.merchant:4 data.status:4 created_at:3 out_of_order:4',
  {
    id: 'EVENT ID',
    'data.merchant': ON_SCREEN,
    'data.status': ON_SCREEN,
    type: 'EVENT',
    'data.id': 'OBJECT',
    created_at: 'WHEN',
  },
);

/** What may keep a session from beginning. */
const SESSION_ENDS = { unreachable: 'The port is taken, or a subscription could not be made.' } as const;

/** What listening does, for the help of the commands that do it. */
const SESSION_EFFECT =
  'with a sandbox on this machine, subscribes and takes the subscription away at the end; of another service it changes nothing';

const SESSION_FLAGS = {
  port: option(takes.integer('Port on 127.0.0.1; any free one by default.', { min: 0, max: 65_535 })),
  secretFile: SECRET_FILES_IF_ANY,
  signatureHeader: option(takes.text('Name of the signature header; the usual names by default.'), '<name>'),
  readyFile: option(local('file', 'File for the address (one line) while it listens.'), '<file>'),
} as const;

/** How long deliveries are waited for once the program has failed. */
const AFTER_FAILURE_MS = 2 * SECOND;

/** What is known when it is over. */
interface Hearing {
  counts: Readonly<Counts> | undefined;
  /** Exit code of the program; 0 also while it runs. */
  exit: number;
  /** The signal that ended it. */
  stopped: CliError | undefined;
}

interface SessionOptions extends FlagValues<typeof SESSION_FLAGS> {
  readonly events: readonly string[] | undefined;
  /** Whose answer becomes ours to the sender. */
  readonly relay?: ((arrived: Arrived) => Promise<boolean>) | undefined;
}

/** How many refusals are told one by one. */
const MOST_TOLD = 5;
const SETTLE_MS = 2_000;

/**
 * Listens, gives the events and takes everything away again. Ends after `forMs`; with a program, so long after its end, and
 * soon after one that failed.
 */
async function* hear(
  ctx: Context,
  options: SessionOptions,
  forMs: number | undefined,
  hearing: Hearing,
): AsyncGenerator<Arrived> {
  if (ctx.dryRun)
    throw usage('listening cannot be tried with --dry-run: it subscribes, and takes the subscription away');
  const program = ctx.rest;
  const [over, background] = [new AbortController(), new AbortController()];
  const running: Promise<void>[] = [];
  let finish = () => {};
  // From before there is anything to clean up. A second signal stops the cleaning too.
  const takeBack = ctx.takeSignals(name => {
    takeBack();
    hearing.stopped = stoppedBy(name === 'SIGINT' ? 'interrupted' : 'terminated');
    finish();
  });
  const undo: (() => Promise<unknown>)[] = [async () => takeBack()];
  /** Takes the subscription away and frees the port; for every way out. */
  const end = async () => {
    finish();
    background.abort();
    await Promise.all(running);
    // Whatever one step meets, the port is freed: it would keep the process alive.
    const failures: unknown[] = [];
    for (const step of undo.reverse()) await step().catch((error: unknown) => void failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const { openListener } = await import('../../events/listener.ts');
    const patterns = checkPatterns(options.events ?? ['*']);
    const identity = await sandboxHere(ctx);
    const secrets = await secretsFor(ctx, options.secretFile, identity !== undefined);
    const ready = options.readyFile === undefined ? undefined : await ctx.files.readyFile(options.readyFile);
    const hidden = new Set<string>();
    let refused = 0;
    const listener = await openListener({
      port: options.port ?? 0,
      secrets,
      signatureHeader: options.signatureHeader ?? (await ctx.api.overrides()).headers['webhook_signature'],
      events: patterns,
      clock: ctx.clock,
      relay: options.relay,
      onHidden(what) {
        if (!hidden.has(what)) ctx.ui.notice(`warning: ${what}`);
        hidden.add(what);
      },
      onRefused(why) {
        refused += 1;
        const more = refused === MOST_TOLD ? '; more are counted only' : '';
        if (refused <= MOST_TOLD) ctx.ui.notice(`refused a delivery with 401: ${why}${more}`);
      },
    });
    undo.push(() => listener.close());
    hearing.counts = listener.counts;
    finish = () => listener.finish();
    const quietly = (work: Promise<void>) =>
      work.catch((error: unknown) => {
        if (!over.signal.aborted) listener.fail(asCliError(error));
      });
    const origin = `http://127.0.0.1:${listener.port}`;
    const { own } = await ctx.processes();
    const address = identity === undefined ? origin : `${origin}/${own}_${randomName(ctx.random.bytes(4))}`;
    const deliver = identity === undefined ? undefined : await ctx.sandbox.deliver();
    const [secret] = secrets;
    if (identity !== undefined && secret !== undefined) {
      const events = patterns.includes('*') ? ['*'] : [...new Set(patterns.flatMap(eventsMatching))];
      await endAbandoned(ctx);
      const body = { url: address, events, secret: secret.expose() };
      const { id } = (await ctx.api.write('webhooks.create', body, { intent: `Subscribe ${address}` })).result;
      undo.push(() => endSubscription(ctx, id));
      running.push(quietly(watched(ctx, id, background.signal)));
      if (deliver !== undefined)
        running.push(quietly(deliver({ kind: 'signal', signal: background.signal }).then(() => undefined)));
    }
    if (ready !== undefined) {
      await ready.write(address);
      undo.push(() => ready.remove(address));
    }
    ctx.ui.notice(`Listening on ${address}${identity === undefined ? '' : ', subscribed'}.`);
    if (identity === undefined)
      ctx.ui.notice('A signature over the body alone cannot detect a replay; repeats are known by event id.');
    const finishLater = async (longestMs = Number.POSITIVE_INFINITY) => {
      if (forMs !== undefined) await ctx.clock.sleep(Math.min(forMs, longestMs), over.signal);
      finish();
    };
    const programEnd = async () => {
      hearing.exit = await ctx.runProgram(program, { CARDWRIGHT_LISTENER_URL: address });
      await within(SETTLE_MS, ctx.clock, async late => void (await deliver?.({ kind: 'idle', signal: late })));
      // What a program that failed did not cause will not come; what it caused is on its way.
      await finishLater(hearing.exit === 0 ? undefined : AFTER_FAILURE_MS);
    };
    const stopped = hearing.stopped !== undefined;
    if (stopped) finish();
    // While a program has the terminal, signals are its own, and what it makes of them ends the session.
    else if (program.length > 0) takeBack();
    const later = program.length > 0 && !stopped ? programEnd() : forMs === undefined ? undefined : finishLater();
    const work = later && quietly(later);
    try {
      yield* listener.arrivals;
    } finally {
      // A program is waited for; the time after its end is not.
      over.abort();
      await work;
    }
  } finally {
    await end();
  }
}

export const listenWebhooks = command({
  path: 'webhooks listen',
  summary: 'Receive webhooks on this machine and verify each before it is shown',
  answers: [
    {
      list: EVENT_ROW,
      page: {
        events: maybe(tells.count('Events that were shown.')),
        duplicates: maybe(tells.count('Deliveries of events shown already.')),
        out_of_order: maybe(tells.count('Events out of order.')),
        refused: maybe(tells.count('Deliveries with a wrong signature.')),
        unwished: maybe(tells.count('Deliveries of other kinds.')),
        forwarded: tells.count('Deliveries that were passed on.'),
        not_forwarded: tells.count('Deliveries that could not be passed on.'),
      },
    },
    { one: { ended: tells.texts('Subscriptions that were ended, with --reap.') } },
  ],
  about: [
    'A sandbox on this machine is subscribed to during the run, with a new secret. For another service give its secret, and send its deliveries to this address.',
    'A delivery goes to each target once. The sender of one that a target does not take gets 502 and tries again, so each event arrives at least once.',
    'A delivery with a wrong signature is answered with 401, counted and never forwarded. Each event is shown once, and marked if it is out of order. The signature covers the body alone and cannot detect a replay, so repeats are recognized by their event id during the run.',
    'A program after -- runs while cardwright listens. It gets CARDWRIGHT_LISTENER_URL in its environment, and cardwright ends with its exit code. cardwright in it acts for the same account as this command: it gets the profile, and a key of the environment if this command uses it.',
  ],
  reach: 'service',
  effectSays: SESSION_EFFECT,
  ends: SESSION_ENDS,
  flags: {
    ...SESSION_FLAGS,
    event: option(
      takes.list(takes.text('Event, or a pattern such as card.*'), 'Only these, such as card.*,3ds.challenge'),
      '<pattern>',
    ),
    forwardTo: option(
      takes.list(local('address', 'Address.'), 'Forward the bytes to [pattern=]url: https, or this machine.'),
      '<url>',
    ),
    until: option(takes.text('End after an event of this pattern.'), '<pattern>'),
    ...LIVE_FLAGS,
    reap: option(takes.flag('Only delete the subscriptions of runs that crashed.')),
  },
  rest: 'run for its exit code',
  examples: {
    'All that happens in the sandbox': 'webhooks listen --wait-timeout 1s',
    'Into a program of yours': 'webhooks listen --forward-to card.*=http://127.0.0.1:3000/hook --wait-timeout 1s',
    'While a test runs': 'webhooks listen -o ndjson -- ./checkout.sh',
  },
  async run(ctx, { reap, forwardTo, until, count, waitTimeout: forMs, event: events, ...more }) {
    if (reap) {
      const reaped = (await sandboxHere(ctx)) === undefined ? [] : await endAbandoned(ctx);
      return { listing: undefined, reaped, exit: () => 0 };
    }
    const { createForwarder, targetOf } = await import('../../events/forward.ts');
    const { trustedBy } = await import('../../platform/trust.ts');
    const targets = (forwardTo ?? []).map(each => {
      const target = targetOf(each);
      if (target === undefined)
        throw usage(`--forward-to ${JSON.stringify(each)} is not [pattern=]url with https, or http to this machine`);
      checkPatterns([target.pattern]);
      return target;
    });
    if (until !== undefined) checkPatterns([until]);
    const hearing: Hearing = { counts: undefined, exit: 0, stopped: undefined };
    const began = ctx.clock.monotonic();
    const forwarder = createForwarder({
      targets,
      clock: ctx.clock,
      secureContext: targets.length > 0 ? await trustedBy(ctx.env, path => ctx.files.readFile(path)) : undefined,
      onForwarded: ({ target, event, outcome, isDelivered }) => {
        if (!isDelivered || ctx.ui.forPeople)
          ctx.ui.notice(`${isDelivered ? '→' : 'not passed on:'} ${event} ${target} ${outcome}`);
      },
    });
    const options = {
      ...more,
      events,
      relay: targets.length > 0 ? (arrived: Arrived) => forwarder.pass(arrived) : undefined,
    };
    async function* batches(): AsyncGenerator<readonly Row[]> {
      let left = count ?? Number.POSITIVE_INFINITY;
      for await (const { event } of hear(ctx, options, forMs, hearing)) {
        ctx.ui.maskInLog(codesIn(event));
        yield [event as unknown as Row];
        left -= 1;
        if (left <= 0 || (until !== undefined && matchesEvent(until, event.type))) return;
      }
    }
    const listing = {
      batches: batches(),
      page: () => ({ ...hearing.counts, forwarded: forwarder.delivered, not_forwarded: forwarder.failed }),
      isLive: true as const,
      footer: () => footerOf(hearing.counts, durationText(ctx.clock.monotonic() - began)),
    };
    return { listing, reaped: undefined, exit: () => hearing.stopped?.exitCode ?? hearing.exit };
  },
  columns: 'ended',
  show: ({ listing, reaped, exit }) =>
    listing === undefined
      ? { data: { ended: reaped ?? [] }, noun: 'subscription', quiet: [...(reaped ?? [])] }
      : { listing, exit, noun: 'event', columns: RECEIVED_COLUMNS },
});

export const expectEvents = command({
  path: 'webhooks expect',
  summary: 'Check that an event arrives, and optionally no other',
  answers: { list: EVENT_ROW },
  about: [
    'Listens as webhooks listen does: a sandbox on this machine is subscribed to during the run; another service must send its deliveries to this address. The time limit begins when it listens, or when the program after -- has ended. If the event does not come, that is exit 15. With --no-other any other event is exit 15 too, and the command always waits until the time is over.',
    `Conditions are on the object the event carries. ${CONDITION_VALUES}`,
    'cardwright in the program acts for the same account as this command.',
    'If the program fails, the command ends two seconds later with its exit code. Standard error says so and lists the events that came.',
  ],
  reach: 'service',
  effectSays: SESSION_EFFECT,
  ends: {
    check_failed: 'What was expected did not come, or something else did with --no-other.',
    ...SESSION_ENDS,
  },
  args: { event: argument(takes.text('Event, or a pattern such as card.*')) },
  flags: {
    where: CONDITIONS,
    waitTimeout: duration('How long to wait; 30s by default.'),
    count: option(takes.integer('How many must come; 1 by default.', { min: 1 })),
    noOther: option(takes.flag('Fail if any other event comes within the time.')),
    ...SESSION_FLAGS,
  },
  rest: 'run for its exit code',
  examples: {
    'That a test makes a card': "webhooks expect card.created --where 'balance>=5' -- ./checkout.sh",
    'Two, and nothing else': 'webhooks expect card.frozen --count 2 --no-other --wait-timeout 10s -- ./freeze.sh',
  },
  async run(ctx, { event: pattern, where = [], waitTimeout: forMs = 30 * SECOND, count = 1, noOther, ...options }) {
    checkPatterns([pattern]);
    const isMeant = meaning(pattern, where, () => ctx.api.serviceNow());
    const hearing: Hearing = { counts: undefined, exit: 0, stopped: undefined };
    const [matched, others]: [ReceivedEvent[], ReceivedEvent[]] = [[], []];
    const session = { ...options, events: noOther ? ['*'] : [pattern] };
    for await (const { event } of hear(ctx, session, forMs, hearing)) {
      ctx.ui.maskInLog(codesIn(event));
      (isMeant(event) ? matched : others).push(event);
      if (!noOther && matched.length >= count) break;
    }
    if (hearing.stopped !== undefined) throw hearing.stopped;
    const came = noOther ? matched.length === count && others.length === 0 : matched.length >= count;
    const wanted = `${count} ${pattern}${where.length === 0 ? '' : ` with ${where.join(' and ')}`}${noOther ? ' and nothing else' : ''}`;
    const broken = new CliError('check_failed', {
      message: `expected ${wanted} within ${durationText(forMs)}; ${matched.length} came, and ${others.length} other`,
      notes: [...matched, ...others].slice(0, 20).map(({ type, id }) => `${type} ${id}`),
      evidence: { matched: matched.map(({ id }) => id), others: others.map(({ id, type }) => ({ id, type })) },
    });
    // Its exit code becomes ours, and alone would not say whose it is.
    if (hearing.exit !== 0) {
      const { exit } = hearing;
      // The words of the program itself may hold secrets.
      const program = quote(ctx.rest[0] ?? '');
      const came = `${matched.length} of ${count} ${pattern} came`;
      ctx.ui.notice(`the program ${program} ended with ${exit}, which is the exit code here; ${came}`);
    }
    return { matched, exit: hearing.exit, broken: came ? undefined : broken };
  },
  show: ({ matched, exit, broken }) => ({
    // What did not come is said by the error.
    listing: rowsListing(matched, { footer: () => '' }),
    exit,
    // What the program itself reports comes first.
    failure: exit === 0 ? broken : undefined,
    noun: 'event',
    columns: RECEIVED_COLUMNS,
  }),
});

/** The pattern and every condition, on the object of the event. */
function meaning(pattern: string, where: readonly string[], now: () => number): (event: ReceivedEvent) => boolean {
  const tests = new Map<string, Test>();
  for (const name of eventsMatching(pattern))
    tests.set(name, allOf(where, { shape: EVENTS[name].data, flag: '--where', now }));
  return ({ type, data }) => tests.get(type)?.((data ?? {}) as Readonly<Record<string, unknown>>) ?? false;
}
