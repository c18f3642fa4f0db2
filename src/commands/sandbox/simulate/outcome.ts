/** What every simulation shows: what became of it, the ids it made, the balances after. */
import type { Shown } from '../../../cli/shown.ts';
import type { ResultOf } from '../../../contract/operation.ts';
import type { AdminOperations } from '../../../contract/sandbox/admin-calls.ts';
import { shellWord } from '../../../core/shell-quote.ts';
import type { Column } from '../../../terminal/view.ts';
import { money } from '../../cards/columns.ts';

export type Simulated = ResultOf<AdminOperations['simulate.authorize']>;

const COLUMNS: readonly Column[] = [
  { field: 'outcome', title: 'OUTCOME', kind: 'word', priority: 1 },
  { field: 'transaction_id', title: 'TRANSACTION', kind: 'id', priority: 2 },
  { field: 'authorization_id', title: 'AUTHORIZATION', kind: 'id', priority: 3 },
  { field: 'challenge_id', title: 'CHALLENGE', kind: 'id', priority: 3 },
  { field: 'deposit_id', title: 'DEPOSIT', kind: 'id', priority: 3 },
  { field: 'card_id', title: 'CARD', kind: 'id', priority: 4 },
  { field: 'card_status', title: 'STATUS', kind: 'word', priority: 4 },
  { field: 'card_balance', title: 'CARD BALANCE', kind: 'money', priority: 4 },
  { field: 'wallet_balance', title: 'WALLET', kind: 'money', priority: 4 },
  { field: 'decline_reason', title: 'REASON', kind: 'word', priority: 2 },
];

const IDS = ['authorization_id', 'transaction_id', 'challenge_id', 'deposit_id'] as const;

/** The id that the next step of a story needs: the authorization before its own record. */
export function showSimulated(done: Simulated): Shown {
  const idField = IDS.find(name => typeof done[name] === 'string') ?? 'transaction_id';
  const why = done.decline_reason ? `: ${done.decline_reason}` : '';
  const pairs: [string, string][] = [
    ...IDS.flatMap((name): [string, string][] => (done[name] ? [[name.replace('_id', ''), String(done[name])]] : [])),
    ...(done.card_id
      ? ([['card', `${done.card_id}, ${done.card_status ?? '-'}, ${money(done.card_balance)}`]] as [string, string][])
      : []),
    ...confirmed(done),
    ['wallet', money(done.wallet_balance)],
    ['events', (done.events ?? []).join(', ') || 'none'],
  ];
  return {
    noun: 'simulation',
    columns: COLUMNS,
    idField,
    ...(done.outcome === 'declined' &&
      done.transaction_id && { notes: [`Why: cardwright sandbox why ${shellWord(done.transaction_id)}`] }),
    blocks: [
      { kind: 'line', text: `${done.outcome}${why}` },
      { kind: 'pairs', pairs },
    ],
  };
}

function confirmed({ confirmations, required_confirmations: needed }: Simulated): [string, string][] {
  return typeof confirmations === 'number' ? [['confirmations', `${confirmations} of ${needed ?? '-'}`]] : [];
}
