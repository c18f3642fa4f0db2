/** How the clock of the sandbox is shown. */
import { tells } from '../../../cli/answer-fields.ts';
import type { Shown } from '../../../cli/shown.ts';
import type { ResultOf } from '../../../contract/operation.ts';
import type { AdminOperations } from '../../../contract/sandbox/admin-calls.ts';
import type { Column } from '../../../terminal/view.ts';

export type Clock = ResultOf<AdminOperations['clock.show']>;
export type Advanced = ResultOf<AdminOperations['clock.advance']>;

const COLUMNS: readonly Column[] = [
  { field: 'now', title: 'NOW', kind: 'time', priority: 1 },
  { field: 'mode', title: 'MODE', kind: 'word', priority: 1 },
];

const FIRED: readonly Column[] = [
  { field: 'due_at', title: 'AT', kind: 'text', priority: 1 },
  { field: 'kind', title: 'WHAT', kind: 'word', priority: 1 },
  { field: 'ref', title: 'OF', kind: 'id', priority: 1 },
];

export function showClock(clock: Clock): Shown {
  const rate: Column = { field: 'rate', title: 'RATE', kind: 'number', priority: 2 };
  const target: Column = { field: 'moving_to', title: 'MOVING TO', kind: 'time', priority: 2 };
  const awaited: Column = { field: 'awaited_deliveries', title: 'WAITS FOR', kind: 'integer', priority: 3 };
  return {
    noun: 'clock',
    idField: 'now',
    columns: [...COLUMNS, rate, target, awaited],
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['Clock', clock.now],
          ['Mode', inWords(clock)],
          ...(clock.moving_to == null ? [] : [['Moving to', clock.moving_to] as const]),
          ...waitsFor(clock),
        ],
      },
    ],
  };
}

function waitsFor({ awaited_deliveries: count = 0 }: Clock): readonly (readonly [string, string])[] {
  return count === 0 ? [] : [['Waits for', count === 1 ? '1 delivery' : `${count} deliveries`]];
}

function inWords({ mode, rate }: Clock): string {
  return mode === 'scaled' ? `scaled, ${rate} seconds a second` : mode;
}

/** A line of a log says it too, where there is no table. */
export const HAPPENED = tells.text('What happened on the way, how often by kind; empty for nothing.');
const HAPPENED_COLUMN: Column = { field: 'happened', title: 'HAPPENED', kind: 'text', priority: 2 };

function countsOf(fired: Advanced['fired']): string {
  const kinds = [...new Set(fired.map(({ kind }) => kind))];
  return kinds.map(kind => `${fired.filter(each => each.kind === kind).length} ${kind}`).join(', ');
}

export function showAdvanced(advanced: Advanced): Shown {
  const { now, fired } = advanced;
  const things = fired.length === 1 ? 'One thing' : `${fired.length} things`;
  return {
    noun: 'clock',
    idField: 'now',
    data: { ...advanced, happened: countsOf(fired) },
    columns: [...COLUMNS, HAPPENED_COLUMN],
    blocks: [
      { kind: 'line', text: `${now}. ${fired.length === 0 ? 'Nothing' : things} happened on the way.` },
      ...(fired.length === 0 ? [] : [{ kind: 'table', columns: FIRED, rows: fired } as const]),
    ],
  };
}
