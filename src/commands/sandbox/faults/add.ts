import { wholeListing } from '../../../cli/listing.ts';
import { command } from '../../../cli/parsing/command.ts';
import { argument, OURS } from '../../../cli/parsing/flag.ts';
import { text } from '../../../contract/field.ts';
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
    `A rule is JSON: {"match": …, "phase": "before" or "after_commit", "action": {"kind": …}, "times": n, "expires_at": …}; a file may hold a list of them. The next card is made and its answer lost: ${EXAMPLE}`,
    `Kinds of action with their members, in brackets what may be left out: ${FAULT_ACTIONS.join('; ')}. Of latency one of the three, in ms.`,
    'match takes operation, method, path, card_id, key_last4, key_prefix, nth and probability; for deliveries event and webhook_id. Without times a rule stays until it is removed. Rules are kept in the store: the next command meets them.',
  ],
  operation: 'faults.add',
  args: { file: argument(text({ doc: 'File with the rules; - for standard input.', basis: OURS })) },
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
