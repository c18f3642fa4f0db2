import { tells } from '../../cli/answer-fields.ts';
import { FREEZING_ASKS } from '../../cli/guard.ts';
import { command } from '../../cli/parsing/command.ts';
import { SHORT_IDS_CHANGE } from '../../cli/short-ids.ts';
import { showTopic } from './topic.ts';

const RULES = [
  {
    rule: 'keys',
    means:
      'No option takes an API key, a card number, a CVV or a signing secret: it would be visible in the process list. They come from the environment, a file, standard input or a prompt.',
  },
  {
    rule: 'origin',
    means: 'A stored key is bound to its address and sent nowhere else. Redirects are never followed.',
  },
  {
    rule: 'look first',
    means: '--dry-run shows method, path, body and idempotency key of a write and sends nothing.',
  },
  {
    rule: 'confirm',
    means:
      'Terminating asks for the last four digits of the card, for several cards for their count. --yes answers for you. Questions are asked only on a terminal; a piped y is no answer.',
  },
  { rule: 'short ids', means: SHORT_IDS_CHANGE },
  {
    rule: 'live',
    means: `With a live key a write asks first. Off a terminal it needs --yes and --live <profile> naming the profile. Otherwise exit 14, and nothing was sent. ${FREEZING_ASKS}`,
  },
  { rule: 'test only', means: 'CARDWRIGHT_TEST_ONLY=1 refuses every live key.' },
  { rule: 'read only', means: 'cardwright profiles set <profile> read_only true refuses every write.' },
  {
    rule: 'reveal',
    means:
      'Number and CVV are shown by cards details alone, after the last four digits, on a screen of its own. Off a terminal that takes --reveal and one of --print, --out and --copy. cards exec hands them to one program and prints nothing. At most 30 a minute; none under a debugger.',
  },
  {
    rule: 'audit',
    means:
      'Every write and reveal has lines in a local, hash-chained log without card data or keys: cardwright audit list, verify, export.',
  },
  {
    rule: 'repeating',
    means:
      'A command that was killed is refused when it is run again, with the cardwright ops resume that ends it: it could do the same a second time. For the rows of a file this holds in any order and format, also with --again, and for a day after the run is finished.',
  },
  {
    rule: 'unknown',
    means:
      'Exit 11 means: sent, and no trustworthy answer came. Look before you repeat: a second run could move money twice.',
  },
] as const;

/** The guards, one line each. */
export const helpSafety = command({
  path: 'help safety',
  summary: 'What is guarded, and what is never done',
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
