/** The clock of the sandbox. */

import { columnsOf } from '../../cli/listing.ts';
import { option, optionalArgument, takes, tells } from '../../cli/parsing/flag.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { TIMER } from '../../contract/sandbox/inspector.ts';
import { CliError, usage } from '../../core/errors.ts';
import { lineBlock, tableBlock } from '../../terminal/view.ts';
import { adminCommand, command, runAdmin } from './admin.ts';

const CLOCK = ADMIN_OPERATIONS['clock.show'].returns.shape;
const SHOWN = {
  noun: 'clock',
  idField: 'now',
  columns: columnsOf(CLOCK, 'now mode rate:2 moving_to:2 awaited_deliveries:3', {
    now: { kind: 'text' },
    rate: { unlessEmpty: true },
    moving_to: { kind: 'text', unlessEmpty: true },
    awaited_deliveries: { title: 'WAITS FOR', unlessEmpty: true },
  }),
} as const;

export const sandboxClock = adminCommand({
  path: 'sandbox clock',
  summary: 'Show, set or advance the clock of the sandbox',
  operation: 'clock.show',
  examples: {
    'What it shows': 'sandbox clock',
    'A week later': 'sandbox clock advance --by 7d',
  },
  ...SHOWN,
});

export const setSandboxClock = adminCommand({
  path: 'sandbox clock set',
  summary: 'Set the clock of the sandbox, forwards or backwards',
  about: 'What becomes due happens before the next request. To see it in order, use sandbox clock advance.',
  operation: 'clock.set',
  args: ['mode'],
  // Not a time word: `7d` would be a time in the past of another clock.
  flags: { at: option(takes.text('Time to set, ISO 8601 UTC.'), '<time>') },
  examples: {
    'Stop it': 'sandbox clock set frozen',
    'A minute a second': 'sandbox clock set scaled --rate 60',
    'Real time again': 'sandbox clock set real',
  },
  ...SHOWN,
});

const ADVANCE = ADMIN_OPERATIONS['clock.advance'];

export const advanceSandboxClock = command({
  path: 'sandbox clock advance',
  summary: 'Move the clock of the sandbox forward and show what became due',
  about:
    'Everything that becomes due happens in order, each at its own time: expired holds and codes, confirmations, and webhook attempts of a sandbox that is started or serves this program. The command ends when all of it is done.',
  operation: 'clock.advance',
  answers: {
    one: {
      ...ADVANCE.returns.shape,
      happened: tells.text('What happened on the way, how often by kind; empty for nothing.'),
    },
  },
  args: { span: optionalArgument({ ...ADVANCE.body.by, doc: 'How far, such as 7d, 36h or 1d12h; same as --by.' }) },
  flags: {
    by: 'body.by',
    at: option(takes.text('Time to move to, ISO 8601 UTC.'), '<time>'),
  },
  examples: {
    'A week': 'sandbox clock advance 7d',
    'To a moment': 'sandbox clock advance --at 2027-01-01T00:00:00Z',
  },
  run(ctx, { span, by: far, at }) {
    if ([span, far, at].filter(given => given !== undefined).length !== 1) {
      throw usage('sandbox clock advance needs how far, such as 7d, or --at <time>');
    }
    return runAdmin(ctx, 'clock.advance', { by: span ?? far, to: at }).catch(thrown => {
      // The move may have begun: the clock itself says how far it is.
      const isLost = thrown instanceof CliError && thrown.facts.outcome === 'unknown';
      throw isLost ? thrown.with({ hint: 'cardwright sandbox clock' }) : thrown;
    });
  },
  noun: 'clock',
  idField: 'now',
  columns: 'now mode happened:2',
  show(advanced) {
    const { now, fired } = advanced;
    const kinds = [...new Set(fired.map(({ kind }) => kind))];
    const happened = kinds.map(kind => `${fired.filter(each => each.kind === kind).length} ${kind}`).join(', ');
    const things = fired.length === 1 ? 'One thing' : `${fired.length} things`;
    const columns = columnsOf(TIMER, 'due_at kind ref', {
      due_at: { title: 'AT', kind: 'text' },
      kind: { title: 'WHAT', kind: 'word' },
      ref: { title: 'OF', kind: 'id' },
    });
    return {
      data: { ...advanced, happened },
      blocks: [
        lineBlock(`${now}. ${fired.length === 0 ? 'Nothing' : things} happened on the way.`),
        ...(fired.length === 0 ? [] : [tableBlock(columns, fired)]),
      ],
    };
  },
});

export const clockTimers = adminCommand({
  path: 'sandbox clock timers',
  about:
    'Holds and codes that expire, confirmations of deposits, attempts of deliveries. Those that failed stand first, with what they said. Looking changes nothing in the sandbox.',
  operation: 'timers',
  examples: {
    'What comes next': 'sandbox clock timers --limit 5',
  },
  noun: 'timer',
  idField: 'ref',
  columns: columnsOf(TIMER, 'due_at kind ref state:2 error:3', {
    due_at: { kind: 'text' },
    ref: { title: 'OF', kind: 'id' },
    error: { shrink: true },
  }),
});
