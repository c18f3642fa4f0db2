import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, OURS, option, typedOnly } from '../../cli/parsing/flag.ts';
import { choice, flag } from '../../contract/field.ts';
import { card } from './arguments.ts';

const REVEALED = {
  card_id: tells.text('The card.'),
  number: { ...tells.text('Card number.'), secret: true },
  cvv: { ...tells.text('CVV.'), secret: true },
  exp_month: tells.count('Month of expiry, 1 to 12.'),
  exp_year: tells.count('Year of expiry, four digits.'),
} as const;

/** Reveals number, CVV and expiry behind the gate of docs/design/cli.md, "Revealing a card". */
export const cardDetails = command({
  path: 'cards details',
  summary: 'Reveal number, CVV and expiry of one card',
  answers: {
    either: [
      { one: REVEALED },
      { text: 'With --field, the value alone.' },
      { none: 'On the screen, in a file or on the clipboard.' },
    ],
  },
  about: [
    'At a terminal it asks for the last four digits and shows the card on a separate screen for 30 seconds. In a script it asks nothing: give --reveal and one of --print, --out and --copy. A live key also needs --live and the profile setting allow_unattended_reveal there.',
    'The card is read first. A number that does not end in its last four digits is not shown; the command ends with 13.',
    'This machine reveals at most 30 cards a minute. Each reveal has a line in the audit log, without card data. Nothing is revealed under a debugger. A recording by another program, such as script(1), cannot be undone.',
  ],
  operation: 'cards.details',
  args: { card },
  flags: {
    field: option(choice(['number', 'cvv', 'expiry'], { doc: 'Only this field, as plain text.', basis: OURS })),
    reveal: typedOnly(option(flag({ doc: 'Confirm the reveal without typing the last four digits.', basis: OURS }))),
    print: option(flag({ doc: 'Print to the normal screen or the pipe.', basis: OURS })),
    copy: option(
      choice(['number', 'cvv', 'expiry'], { doc: 'Copy to the clipboard, which is cleared after 45 s.', basis: OURS }),
    ),
    out: option(local('file', 'Write to a new file that only you can read.'), '<file>'),
  },
  examples: [
    { does: 'On a screen of its own, after the last four digits', run: 'cards details card_1' },
    { does: 'The number into a pipe', run: 'cards details card_1 --reveal --print --field number' },
    { does: 'Everything into a private file', run: 'cards details card_1 --reveal --out card.json' },
  ],
  run: (ctx, { card, field, reveal, print, copy, out }) =>
    ctx.reveal(card, { field, copy, out, reveal: reveal ?? false, print: print ?? false }),
  show: shown => shown,
});
