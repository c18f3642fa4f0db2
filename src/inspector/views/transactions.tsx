/** Purchases and what became of them, challenges, deposits: as lists, and one of each with what may be done to it. */
import { addressOf } from '../address.ts';
import { RowForm } from '../form.tsx';
import { Detail, type DetailOf, type ListOf, ListView, Rows, type TableOf } from '../list.tsx';
import { Badge, CardLink, type Fact, Id, money, moved, Name, Said, SameCommand, Time, Waiting } from '../parts.tsx';
import { type Told, useAct, useCanChange, useRow } from '../session.ts';
import { RevealCode } from './cards.tsx';

type Transaction = Told<'transactions'>;

const KINDS: Readonly<Record<string, string>> = {
  authorization: 'purchase',
  settlement: 'settlement',
  refund: 'refund',
  decline: 'declined purchase',
};

/** Of a decline its reason. */
const kindOf = ({ type, decline_reason: reason }: Transaction) =>
  reason === null ? (KINDS[type] ?? type) : `declined: ${reason.replaceAll('_', ' ')}`;

export const TRANSACTIONS: ListOf<Transaction> = {
  row: 'transactions',
  caption: 'Transactions, newest first',
  keyOf: ({ id }) => id,
  href: ({ id }) => addressOf('transactions', id),
  columns: [
    {
      title: 'Amount',
      shows: ({ id, amount }) => (
        <a href={addressOf('transactions', id)} title={id}>
          {money(amount)}
        </a>
      ),
    },
    { title: 'Card', shows: ({ card_id: id, last4 }) => <CardLink id={id} last4={last4} /> },
    { title: 'Status', shows: ({ status }) => <Badge word={status} /> },
    { title: 'Merchant', shows: ({ merchant }) => <Said text={merchant} />, from: 'm' },
    { title: 'Kind', shows: kindOf, from: 'l' },
    { title: 'Time (UTC)', shows: ({ created_at: at }) => <Time iso={at} isInTable />, under: true },
  ],
  filters: [
    { name: 'q', label: 'Search', placeholder: 'merchant, last four, amount, id', search: true },
    { name: 'type', label: 'Kind' },
    { name: 'status', label: 'Status' },
    { name: 'card_id', label: 'Card', isSetByLink: true },
  ],
  empty: (
    <p>
      No transaction yet. Your code makes a card, and then you <a href={addressOf('simulate')}>simulate a purchase</a>.
    </p>
  ),
};

export const Transactions = () => <ListView view="transactions" title="Transactions" list={TRANSACTIONS} />;

type ChainEntry = Told<'transactions.show'>['chain'][number];

type WholeTransaction = Told<'transactions.show'>;

const STEPS: Readonly<Record<string, string>> = {
  authorize: 'Authorized',
  increment: 'Raised',
  settle: 'Settled',
  release: 'Hold given back',
  refund: 'Refunded',
};

const CHAIN: TableOf<ChainEntry> = {
  caption: 'What became of the purchase, oldest first',
  keyOf: ({ id }) => String(id),
  columns: [
    { title: 'Step', shows: ({ kind }) => STEPS[kind] ?? <Name name={kind} /> },
    { title: 'Card', shows: ({ card }) => moved(card), number: true },
    { title: 'Hold', shows: ({ hold }) => moved(hold), number: true },
    { title: 'Card after', shows: ({ card_after }) => money(card_after), number: true, from: 'm' },
    { title: 'Hold after', shows: ({ hold_after }) => money(hold_after), number: true, from: 'm' },
    {
      title: 'Record',
      shows: ({ ref, id }) => (
        <span title={`entry ${id}`}>
          <Id id={ref} />
        </span>
      ),
      from: 'l',
    },
    { title: 'Time (UTC)', shows: ({ at }) => <Time iso={at} isInTable />, under: true },
  ],
  empty: 'It moved no money.',
};

/** What may happen to a purchase next, by its state. */
const NEXT: Readonly<Record<string, readonly (readonly [row: string, label: string])[]>> = {
  pending: [
    ['simulate.settle', 'Settle'],
    ['simulate.increment', 'Raise'],
    ['simulate.reverse', 'Reverse'],
    ['simulate.expire', 'Let it expire'],
  ],
  settled: [['simulate.refund', 'Refund']],
};

const TRANSACTION: DetailOf<WholeTransaction> = {
  row: 'transactions.show',
  name: 'Transaction',
  view: 'transactions',
  title: ({ amount, merchant }) => `${money(amount)} at ${merchant}`,
  state: ({ status }) => <Badge word={status} />,
  lead: ({ id, type, card_id: card, last4, created_at: at }) => (
    <>
      {`A ${KINDS[type] ?? type} on card `}
      <CardLink id={card} last4={last4} />, <Time iso={at} />
      <Checks id={id} />
    </>
  ),
  facts: found => [
    ...(found.type === 'decline' ? [] : sumsOf(found)),
    ['Category (MCC)', found.mcc],
    ['Country', <Said text={found.merchant_country} />],
    ['Currency', found.currency],
    ['Belongs to the purchase', found.authorization_id && <Id id={found.authorization_id} />],
    ['Transaction', <Id id={found.id} />],
  ],
  actions: ({ card_id }) => <a href={addressOf('transactions', undefined, { card_id })}>All of this card</a>,
  rest: found => (
    <>
      <h2>What became of it</h2>
      <Rows list={CHAIN} items={found.chain} />
      {found.type === 'authorization' &&
        NEXT[found.status]?.map(([row, label]) => (
          <details key={row}>
            <summary>{label}</summary>
            <RowForm row={row} fixed={{ authorization_id: found.id }} label={label} />
          </details>
        ))}
    </>
  ),
};

const sumsOf = ({ held, settled, released, refunded }: WholeTransaction): readonly Fact[] => [
  ['Still on hold', money(held)],
  ['Settled', money(settled)],
  ['Given back', money(released)],
  ['Refunded', money(refunded)],
];

export const TransactionView = ({ id }: { readonly id: string }) => (
  <Detail of={TRANSACTION} input={{ transaction_id: id }} />
);

// The checks of one purchase in their order, each with the two values that it compared.

type Why = Told<'transactions.why'>;

type Check = Why['checks'][number];

const RESULTS: Readonly<Record<string, string>> = { holds: 'passed', fails: 'failed', not_asked: 'not reached' };

const CHECKS: TableOf<Check> = {
  caption: 'Checks in the order in which they are made',
  keyOf: ({ check }) => check,
  columns: [
    { title: 'Declines for', shows: ({ check }) => <Name name={check} /> },
    {
      title: 'Result',
      shows: ({ result }) => (
        <Badge word={RESULTS[result] ?? result} kind={result === 'fails' ? 'bad' : result === 'holds' ? 'good' : ''} />
      ),
    },
    {
      title: 'Compared',
      shows: ({ left, right }) => left !== null && <Said text={`${left} against ${right ?? ''}`} />,
    },
  ],
  empty: 'No check was made.',
};

function Checks({ id }: { readonly id: string }) {
  const input = { transaction_id: id };
  const { data, error } = useRow<Why>('transactions.why', input);
  if (data === undefined) return <Waiting error={error} />;
  return (
    <section aria-labelledby="why">
      <h2 id="why">{data.outcome === 'declined' ? 'Why it was declined' : 'Why it was let through'}</h2>
      <p class={data.outcome === 'declined' ? 'problem' : ''}>{inWords(data)}</p>
      <details>
        <summary>{`All ${data.checks.length} checks`}</summary>
        <Rows list={CHECKS} items={data.checks} />
      </details>
      <SameCommand row="transactions.why" input={input} />
    </section>
  );
}

function inWords({ outcome, decline_reason: reason, checks }: Why): string {
  if (outcome === 'approved') return 'Approved: every check held.';
  if (outcome === 'posted') return 'Posted without asking: settlements and refunds are never declined.';
  const failed = checks.find(({ result }) => result === 'fails');
  if (failed === undefined) return `Declined: ${reason}, forced by the simulation; no check was made.`;
  if (failed.left === null) return `Declined: ${reason}. The values it was judged by were not kept.`;
  return `Declined: ${reason}: ${failed.left} against ${failed.right ?? ''}.`;
}

// Challenges, never with their code but behind a step.

type Challenge = Told<'challenges'>;

const CHALLENGES: ListOf<Challenge> = {
  row: 'challenges',
  caption: '3DS challenges, newest first',
  keyOf: ({ id }) => id,
  href: ({ id }) => addressOf('challenges', id),
  columns: [
    {
      title: 'Amount',
      shows: ({ id, amount }) => (
        <a href={addressOf('challenges', id)} title={id}>
          {money(amount)}
        </a>
      ),
    },
    { title: 'Card', shows: ({ card_id: id, last4 }) => <CardLink id={id} last4={last4} /> },
    { title: 'Status', shows: ({ status }) => <Badge word={status} /> },
    { title: 'Merchant', shows: ({ merchant }) => <Said text={merchant} />, from: 'm' },
    { title: 'Wrong codes', shows: ({ attempts }) => attempts, number: true, from: 'l' },
    { title: 'Opened (UTC)', shows: ({ created_at: at }) => <Time iso={at} isInTable />, under: true },
    { title: 'Ends (UTC)', shows: ({ expires_at: at }) => <Time iso={at} isInTable />, from: 'l' },
  ],
  filters: [
    { name: 'q', label: 'Search', placeholder: 'merchant, last four, amount, id', search: true },
    { name: 'status', label: 'Status' },
    { name: 'card_id', label: 'Card', isSetByLink: true },
  ],
  empty: (
    <p>
      No challenge yet. <a href={addressOf('simulate', 'simulate.challenge')}>Open one</a>, as a shop that asks for a
      code.
    </p>
  ),
};

export const Challenges = () => <ListView view="challenges" title="3DS challenges" list={CHALLENGES} />;

const CHALLENGE: DetailOf<Challenge> = {
  row: 'challenges',
  name: 'Challenge',
  view: 'challenges',
  title: ({ amount, merchant }) => `${money(amount)} at ${merchant}`,
  state: ({ status }) => <Badge word={status} />,
  lead: ({ card_id: card, last4, created_at: at }) => (
    <>
      A 3DS challenge on card <CardLink id={card} last4={last4} />, <Time iso={at} />
    </>
  ),
  facts: ({ id, expires_at: until, attempts, status }) => [
    ['Code is good until', <Time iso={until} />],
    ['Wrong codes so far', attempts],
    ['Code', status === 'pending' ? <RevealCode id={id} /> : 'none any more'],
    ['Challenge', <Id id={id} />],
  ],
  rest: ({ id: challenge_id, status }) =>
    status === 'pending' && (
      <>
        <h2>Answer it</h2>
        <RowForm row="simulate.answer" fixed={{ challenge_id }} begins={{ answer: 'right' }} label="Answer" />
        <details>
          <summary>Cancel it, or let it expire</summary>
          <RowForm row="simulate.cancel" fixed={{ challenge_id }} label="Cancel as the card holder" />
          <RowForm row="simulate.challenge-expire" fixed={{ challenge_id }} label="Let it expire" />
        </details>
      </>
    ),
};

export const ChallengeView = ({ id }: { readonly id: string }) => <Detail of={CHALLENGE} input={{ q: id }} />;

type Deposit = Told<'deposits'>;

const coins = ({ crypto_amount: amount, currency }: Deposit) => `${amount} ${currency.toUpperCase()}`;
const confirmed = ({ confirmations, required_confirmations: needed }: Deposit) => `${confirmations} of ${needed}`;

const DEPOSITS: ListOf<Deposit> = {
  row: 'deposits',
  caption: 'Deposits, newest first',
  keyOf: ({ id }) => id,
  href: ({ id }) => addressOf('deposits', id),
  columns: [
    {
      title: 'Amount',
      shows: ({ id, amount }) => (
        <a href={addressOf('deposits', id)} title={id}>
          {money(amount)}
        </a>
      ),
    },
    { title: 'Status', shows: ({ status }) => <Badge word={status} /> },
    { title: 'In coins', shows: coins, from: 'm' },
    { title: 'Network', shows: ({ network }) => network, from: 'l' },
    { title: 'Confirmations', shows: confirmed, from: 'm' },
    { title: 'Seen (UTC)', shows: ({ created_at: at }) => <Time iso={at} isInTable />, under: true },
    { title: 'Next step', shows: deposit => <Confirm deposit={deposit} /> },
  ],
  filters: [
    { name: 'q', label: 'Search', placeholder: 'id, hash', search: true },
    { name: 'status', label: 'Status' },
    { name: 'currency', label: 'Coin' },
  ],
  empty: (
    <p>
      No deposit yet. <a href={addressOf('simulate', 'simulate.deposit')}>Simulate one</a> to fill the wallet.
    </p>
  ),
};

/** Its row follows by itself. */
function Confirm({ deposit: { id, status } }: { readonly deposit: Deposit }) {
  const canChange = useCanChange();
  const { act, problem } = useAct('simulate.confirm', { deposit_id: id });
  if (status !== 'pending') return null;
  return (
    <>
      <button type="button" class="small" disabled={!canChange} onClick={act} aria-label={`Confirm ${id}`}>
        Confirm
      </button>
      {problem !== '' && <Said text={problem} />}
    </>
  );
}

export const Deposits = () => <ListView view="deposits" title="Deposits" list={DEPOSITS} />;

const DEPOSIT: DetailOf<Deposit> = {
  row: 'deposits',
  name: 'Deposit',
  view: 'deposits',
  title: ({ amount, currency }) => `${money(amount)} in ${currency.toUpperCase()}`,
  state: ({ status }) => <Badge word={status} />,
  lead: deposit => (
    <>
      {`A deposit of ${coins(deposit)} on ${deposit.network}, `}
      <Time iso={deposit.created_at} />
    </>
  ),
  facts: deposit => [
    ['Confirmations', confirmed(deposit)],
    ['Confirmed', deposit.confirmed_at === null ? 'not yet' : <Time iso={deposit.confirmed_at} />],
    ['Hash on the chain', <Id id={deposit.tx_hash} />],
    ['Deposit', <Id id={deposit.id} />],
  ],
  rest: ({ id: deposit_id, status }) =>
    status === 'pending' && (
      <>
        <RowForm row="simulate.confirm" fixed={{ deposit_id }} label="Confirm" />
        <details>
          <summary>Count some blocks, or let it fail</summary>
          <RowForm row="simulate.confirmations" fixed={{ deposit_id }} label="Add confirmations" />
          <RowForm row="simulate.fail" fixed={{ deposit_id }} label="Let it fail" />
        </details>
      </>
    ),
};

export const DepositView = ({ id }: { readonly id: string }) => <Detail of={DEPOSIT} input={{ q: id }} />;
