/** Card details: revealed, or handed to a program. */
import { command } from '../../cli/parsing/command.ts';
import { local, option, takes, tells } from '../../cli/parsing/flag.ts';
import { usage } from '../../core/errors.ts';
import { card, PROGRAM_FLAGS } from './cards.ts';

const REVEALED = {
  card_id: tells.text('The card.'),
  number: { ...tells.text('Card number.'), secret: true },
  cvv: { ...tells.text('CVV.'), secret: true },
  exp_month: tells.count('Month of expiry, 1 to 12.'),
  exp_year: tells.count('Year of expiry, four digits.'),
} as const;

export const cardDetails = command({
  path: 'cards details',
  summary: 'Reveal number, CVV and expiry of one card',
  answers: [
    { one: REVEALED },
    { text: 'With --field, the value alone.' },
    { none: 'On the screen, in a file or on the clipboard.' },
  ],
  about: [
    'At a terminal it asks for the last four digits and shows the card on a separate screen for 30 seconds. In a script it asks nothing: give --reveal and one of --print, --out and --copy. A live key also needs --live and the profile setting allow_unattended_reveal there.',
    'The card is read first. A number that does not end in its last four digits is not shown; the command ends with 13.',
    'This machine reveals at most 30 cards a minute. Each reveal has a line in the audit log, without card data. Nothing is revealed under a debugger. A recording by another program, such as script(1), cannot be undone.',
  ],
  operation: 'cards.details',
  args: { card },
  flags: {
    field: option(takes.choice(['number', 'cvv', 'expiry'], 'Only this field, as plain text.')),
    reveal: PROGRAM_FLAGS.reveal,
    print: option(takes.flag('Print to the normal screen or the pipe.')),
    copy: option(takes.choice(['number', 'cvv', 'expiry'], 'Copy to the clipboard, which is cleared after 45 s.')),
    out: option(local('file', 'Write to a new file that only you can read.'), '<file>'),
  },
  examples: {
    'On a screen of its own, after the last four digits': 'cards details card_1',
    'The number into a pipe': 'cards details card_1 --reveal --print --field number',
    'Everything into a private file': 'cards details card_1 --reveal --out card.json',
  },
  run: async (ctx, { card, ...options }) => (await ctx.gate()).reveal(card, options),
  show: shown => shown,
});

export const cardExec = command({
  path: 'cards exec',
  summary: 'Run a program with the details of one card in its environment',
  answers: { none: 'What the program prints.' },
  about: [
    'The program gets CARD_ID, CARD_NUMBER, CARD_CVV, CARD_EXP_MONTH and CARD_EXP_YEAR, and the same standard streams. It does not get an API key or a token of your environment, and no shell runs in between. cardwright in it acts for the same saved profile, and for none where the key came from the environment. cardwright prints nothing and ends with the exit code of the program.',
    'At a terminal it asks for the last four digits. In a script give --reveal; a live key also needs --live and the profile setting allow_unattended_reveal.',
  ],
  operation: 'cards.details',
  args: { card },
  flags: PROGRAM_FLAGS,
  rest: 'run for its exit code',
  examples: {
    'Pay with it': 'cards exec card_1 -- ./checkout.sh',
    'Off a terminal': 'cards exec card_1 --reveal -- printenv CARD_EXP_YEAR',
  },
  async run(ctx, { card, reveal, mask }) {
    if (ctx.rest.length === 0) throw usage('cards exec needs a program after --', 'cardwright cards exec --help');
    return (await ctx.gate()).runWithCard(card, { program: ctx.rest, reveal: reveal ?? false, mask: mask ?? false });
  },
  noun: 'card',
  show: exit => ({ verbatim: '', exit }),
});
