import { command } from '../../cli/parsing/command.ts';
import { local, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { matchesEvent } from '../../contract/events.ts';
import { flag, list, text } from '../../contract/field.ts';
import type { Target } from '../../events/forward.ts';
import type { Arrived, ReceivedEvent } from '../../events/listener.ts';
import { durationText } from '../../terminal/times.ts';
import type { Row } from '../../terminal/view.ts';
import { LIVE_FLAGS, liveFor } from '../wait/flags.ts';
import { checkPatterns } from './events-flag.ts';
import { codesIn, eventLine, footerOf, LISTEN_ANSWERS, RECEIVED_COLUMNS } from './received.ts';
import {
  EVENT_PATTERNS,
  type Hearing,
  hear,
  reapListeners,
  SESSION_EFFECT,
  SESSION_ENDS,
  SESSION_FLAGS,
} from './session.ts';

const DRAIN_MS = 5_000;

/** Receives deliveries on this machine, checks them, shows them and passes them on. */
export const listenWebhooks = command({
  path: 'webhooks listen',
  summary: 'Receive webhooks on this machine and verify each before it is shown',
  answers: LISTEN_ANSWERS,
  about: [
    'A sandbox on this machine is subscribed to during the run, with a new secret. For another service give its secret, and send its deliveries to this address.',
    'A delivery that cannot be forwarded is tried up to five times, then reported and counted; the sender still gets 200. With --fail-unforwarded the sender gets 502 and tries again itself, so each event arrives at least once.',
    'A delivery with a wrong signature is answered with 401, counted and never forwarded. Each event is shown once, and marked if it is out of order. The signature covers the body alone and cannot detect a replay, so repeats are recognized by their event id during the run.',
    'A program after -- runs while cardwright listens. It gets CARDWRIGHT_LISTENER_URL in its environment, and cardwright ends with its exit code. cardwright in it acts for the same account as this command: it gets the profile, and a key of the environment if this command uses it.',
  ],
  reach: 'service',
  effectSays: SESSION_EFFECT,
  ends: SESSION_ENDS,
  flags: {
    ...SESSION_FLAGS,
    event: EVENT_PATTERNS,
    forwardTo: option(
      list(local('address', 'Address.'), {
        doc: 'Forward the bytes to [pattern=]url: https, or this machine.',
        basis: OURS,
      }),
      '<url>',
    ),
    failUnforwarded: option(
      flag({ doc: 'Answer 502 while a target has not accepted it, so that the sender tries again.', basis: OURS }),
    ),
    until: option(text({ doc: 'End after an event of this pattern.', basis: OURS }), '<pattern>'),
    ...LIVE_FLAGS,
    reap: option(flag({ doc: 'Only delete the subscriptions of runs that crashed.', basis: OURS })),
  },
  rest: 'run for its exit code',
  examples: [
    { does: 'All that happens in the sandbox', run: 'webhooks listen --wait-timeout 1s' },
    {
      does: 'Into a program of yours',
      run: 'webhooks listen --forward-to card.*=http://127.0.0.1:3000/hook --wait-timeout 1s',
    },
    { does: 'While a test runs', run: 'webhooks listen -o ndjson -- ./checkout.sh' },
  ],
  async run(ctx, { reap, forwardTo, failUnforwarded, until, count, waitTimeout: typed, event: events, ...more }) {
    if (reap) return { listing: undefined, reaped: await reapListeners(ctx), exit: () => 0 };
    const { createForwarder, targetOf } = await import('../../events/forward.ts');
    const { authorities } = await import('../../platform/trust.ts');
    const forMs = liveFor(typed);
    const targets = (forwardTo ?? []).map(each => checkTarget(each, targetOf(each)));
    if (failUnforwarded && targets.length === 0) throw usage('--fail-unforwarded needs a --forward-to');
    if (until !== undefined) checkPatterns([until]);
    const hearing: Hearing = { counts: undefined, exit: 0, stopped: undefined };
    const began = ctx.clock.monotonic();
    const { clock, random } = ctx;
    const forwarder = createForwarder({
      targets,
      clock,
      random,
      authorities: targets.length > 0 ? await authorities(ctx.env, path => ctx.readFile(path)) : undefined,
      onForwarded: ({ target, event, outcome, isDelivered, attempts }) => {
        const tries = attempts === 1 ? '' : ` after ${attempts} attempts`;
        if (!isDelivered || ctx.forPeople)
          ctx.notice(`${isDelivered ? '→' : 'not passed on:'} ${event} ${target} ${outcome}${tries}`);
      },
    });
    const options = {
      ...more,
      events,
      relay: failUnforwarded ? (arrived: Arrived) => forwarder.relay(arrived) : undefined,
    };
    async function* batches(): AsyncGenerator<readonly Row[]> {
      let left = count ?? Number.POSITIVE_INFINITY;
      try {
        for await (const arrived of hear(ctx, options, { forMs, program: ctx.rest }, hearing)) {
          const { event } = arrived;
          ctx.maskInLog(codesIn(event));
          if (!failUnforwarded) forwarder.pass(arrived);
          yield [event as unknown as Row];
          left -= 1;
          if (left <= 0 || (until !== undefined && matchesEvent(until, event.type))) return;
        }
      } finally {
        const lost = await forwarder.drain(DRAIN_MS);
        if (lost > 0)
          ctx.notice(`warning: ${lost} ${lost === 1 ? 'delivery was' : 'deliveries were'} not passed on in time`);
      }
    }
    const listing = {
      batches: batches(),
      page: () => ({ ...hearing.counts, forwarded: forwarder.delivered, not_forwarded: forwarder.failed }),
      line: (row: Row) => eventLine(row as unknown as ReceivedEvent),
      footer: () => footerOf(hearing.counts, durationText(ctx.clock.monotonic() - began)),
    };
    return { listing, reaped: undefined, exit: () => hearing.stopped?.exitCode ?? hearing.exit };
  },
  show: ({ listing, reaped, exit }) =>
    listing === undefined
      ? {
          data: { ended: reaped ?? [] },
          noun: 'subscription',
          quiet: [...(reaped ?? [])],
          columns: [{ field: 'ended', title: 'ENDED', kind: 'list', priority: 1 }],
        }
      : { listing, exit, noun: 'event', columns: RECEIVED_COLUMNS },
});

function checkTarget(typed: string, target: Target | undefined): Target {
  if (target === undefined)
    throw usage(`--forward-to ${JSON.stringify(typed)} is not [pattern=]url with https, or http to this machine`);
  checkPatterns([target.pattern]);
  return target;
}
