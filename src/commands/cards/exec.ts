import { command } from '../../cli/parsing/command.ts';
import { usage } from '../../cli/parsing/values.ts';
import { card, PROGRAM_FLAGS } from './arguments.ts';

/** Hands number, CVV and expiry to one program, in its environment, and prints nothing itself. */
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
  examples: [
    { does: 'Pay with it', run: 'cards exec card_1 -- ./checkout.sh' },
    { does: 'Off a terminal', run: 'cards exec card_1 --reveal -- printenv CARD_EXP_YEAR' },
  ],
  async run(ctx, { card, reveal, mask }) {
    if (ctx.rest.length === 0) throw usage('cards exec needs a program after --', 'cardwright cards exec --help');
    return ctx.runWithCard(card, { program: ctx.rest, reveal: reveal ?? false, mask: mask ?? false });
  },
  show: exit => ({ verbatim: '', exit, noun: 'card', columns: [] }),
});
