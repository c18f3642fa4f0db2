/** Fault rules. */

import type { Context } from '../../cli/context.ts';
import { columnsOf } from '../../cli/listing.ts';
import { argument, local, takes, tells } from '../../cli/parsing/flag.ts';
import type { ItemOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { FAULT, FAULT_ACTIONS, FAULT_EXAMPLE, type FaultRule, faultProblem } from '../../contract/sandbox/faults.ts';
import { usage } from '../../core/errors.ts';
import { notJson } from '../../core/json-position.ts';
import { nearest } from '../../core/nearest.ts';
import { jsonOrUndefined } from '../../core/objects.ts';
import { adminCommand, command, runAdmin } from './admin.ts';

type KeptRule = ItemOf<AdminOperations['faults']>;

/** A rule as data. */
const FAULT_ROW = {
  ...FAULT,
  meets: tells.text('What it meets, in one line.'),
  does: tells.text('What it does, in one line.'),
} as const;

export const FAULT_COLUMNS = columnsOf(
  FAULT_ROW,
  'id active:2 meets does phase:3 struck:2 times:2 seen:4 expires_at:5 created_at:6+',
  { meets: { shrink: 'wraps' }, does: { shrink: 'wraps' }, times: 'OF', expires_at: 'ENDS', created_at: 'AGE' },
);

/** With what it meets and what it does in one line each, for tables. */
function inWords(rule: KeptRule): KeptRule & { readonly meets: string; readonly does: string } {
  const { kind, ...members } = rule.action as Readonly<Record<string, unknown>>;
  return { ...rule, meets: pairs(rule.match) || 'everything', does: `${String(kind)} ${pairs(members)}`.trim() };
}

function pairs(values: object): string {
  const shown = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  return Object.entries(values)
    .map(([name, value]) => `${name}=${shown(value)}`)
    .join(' ');
}

/** Throws `usage` naming the file, the rule, the member that is wrong and the nearest word there is. */
export async function readRules({ files }: Context, file: string): Promise<readonly FaultRule[]> {
  const name = files.nameOf(file);
  const wrong = (what: string) => usage(`${name}: ${what}`, 'cardwright sandbox faults add --help');
  const text = await files.readFile(file);
  const parsed = jsonOrUndefined(text);
  if (parsed === undefined) throw wrong(notJson(text));
  const rules = Array.isArray(parsed) ? parsed : [parsed];
  if (rules.length === 0) throw wrong('no rule in it');
  for (const [index, rule] of rules.entries()) {
    const problem = faultProblem(rule);
    const which = rules.length === 1 ? '' : `rule ${index + 1}: `;
    if (problem === undefined) continue;
    const near = problem.word && nearest(problem.word.given, problem.word.known);
    const meant = near === undefined ? '' : `. Did you mean ${JSON.stringify(near)}?`;
    throw wrong(`${which}${problem.field} ${problem.text}${meant}`);
  }
  return rules as readonly FaultRule[];
}

/** With blanks, so that help can break it: JSON takes a new line there. */
const EXAMPLE = JSON.stringify(FAULT_EXAMPLE).replaceAll('":', '": ').replaceAll(',"', ', "');

export const addFaults = command({
  path: 'sandbox faults add',
  summary: 'Add fault rules: lost answers, errors, delays',
  answers: { list: FAULT_ROW },
  about: [
    `A rule is JSON: {"match": …, "phase": "before" or "after_commit", "action": {"kind": …}, "times": n, "expires_at": …}; a file can hold a list of rules. This rule makes the next card and loses the answer: ${EXAMPLE}`,
    `Kinds of action with their members; those in brackets are optional: ${FAULT_ACTIONS.join('; ')}. latency takes one of the three, in ms.`,
    'match takes operation, method, path, card_id, key_last4, key_prefix, nth and probability; for deliveries event and webhook_id. A rule without times stays until it is removed. Rules are kept in the store, so they apply to the commands that follow.',
  ],
  operation: 'faults.add',
  args: { file: argument(local('file', 'File with the rules; - for standard input.')) },
  examples: {
    'The next card is made, and the answer lost': 'sandbox faults add - < lost-answer.json',
    'From a file': 'sandbox faults add lost-answer.json',
  },
  async run(ctx, { file }) {
    const rules = await readRules(ctx, file);
    const added = [];
    for (const rule of rules) added.push(await runAdmin(ctx, 'faults.add', { match: {}, ...rule }));
    return { data: added.map(inWords), page: {} };
  },
  noun: 'rule',
  columns: FAULT_COLUMNS,
});

export const listFaults = adminCommand({
  path: 'sandbox faults list',
  summary: 'List fault rules and how often each was applied',
  answers: { list: FAULT_ROW },
  operation: 'faults',
  examples: { 'All rules': 'sandbox faults list' },
  as: inWords,
  noun: 'rule',
  columns: FAULT_COLUMNS,
});

export const removeFault = command({
  path: 'sandbox faults remove',
  summary: 'Remove a fault rule',
  answers: { one: { id: tells.text('The rule.'), removed: tells.yes('Always true.') } },
  operation: 'faults.remove',
  args: { fault: argument(takes.text('Id of the rule; see sandbox faults list.')) },
  examples: { 'One rule': 'sandbox faults remove flt_1' },
  async run(ctx, { fault: id }) {
    await runAdmin(ctx, 'faults.remove', { fault_id: id });
    return { id, removed: true };
  },
  columns: 'id removed',
  noun: 'rule',
  says: ({ id }) => `Removed ${id}.`,
});

export const clearFaults = adminCommand({
  path: 'sandbox faults clear',
  operation: 'faults.clear',
  examples: { 'Everything works again': 'sandbox faults clear' },
  columns: ['removed', { removed: { kind: 'integer' } }],
  noun: 'rule',
  says: ({ removed }) => (removed === 1 ? 'Removed 1 rule.' : `Removed ${removed} rules.`),
});
