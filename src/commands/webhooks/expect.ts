import { allOf, CONDITION_VALUES, CONDITIONS } from '../../cli/condition.ts';
import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, OURS, option } from '../../cli/parsing/flag.ts';
import { parseDuration } from '../../cli/parsing/globals.ts';
import { quote } from '../../cli/parsing/values.ts';
import { EVENTS, eventsMatching } from '../../contract/events.ts';
import { flag, integer, text } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import type { ReceivedEvent } from '../../events/listener.ts';
import { durationText } from '../../terminal/times.ts';
import { checkPatterns } from './events-flag.ts';
import { codesIn, EVENT_ROW, RECEIVED_COLUMNS } from './received.ts';
import { type Hearing, hear, SESSION_EFFECT, SESSION_ENDS, SESSION_FLAGS } from './session.ts';

const DEFAULT_WAIT = '30s';

/** Asserts that events arrive: exit 0 when they do, 15 when they do not. */
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
  args: { event: argument(text({ doc: 'Event, or a pattern such as card.*', basis: OURS })) },
  flags: {
    where: CONDITIONS,
    waitTimeout: option(text({ doc: `How long to wait; ${DEFAULT_WAIT} by default.`, basis: OURS }), '<duration>'),
    count: option(integer({ doc: 'How many must come; 1 by default.', basis: OURS, min: 1 })),
    noOther: option(flag({ doc: 'Fail if any other event comes within the time.', basis: OURS })),
    ...SESSION_FLAGS,
  },
  rest: 'run for its exit code',
  examples: [
    { does: 'That a test makes a card', run: "webhooks expect card.created --where 'balance>=5' -- ./checkout.sh" },
    {
      does: 'Two, and nothing else',
      run: 'webhooks expect card.frozen --count 2 --no-other --wait-timeout 10s -- ./freeze.sh',
    },
  ],
  async run(ctx, { event: pattern, where = [], waitTimeout: typed, count = 1, noOther, ...options }) {
    checkPatterns([pattern]);
    const forMs = parseDuration(typed ?? DEFAULT_WAIT, '--wait-timeout');
    const isMeant = meaning(pattern, where, () => ctx.serviceNow());
    const hearing: Hearing = { counts: undefined, exit: 0, stopped: undefined };
    const [matched, others]: [ReceivedEvent[], ReceivedEvent[]] = [[], []];
    const session = { ...options, events: noOther ? ['*'] : [pattern] };
    for await (const { event } of hear(ctx, session, { forMs, program: ctx.rest }, hearing)) {
      ctx.maskInLog(codesIn(event));
      (isMeant(event) ? matched : others).push(event);
      if (!noOther && matched.length >= count) break;
    }
    if (hearing.stopped !== undefined) throw hearing.stopped;
    const came = noOther ? matched.length === count && others.length === 0 : matched.length >= count;
    const broken = came
      ? undefined
      : unmet({ pattern, where, count, within: forMs }, { matched, others, noOther: noOther ?? false });
    // Its exit code becomes ours, and alone would not say whose it is.
    if (hearing.exit !== 0) ctx.notice(failedProgram(ctx.rest, hearing.exit, { pattern, count, came: matched.length }));
    return { matched, exit: hearing.exit, broken };
  },
  show: ({ matched, exit, broken }) => ({
    // What did not come is said by the error.
    listing: {
      ...wholeListing({ data: matched, page: { total: matched.length } }, { noun: 'event' }),
      footer: () => '',
    },
    exit,
    // What the program itself reports comes first.
    failure: exit === 0 ? broken : undefined,
    noun: 'event',
    columns: RECEIVED_COLUMNS,
  }),
});

/** `./checkout.sh ended with 3; 0 of 1 card.created came`: the words of the program itself may hold secrets. */
function failedProgram(
  [program = '']: readonly string[],
  exit: number,
  { pattern, count, came }: { readonly pattern: string; readonly count: number; readonly came: number },
): string {
  return `the program ${quote(program)} ended with ${exit}, which is the exit code here; ${came} of ${count} ${pattern} came`;
}

/** The pattern and every condition, on the object of the event. */
function meaning(pattern: string, where: readonly string[], now: () => number): (event: ReceivedEvent) => boolean {
  const tests = new Map(
    eventsMatching(pattern).map(
      name => [name as string, allOf(where, { shape: EVENTS[name].data, flag: '--where', now })] as const,
    ),
  );
  return ({ type, data }) => tests.get(type)?.((data ?? {}) as Readonly<Record<string, unknown>>) ?? false;
}

interface Expected {
  readonly pattern: string;
  readonly where: readonly string[];
  readonly count: number;
  readonly within: number;
}

interface Came {
  readonly matched: readonly ReceivedEvent[];
  readonly others: readonly ReceivedEvent[];
  readonly noOther: boolean;
}

function unmet({ pattern, where, count, within }: Expected, { matched, others, noOther }: Came): CliError {
  const wanted = `${count} ${pattern}${where.length === 0 ? '' : ` with ${where.join(' and ')}`}${noOther ? ' and nothing else' : ''}`;
  const listed = [...matched, ...others].map(({ type, id }) => `${type} ${id}`);
  return new CliError('check_failed', {
    message: `expected ${wanted} within ${durationText(within)}; ${matched.length} came, and ${others.length} other`,
    notes: listed.slice(0, 20),
    evidence: { matched: matched.map(({ id }) => id), others: others.map(({ id, type }) => ({ id, type })) },
  });
}
