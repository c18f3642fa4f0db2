/** All cards with their search; and one card: facts and limits, its ledger, its life, what the world outside can do to it. */
import { addressOf, addressOfId } from '../address.ts';
import { useState } from '../elements.ts';
import { RowForm } from '../form.tsx';
import { filter, List, type ListOf, Rows, type TableOf, type ViewOf } from '../list.tsx';
import { count, type Field, masked, money, Part, SaidInMoney, shortTime, show, wordsOf } from '../parts.tsx';
import type { Told } from '../session.ts';

type WholeCard = Told<'cards.show'>;

export const CARDS: ViewOf<Told<'cards'>, WholeCard> = {
  view: 'cards',
  title: 'Cards',
  list: {
    row: 'cards',
    caption: 'Cards, newest first',
    opens: ({ id }) => addressOf('cards', id),
    fields: [
      show.field('Card', ({ last4 }) => masked(last4)),
      show.badge('Status', card => card.status),
      show.amount('Available', card => card.balance),
      show.amount('On hold', card => card.hold, 'l'),
      show.text('Label', card => card.label, 'under'),
      show.field('Network', ({ network, bin_id: bin }) => <span title={bin}>{network}</span>, 'l'),
      show.time('Created', card => card.created_at),
    ],
    filters: [
      filter.search('label, last four, id, key=value'),
      filter.choice('status', 'Status'),
      filter.byLink('bin', 'BIN'),
    ],
    empty: 'No card yet. The wallet is filled by a deposit; then your code makes a card, or you.',
    next: ['Simulate a deposit', addressOf('simulate', 'simulate.deposit')],
    command: 'cardwright --sandbox cards create --bin auto --amount 25',
  },
  one: {
    row: 'cards.show',
    by: 'card_id',
    name: 'Card',
    title: ({ last4, balance }) => `Card ${masked(last4)}: ${money(balance)}`,
    lead: ({ id: card_id }) => (
      <p class="row">
        <a href={addressOf('transactions', { card_id })}>Transactions</a>
        <a href={addressOf('challenges', { card_id })}>Challenges</a>
        <a href={addressOf('requests', { card_id })}>Requests</a>
        <a href={addressOf('deposits')}>Deposits</a>
      </p>
    ),
    facts: [
      show.field('Used this month', ({ used_this_month: used, spending_limit: limit }) => (
        <>
          {`${money(used)} of ${money(limit)} `}
          <meter min={0} max={limit} value={used} aria-label="Used of the monthly limit" />
        </>
      )),
      show.text('Limits of the BIN', of => `${money(of.max_transaction)} a purchase, ${money(of.max_monthly)} a month`),
      show.text('Freezes by itself', ({ auto_freeze_at: at }) => (at === null ? 'never' : `below ${money(at)}`)),
      show.text('Categories', ({ allowed_categories: some }) => (some.length === 0 ? 'all' : some.join(', '))),
      show.text('Metadata', ({ metadata }) =>
        Object.entries(metadata)
          .map(tag => tag.join('='))
          .join(', '),
      ),
      show.field('BIN', ({ bin_id: bin }) => (
        <a href={addressOf('cards', { bin })}>
          <code>{bin}</code>
        </a>
      )),
      show.time('Expires', card => card.expires_at),
      show.id('Card', card => card.id),
    ],
    rest: card => (
      <>
        <RowForm
          row="cards.reveal"
          folded="Reveal number and security code"
          fixed={{ card_id: card.id }}
          label="Reveal for 30 s"
          isSecret
        />
        <div class="columns">
          <div>
            <Simulations id={card.id} />
            <Ledger card={card} />
          </div>
          <Part title="Timeline">
            <List list={LIFE} view="cards" id={card.id} fixed={{ card_id: card.id }} />
          </Part>
        </div>
      </>
    ),
  },
};

const MORE: readonly (readonly [row: string, label: string])[] = [
  ['simulate.challenge', 'A 3DS challenge'],
  ['simulate.force-post', 'A settlement without a purchase'],
  ['simulate.unlinked-refund', 'A refund without a purchase'],
];

/** The purchase is the one that is needed most; `p` goes there. */
function Simulations({ id: card_id }: { readonly id: string }) {
  const [made, make] = useState<unknown>(undefined);
  return (
    <Part title="Simulate a purchase">
      <RowForm
        row="simulate.authorize"
        fixed={{ card_id }}
        label="Purchase"
        done={answer => make(answer['transaction_id'])}
      />
      {typeof made === 'string' && <a href={addressOf('transactions', made)}>Why: the checks of this purchase</a>}
      <p class="row">
        {MORE.map(([row, label]) => (
          <a href={addressOf('simulate', row, { card_id })}>{label}</a>
        ))}
      </p>
    </Part>
  );
}

const times = (number: number) => (number === 1 ? '' : `${count(number)} × `);

type Entry = WholeCard['entries'][number];

/** What an entry of the ledger did to a card and to its hold. */
export const MOVED: readonly Field<Entry>[] = [
  show.change('Card', entry => entry.card),
  show.change('Hold', entry => entry.hold),
  show.amount('Card after', entry => entry.card_after, 'l'),
  show.amount('Hold after', entry => entry.hold_after, 'l'),
];

const ENTRIES: TableOf<Entry> = {
  caption: 'Entries of the ledger, newest first',
  foldedBy: ({ kind, card, hold }) => `${kind} ${card} ${hold}`,
  fields: [
    show.field('What', ({ at, ref, kind, id }, of) => (
      <span title={`entry ${id}, ${shortTime(at)}, ${ref}`}>{times(of) + wordsOf(kind)}</span>
    )),
    ...MOVED,
  ],
  empty: 'No entry yet.',
};

function Ledger({ card: { entries, entries_total: total, agrees, balance, hold } }: { readonly card: WholeCard }) {
  return (
    <Part title="Ledger of the card and its hold">
      <Rows list={ENTRIES} items={entries} />
      <p class={agrees ? 'quiet' : 'problem'}>
        {agrees ? 'It adds up: ' : 'It does not add up: '}
        {`${money(balance)} and ${money(hold)} on hold are${agrees ? '' : ' not'} the sums of all entries.`}
      </p>
      {total > entries.length && <p class="quiet">{`${count(total - entries.length)} more before these`}</p>}
    </Part>
  );
}

const LIFE: ListOf<Told<'cards.timeline'>> = {
  row: 'cards.timeline',
  caption: 'What happened to the card, newest first',
  foldedBy: ({ kind, text }) => `${kind} ${text}`,
  fields: [
    show.field('What', ({ kind, id, text, number }, of) => {
      const address = addressOfId(id);
      const waits = kind === 'challenge' && text.includes('pending');
      const what = text.startsWith('decline') ? 'Why?' : waits ? 'Answer' : 'Show';
      return (
        <>
          <b title={id}>{`${times(of)}${kind}${number === null ? '' : ` #${count(number)}`}`}</b>{' '}
          <SaidInMoney line={text.replace(/^[a-z]+|(?<=: )[a-z_]+$/g, wordsOf)} />{' '}
          {address !== undefined && <a href={address}>{what}</a>}
        </>
      );
    }),
    show.time('Time', item => item.at),
  ],
  filters: [filter.choice('kinds', 'Kind', ['request', 'transaction', 'entry', 'challenge', 'event', 'delivery'])],
  empty: 'Nothing happened to it yet.',
};
