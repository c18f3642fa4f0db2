import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { SHORT_IDS_CHANGE } from '../../cli/short-ids.ts';
import { FREEZING_ASKS } from '../../writes/guard.ts';
import { showTopic } from './topic.ts';

const RULES = [
  {
    rule: 'keys',
    means:
      'No option takes an API key, a card number, a CVV or a signing secret, because other users could see it in the process list. Use the environment, a file, standard input or a prompt.',
  },
  {
    rule: 'origin',
    means: 'A stored key is sent only to its own address. Redirects are never followed.',
  },
  {
    rule: 'look first',
    means: '--dry-run shows method, path, body and idempotency key of a write and sends nothing.',
  },
  {
    rule: 'confirm',
    means:
      'Terminating asks for the last four digits of the card, or for the number of cards. --yes answers for you. Questions are asked only at a terminal; a piped y is not an answer.',
  },
  { rule: 'short ids', means: SHORT_IDS_CHANGE },
  {
    rule: 'live',
    means: `With a live key a write asks first. In a script it needs --yes and --live <profile>; otherwise it is exit 14, and nothing is sent. ${FREEZING_ASKS}`,
  },
  { rule: 'test only', means: 'CARDWRIGHT_TEST_ONLY=1 refuses every live key.' },
  { rule: 'read only', means: 'cardwright profiles set <profile> read_only true refuses every write.' },
  {
    rule: 'reveal',
    means:
      'Only cards details shows number and CVV, after you type the last four digits, on a separate screen. In a script it needs --reveal and one of --print, --out and --copy. cards exec passes them to one program and prints nothing. At most 30 a minute, and none under a debugger.',
  },
  {
    rule: 'audit',
    means:
      'Every write and reveal is recorded in a local, hash-chained log without card data or keys: cardwright audit list, verify, export.',
  },
  {
    rule: 'repeating',
    means:
      'A killed command is refused when you run it again, because it could happen twice. The error names the cardwright ops resume that finishes it. For rows of a file this holds in any order and format, even with --again; after the run has finished, rows need --again for a day.',
  },
  {
    rule: 'unknown',
    means:
      'Exit 11 means: sent, but no trustworthy answer came. Find out what happened before you repeat: a second run could move money twice.',
  },
] as const;

/** The guards, one line each. */
export const helpSafety = command({
  path: 'help safety',
  summary: 'Guards and confirmations, and what is never done',
  answers: { list: { rule: tells.text('Rule.'), means: tells.text('What it means.') } },
  examples: [
    { does: 'As a page', run: 'help safety' },
    { does: 'As data', run: 'help safety --json' },
  ],
  run: async () => RULES,
  show: rows =>
    showTopic({
      noun: 'rule',
      fields: ['rule', 'means'],
      rows,
      list: rows.map(({ rule, means }) => [rule, means]),
    }),
});
