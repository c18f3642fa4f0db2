/** How fault rules are shown. */
import { tells } from '../../../cli/answer-fields.ts';
import { columnsOf } from '../../../cli/columns.ts';
import { argument, OURS } from '../../../cli/parsing/flag.ts';
import { text } from '../../../contract/field.ts';
import type { ItemOf } from '../../../contract/operation.ts';
import type { AdminOperations } from '../../../contract/sandbox/admin-calls.ts';
import { FAULT } from '../../../contract/sandbox/faults.ts';

export type FaultRule = ItemOf<AdminOperations['faults']>;

export const fault = argument(text({ doc: 'Id of the rule; see sandbox faults list.', basis: OURS }));

export const FAULT_COLUMNS = [
  ...columnsOf(FAULT, { id: { priority: 1 }, active: { priority: 2 } }),
  { field: 'meets', title: 'MEETS', kind: 'text', priority: 1, shrink: 'wraps' },
  { field: 'does', title: 'DOES', kind: 'text', priority: 1, shrink: 'wraps' },
  ...columnsOf(FAULT, {
    phase: { priority: 3 },
    struck: { priority: 2 },
    times: { title: 'OF', priority: 2 },
    seen: { priority: 4 },
    expires_at: { title: 'ENDS', priority: 5 },
    created_at: { title: 'AGE', priority: 6, wideOnly: true },
  }),
] as const;

/** A rule as data. */
export const FAULT_ROW = {
  ...FAULT,
  meets: tells.text('What it meets, in one line.'),
  does: tells.text('What it does, in one line.'),
} as const;

/** With what it meets and what it does in one line each, for tables. */
export function inWords(rule: FaultRule): FaultRule & { readonly meets: string; readonly does: string } {
  const { kind, ...members } = rule.action as Readonly<Record<string, unknown>>;
  return { ...rule, meets: pairs(rule.match) || 'everything', does: `${String(kind)} ${pairs(members)}`.trim() };
}

function pairs(values: object): string {
  const shown = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  return Object.entries(values)
    .map(([name, value]) => `${name}=${shown(value)}`)
    .join(' ');
}
