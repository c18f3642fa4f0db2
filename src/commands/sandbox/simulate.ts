/** Simulations: what merchants, card holders and payers do. */

import type { Shown } from '../../cli/context.ts';
import { columnsOf } from '../../cli/listing.ts';
import type { Command } from '../../cli/parsing/declaration.ts';
import { argument, option, optionalArgument, takes } from '../../cli/parsing/flag.ts';
import type { ResultOf } from '../../contract/operation.ts';
import { ADMIN_OPERATIONS, type AdminName, type AdminOperations } from '../../contract/sandbox/admin.ts';
import { usage } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { type AdminDeclaration, adminCommand, command, runAdmin } from './admin.ts';

type Simulated = ResultOf<AdminOperations['simulate.authorize']>;

const COLUMNS = columnsOf(
  ADMIN_OPERATIONS['simulate.authorize'].returns.shape,
  'outcome transaction_id:2 authorization_id:3 challenge_id:3 deposit_id:3 card_id:4 card_status:4 card_balance:4 wallet_balance:4 decline_reason:2 confirmations:5 required_confirmations:5 events:5',
  {
    card_status: 'STATUS',
    wallet_balance: 'WALLET',
    decline_reason: 'REASON',
    confirmations: { screenOnly: true },
    required_confirmations: { screenOnly: true },
    events: { screenOnly: true },
  },
).map(column => ({ ...column, unlessEmpty: true as const }));

const IDS = ['authorization_id', 'transaction_id', 'challenge_id', 'deposit_id'] as const;

/** The id that the next step of a story needs: the authorization before its own record. */
function showSimulated(done: Simulated): Shown {
  const idField = IDS.find(name => typeof done[name] === 'string') ?? 'transaction_id';
  const { outcome, transaction_id: transaction } = done;
  return {
    noun: 'simulation',
    columns: COLUMNS,
    idField,
    ...(outcome === 'declined' && transaction && { notes: [`Why: cardwright sandbox why ${shellWord(transaction)}`] }),
  };
}

type SimulationName = AdminName extends infer Name ? (Name extends `simulate.${infer Word}` ? Word : never) : never;

/** A command that sends the simulation of its name. */
function simulate<const Name extends SimulationName>(
  name: Name,
  declared: Omit<AdminDeclaration<`simulate.${Name}`>, 'path' | 'operation' | 'show'>,
): Command {
  const all = { ...declared, path: `sandbox simulate ${name}`, operation: `simulate.${name}`, show: showSimulated };
  return adminCommand(all as unknown as AdminDeclaration<`simulate.${Name}`>);
}

export const simulateAuthorize = simulate('authorize', {
  about: 'A declined authorization is a result, not a failure: the command ends with 0 and says why.',
  named: { force_decline: 'decline', three_ds: '3ds' },
  examples: {
    'A coffee': 'sandbox simulate authorize --card card_1 --amount 4.50',
    'One that needs a code first': 'sandbox simulate authorize --card card_1 --amount 59 --3ds challenge',
  },
});

export const simulateIncrement = simulate('increment', {
  about: 'The checks of an authorization run again. If the increase is declined, the authorization does not change.',
  examples: { 'Five dollars more': 'sandbox simulate increment txn_1 --amount 5' },
});

export const simulateSettle = simulate('settle', {
  summary: 'Simulate the settlement of an authorization, in full or in part',
  named: { final: null },
  flags: { notFinal: option(takes.flag('More settlements will follow; keep the rest of the hold.')) },
  examples: {
    'All of it': 'sandbox simulate settle txn_1',
    'A part, more to come': 'sandbox simulate settle txn_1 --amount 12 --not-final',
  },
  check: ({ notFinal }) => ({ final: notFinal ? false : undefined }),
});

export const simulateReverse = simulate('reverse', {
  summary: 'Simulate a reversal: release a hold, in full or in part',
  examples: {
    'All of it': 'sandbox simulate reverse txn_1',
    'A part of it': 'sandbox simulate reverse txn_1 --amount 5',
  },
});

export const simulateExpire = command({
  path: 'sandbox simulate expire',
  summary: 'Expire an authorization or a 3DS challenge now',
  about: 'Only this one expires; the clock does not move. sandbox clock advance moves the clock for all of them.',
  operation: 'simulate.expire',
  args: { pending: argument(takes.text('Authorization or challenge.', { names: 'pending' })) },
  examples: {
    'Give a hold back': 'sandbox simulate expire txn_1',
    'Let a code run out': 'sandbox simulate expire tds_1',
  },
  run: (ctx, { pending }) =>
    // Ids of the sandbox say what they are.
    pending.startsWith('tds_')
      ? runAdmin(ctx, 'simulate.challenge-expire', { challenge_id: pending })
      : runAdmin(ctx, 'simulate.expire', { authorization_id: pending }),
  show: showSimulated,
});

export const simulateRefund = command({
  path: 'sandbox simulate refund',
  summary: 'Simulate a refund, with or without a purchase before it',
  about: 'With --card instead of an authorization the refund belongs to no purchase and can have any amount.',
  operation: 'simulate.refund',
  args: { authorization: optionalArgument(takes.text('Authorization.', { names: 'transaction' })) },
  flags: {
    amount: 'body.amount',
    card: option(takes.text('Card that gets the money, without a purchase before it.', { names: 'card' })),
    merchant: option(takes.text('Merchant name, with --card.')),
  },
  examples: {
    'Two dollars of a purchase': 'sandbox simulate refund txn_1 --amount 2',
    'Without a purchase': 'sandbox simulate refund --card card_1 --amount 5',
  },
  run(ctx, { authorization, amount, card, merchant }) {
    if (authorization !== undefined && card === undefined && merchant === undefined) {
      return runAdmin(ctx, 'simulate.refund', { authorization_id: authorization, amount });
    }
    if (card === undefined || authorization !== undefined) {
      throw usage('sandbox simulate refund needs an authorization or --card, not both');
    }
    if (amount === undefined) throw usage('sandbox simulate refund --card needs --amount <usd>');
    return runAdmin(ctx, 'simulate.unlinked-refund', { card_id: card, amount, merchant });
  },
  show: showSimulated,
});

export const simulateForcePost = simulate('force-post', {
  about:
    'It is never declined. The balance can fall below 0; on a terminated card the amount is taken from the wallet.',
  examples: {
    'A toll road': 'sandbox simulate force-post --card card_1 --amount 12 --mcc 4784',
    'More than the card holds': 'sandbox simulate force-post --card card_1 --amount 200 --merchant "Toll road"',
  },
});

export const simulateChallenge = simulate('challenge', {
  examples: {
    'For $59': 'sandbox simulate challenge --card card_1 --amount 59 --merchant "Acme Ltd"',
    'Its id, for the next command': 'sandbox simulate challenge --card card_1 --amount 12.50 -q',
  },
});

export const simulateAnswer = simulate('answer', {
  summary: 'Answer a 3DS challenge as the card holder',
  named: { answer: null, otp: null },
  flags: {
    right: option(takes.flag('With the right code.'), { conflicts: ['wrong', 'code'] }),
    wrong: option(takes.flag('With a wrong code; the third one ends the challenge.'), { conflicts: ['code'] }),
    code: option(takes.text('With this code, as 3ds list shows it.')),
  },
  examples: {
    Rightly: 'sandbox simulate answer tds_1 --right',
    'With what was read': 'sandbox simulate answer tds_1 --code 614729',
  },
  check({ right, wrong, code }) {
    if (!right && !wrong && code === undefined)
      throw usage('sandbox simulate answer needs one of --right, --wrong and --code');
    return code === undefined ? { answer: right ? 'right' : 'wrong' } : { otp: code };
  },
});

export const simulateCancel = simulate('cancel', {
  examples: { 'No code is typed': 'sandbox simulate cancel tds_1' },
});

export const simulateDeposit = simulate('deposit', {
  summary: 'Simulate a crypto deposit; it counts once it is confirmed',
  about:
    'A confirmation is added with every block on the clock of the sandbox, unless you give --confirmations manual.',
  examples: {
    '$500 in USDT': 'sandbox simulate deposit --currency usdt --amount 500',
    'A hundredth of a bitcoin': 'sandbox simulate deposit --currency btc --crypto-amount 0.01',
  },
});

export const simulateConfirm = command({
  path: 'sandbox simulate confirm',
  summary: 'Confirm a pending deposit and credit it to the wallet',
  operation: 'simulate.confirm',
  args: { deposit: argument(takes.text('Deposit; the whole id.')) },
  flags: {
    blocks: option(takes.integer('Add only this many confirmations; all by default.', { min: 1, max: 1000 })),
  },
  examples: {
    'Credit it': 'sandbox simulate confirm dep_1',
    'One block': 'sandbox simulate confirm dep_1 --blocks 1',
  },
  run: (ctx, { deposit, blocks }) =>
    blocks === undefined
      ? runAdmin(ctx, 'simulate.confirm', { deposit_id: deposit })
      : runAdmin(ctx, 'simulate.confirmations', { deposit_id: deposit, add: blocks }),
  show: showSimulated,
});

export const simulateFail = simulate('fail', {
  examples: { 'It was dropped from the chain': 'sandbox simulate fail dep_1' },
});
