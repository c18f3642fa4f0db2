import { command } from '../../cli/parsing/command.ts';
import { local, option, takes } from '../../cli/parsing/flag.ts';
import { usage } from '../../core/errors.ts';
import { toolServer } from './calls.ts';

/** Serves tools to an agent, over standard input and output. */
export const serveTools = command({
  path: 'mcp',
  summary: 'Serve tools to an agent (Model Context Protocol) on standard input and output',
  answers: { none: 'Messages of the protocol.' },
  effect: 'moves-money',
  effectSays: 'its tools create, fund and freeze cards, within --max-total and all other limits',
  reach: 'service',
  about: [
    'A program that hosts an agent starts it; cardwright agent setup writes its entry. Tools read the wallet, cards, transactions and operations; card_create and card_fund need an intent and a purpose, and go through journal, limits and approvals as their commands do; card_freeze is never held. No tool shows card details or codes, approves, settles or terminates.',
    'What is held for approval is a result "pending". A person approves it at a terminal with ops approve; no answer of the client counts. The same call goes on then.',
    '--max-total, --intent-prefix and --read-only hold for this server, under all other limits. An intent counts with its whole amount, also where it is unknown, waits or was rejected. What was done before this server started is answered as ever.',
    'With --exec the tool card_use runs that program with the details of a card in its environment, as cards exec does. The program gets no standard streams, and the agent is told its exit code alone. A live key needs --live and the profile setting allow_unattended_reveal.',
    'With --sandbox the tool sandbox simulates purchases, challenges, deposits, time and lost answers.',
  ],
  flags: {
    maxTotal: option(takes.money('Most that the tools may take from the wallet while this runs.', { min: 0 })),
    intentPrefix: option(takes.text('What every intent must begin with, such as agent7/.')),
    readOnly: option(takes.flag('Offer only tools that read.')),
    exec: option(local('file', 'Program that card_use runs.'), '<program>'),
  },
  examples: {
    'Read alone': 'mcp --read-only',
    'Purchases of at most $100 in all': 'mcp --max-total 100 --intent-prefix agent7/',
  },
  async run(ctx, { maxTotal, intentPrefix = '', readOnly = false, exec }) {
    if (intentPrefix !== '' && !/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/.test(intentPrefix))
      throw usage('--intent-prefix is 1 to 64 letters, digits and . _ : / -, a letter or digit first');
    const host = await ctx.toolHost();
    const { mode } = await ctx.api.identity();
    const isSandbox = mode === 'sandbox';
    const wishes = { maxTotal, intentPrefix, readOnly, isSandbox, program: exec };
    if (exec !== undefined) await (await ctx.gate()).checkRunWithCard({ program: [exec], reveal: true });
    const { serve } = await import('./server.ts');
    await serve(host, { tools: toolServer(host.run, wishes), version: ctx.version, signal: ctx.signal });
  },
  noun: 'tool',
  show: () => ({ verbatim: '' }),
});
