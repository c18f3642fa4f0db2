import { wholeListing } from '../../../cli/listing.ts';
import { command } from '../../../cli/parsing/command.ts';
import { argument, local } from '../../../cli/parsing/flag.ts';
import { FAULT_ACTIONS, FAULT_EXAMPLE } from '../../../contract/sandbox/fault-rule.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { FAULT_COLUMNS, FAULT_ROW, inWords } from './columns.ts';
import { readRules } from './read-rules.ts';

/** With blanks, so that help can break it: JSON takes a new line there. */
const EXAMPLE = JSON.stringify(FAULT_EXAMPLE).replaceAll('":', '": ').replaceAll(',"', ', "');

/** Adds rules that break answers on purpose. */
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
  examples: [
    {
      does: 'The next card is made, and the answer lost',
      run: 'sandbox faults add - < lost-answer.json',
    },
    { does: 'From a file', run: 'sandbox faults add lost-answer.json' },
  ],
  async run(ctx, { file }) {
    const rules = await readRules(ctx, file);
    const added = [];
    for (const { match = {}, action, phase, times, expires_at } of rules) {
      added.push(await runAdmin(ctx, 'faults.add', { match, action, phase, times, expires_at }));
    }
    return wholeListing({ data: added.map(inWords), page: {} }, { noun: 'rule' });
  },
  show: listing => ({ listing, noun: 'rule', columns: FAULT_COLUMNS }),
});
