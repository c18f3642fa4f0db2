/**
 * The tools of `cardwright mcp`: what each takes, and the command line that it is. A tool can do nothing that its command cannot,
 * and goes through the same journal, limits and approvals. Card details, codes, approving and settling are no tools.
 */
import { CARD_STATUSES } from '../../contract/card.ts';
import { must, type Shape } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import * as takes from '../../contract/own-field.ts';
import { TRANSACTION_TYPES } from '../../contract/resources.ts';
import { shapeProblem } from '../../contract/violation.ts';

/** What a client calls a tool with. Its members were checked against the tool. */
export type ToolInput = Readonly<Record<string, string | number>>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly members: Shape;
  /** `spends`: counted against `--max-total`, under an intent. */
  readonly effect: 'read' | 'spends' | 'freezes' | 'sandbox' | 'uses';
  /** A command line, and what it reads. */
  readonly command: (input: ToolInput) => { readonly words: readonly string[]; readonly stdin?: string };
}

const CARD = takes.text('Card id.', { names: 'card' });
const PAGE = takes.integer('From 1.', { min: 1 });
const INTENT = 'Name of the purchase: one purchase, one intent, also when you repeat it.';
const PURCHASE = {
  intent: must(takes.text(INTENT, { maxLength: 128 })),
  amount: must(takes.number('USD, such as 25 or 25.50.', { min: 0.01 })),
  purpose: must(takes.text('What it is for; the approver reads it.', { maxLength: 100 })),
} as const;

/** `--name value` of each that was given. */
function flags(input: ToolInput, names: readonly string[]): readonly string[] {
  return names.flatMap(name => (input[name] === undefined ? [] : [`--${name.replace('_', '-')}=${input[name]}`]));
}

const OF_CARD = 'id,bin_id,network,last4,status,balance,spending_limit,label,auto_freeze_at,created_at,expires_at';
const OF_TRANSACTION = 'id,card_id,type,status,amount,currency,merchant,mcc,authorization_id,decline_reason,created_at';
const OF_SIMULATED = 'outcome,transaction_id,challenge_id,deposit_id,decline_reason,card_balance,wallet_balance';

const TOOLS: readonly Tool[] = [
  {
    name: 'wallet',
    description: 'Balance of the wallet that cards are funded from.',
    members: {},
    effect: 'read',
    command: () => ({ words: ['wallet'] }),
  },
  {
    name: 'cards_list',
    description: 'One page of cards, newest first; page.has_more says whether there are more.',
    members: {
      status: takes.choice(CARD_STATUSES, ''),
      page: PAGE,
      per_page: takes.integer('', LIMITS.pageSize),
    },
    effect: 'read',
    command: input => ({
      words: ['cards', 'list', ...flags(input, ['status', 'page', 'per_page']), `--fields=${OF_CARD}`],
    }),
  },
  {
    name: 'card_get',
    description: 'One card: status, balance, limits. Never its number.',
    members: { card: must(CARD) },
    effect: 'read',
    command: ({ card }) => ({ words: ['cards', 'get', `--fields=${OF_CARD}`, '--', String(card)] }),
  },
  {
    name: 'transactions_list',
    description: 'One page of transactions, newest first; page says whether there are more.',
    members: {
      card: CARD,
      type: takes.choice(TRANSACTION_TYPES, ''),
      since: takes.text('A day such as 2026-11-01, or 7d.'),
      page: PAGE,
    },
    effect: 'read',
    command: input => ({
      words: ['tx', 'list', ...flags(input, ['card', 'type', 'since', 'page']), `--fields=${OF_TRANSACTION}`],
    }),
  },
  {
    name: 'operation_status',
    description: 'What became of an operation: pending, open, unknown, finished or rejected, and its rows.',
    members: { op: must(takes.text('op_… as a result named it.', { names: 'op' })) },
    effect: 'read',
    command: ({ op }) => ({ words: ['ops', 'show', '--', String(op)] }),
  },
  {
    name: 'card_create',
    description:
      'Issue a card and fund it from the wallet. A result "pending" waits for a person: tell them, and call again with the same intent.',
    members: {
      ...PURCHASE,
      bin: takes.text('BIN id; the best one when left out.'),
      label: takes.text('', { maxLength: LIMITS.labelLength.max }),
    },
    effect: 'spends',
    command: input => ({
      words: ['cards', 'create', ...flags({ bin: 'auto', ...input }, ['bin', 'amount', 'intent', 'purpose', 'label'])],
    }),
  },
  {
    name: 'card_fund',
    description: 'Move money from the wallet to a card. "pending" as with card_create.',
    members: { ...PURCHASE, card: must(CARD) },
    effect: 'spends',
    command: input => ({
      words: ['cards', 'fund', ...flags(input, ['amount', 'intent', 'purpose']), '--', String(input['card'])],
    }),
  },
  {
    name: 'card_freeze',
    description: 'Stop all payments of a card at once. Its balance stays.',
    members: { card: must(CARD) },
    effect: 'freezes',
    command: ({ card }) => ({ words: ['cards', 'freeze', '--', String(card)] }),
  },
];

/** The next change happens, and its answer is lost. */
const LOST_ANSWER = { match: { method: 'POST' }, phase: 'after_commit', action: { kind: 'reset' }, times: 1 };

const SANDBOX: Tool = {
  name: 'sandbox',
  description: 'Try things: what happens to cards in the simulator.',
  members: {
    do: must(takes.choice(['purchase', 'challenge', 'deposit', 'advance', 'lose_next_answer'], '')),
    card: takes.text('Of purchase and challenge.', { names: 'card' }),
    amount: takes.number('USD; of purchase, challenge and deposit.', { min: 0.01 }),
    merchant: takes.text('', { maxLength: 64 }),
    by: takes.text('Of advance, such as 2d.'),
  },
  effect: 'sandbox',
  command(input) {
    const { do: what, by = '1d' } = input;
    const fields = `--fields=${OF_SIMULATED}`;
    if (what === 'advance') return { words: ['sandbox', 'clock', 'advance', `--by=${by}`, '--fields=now,fired'] };
    if (what === 'lose_next_answer')
      return { words: ['sandbox', 'faults', 'add', '--fields=id,does', '-'], stdin: JSON.stringify(LOST_ANSWER) };
    const kind = what === 'purchase' ? 'authorize' : String(what);
    const own = what === 'deposit' ? ['--currency=usdt'] : flags(input, ['card', 'merchant']);
    return { words: ['sandbox', 'simulate', kind, ...own, ...flags(input, ['amount']), fields] };
  },
};

/** `card_use` runs the program that whoever started the server has named; nobody sees what it prints. */
function useOf(program: string): Tool {
  return {
    name: 'card_use',
    description:
      'Run the one program that a person has named, with a card. Runs at each call. Gives its exit code alone.',
    members: { card: must(CARD) },
    effect: 'uses',
    command: ({ card }) => ({ words: ['cards', 'exec', String(card), '--reveal', '--', program] }),
  };
}

export interface ToolWishes {
  readonly readOnly: boolean;
  /** The service is the built-in sandbox. */
  readonly isSandbox: boolean;
  readonly intentPrefix: string;
  readonly program: string | undefined;
}

/** The tools of one server, by their names. */
export function toolsFor({ readOnly, isSandbox, intentPrefix, program }: ToolWishes): ReadonlyMap<string, Tool> {
  const all = [...TOOLS, ...(isSandbox ? [SANDBOX] : []), ...(program === undefined ? [] : [useOf(program)])];
  const offered = all.filter(({ effect }) => !readOnly || effect === 'read');
  const named = intentPrefix === '' ? '' : ` Begins with ${intentPrefix}`;
  return new Map(
    offered.map(tool => {
      const { intent } = tool.members;
      const members = intent === undefined ? {} : { intent: { ...intent, doc: `${INTENT}${named}` } };
      return [tool.name, { ...tool, members: { ...tool.members, ...members } }];
    }),
  );
}

/** An id is never taken for an option or for standard input, and four digits are not looked up: they may end another card, too. */
const ID = /^(?!\d{4}$)[A-Za-z0-9_][A-Za-z0-9_-]*$/;

/** Why the members do not fit the tool; undefined when they do. Their values are read as those of the command line are. */
export function inputFault({ members }: Tool, input: Readonly<Record<string, unknown>>): string | undefined {
  const problem = shapeProblem(members, input);
  if (problem !== undefined) return `${problem.field} ${problem.text}`;
  const odd = Object.keys(input).find(name => members[name]?.names !== undefined && !ID.test(String(input[name])));
  return odd && `${odd} is no whole id`;
}
