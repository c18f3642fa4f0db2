/** All cards with their search; and one card: facts and limits, its ledger, its life, what the world outside can do to it. */
import { addressOf, refine, useAddress } from '../address.ts';
import { useLayoutEffect, useState } from '../elements.ts';
import { RowForm } from '../form.tsx';
import { Asked, Detail, type DetailOf, type ListOf, ListView, Rows, type TableOf } from '../list.tsx';
import { Badge, CardLink, count, Facts, Id, money, moved, Said, SameCommand, shortTime, Time } from '../parts.tsx';
import { callRow, type Told, useCanChange } from '../session.ts';

type FoundCard = Told<'cards'>;

const CARDS: ListOf<FoundCard> = {
  row: 'cards',
  caption: 'Cards, newest first',
  keyOf: ({ id }) => id,
  href: ({ id }) => addressOf('cards', id),
  columns: [
    { title: 'Card', shows: ({ id, last4 }) => <CardLink id={id} last4={last4} /> },
    { title: 'Status', shows: ({ status }) => <Badge word={status} /> },
    { title: 'Available', shows: ({ balance }) => money(balance), number: true },
    { title: 'On hold', shows: ({ hold }) => money(hold), number: true, from: 'l' },
    { title: 'Label', shows: ({ label }) => <Said text={label} />, from: 'm' },
    { title: 'Network', shows: ({ network, bin_id: bin }) => <span title={bin}>{network}</span>, from: 'l' },
    { title: 'Created (UTC)', shows: ({ created_at: at }) => <Time iso={at} isInTable />, under: true },
  ],
  filters: [
    { name: 'q', label: 'Search', placeholder: 'label, last four, id, key=value', search: true },
    { name: 'status', label: 'Status' },
    { name: 'bin', label: 'BIN', isSetByLink: true },
  ],
  empty: (
    <p>
      No card yet. An empty wallet is filled by <a href={addressOf('simulate', 'simulate.deposit')}>a deposit</a>; then
      your code makes a card, or you: <code>cardwright --sandbox cards create --bin auto --amount 25</code>
    </p>
  ),
};

export const Cards = () => <ListView view="cards" title="Cards" list={CARDS} />;

type Entry = WholeCard['entries'][number];

type WholeCard = Told<'cards.show'>;

const CARD: DetailOf<WholeCard> = {
  row: 'cards.show',
  name: 'Card',
  view: 'cards',
  title: ({ last4, balance }) => `Card •••• ${last4}: ${money(balance)}`,
  state: ({ status }) => <Badge word={status} />,
  lead: ({ id: card_id, label }) => (
    <>
      <Said text={label === '' ? 'No label' : label} />
      <p class="links">
        <a href={addressOf('transactions', undefined, { card_id })}>Transactions</a>
        <a href={addressOf('challenges', undefined, { card_id })}>Challenges</a>
        <a href={addressOf('requests', undefined, { card_id })}>Requests</a>
        <a href={addressOf('scenarios', undefined, { card: card_id })}>Repeat as a scenario</a>
      </p>
    </>
  ),
  facts: card => [
    ['On hold', money(card.hold)],
    [
      'Used this month',
      <span>
        {`${money(card.used_this_month)} of ${money(card.spending_limit)} `}
        <meter min={0} max={card.spending_limit} value={card.used_this_month} aria-label="Used of the monthly limit" />
      </span>,
    ],
    ['Limits of the BIN', `${money(card.max_transaction)} a purchase, ${money(card.max_monthly)} a month`],
    ['Freezes by itself', card.auto_freeze_at === null ? 'never' : `below ${money(card.auto_freeze_at)}`],
    ['Categories', card.allowed_categories.length === 0 ? 'all' : <Said text={card.allowed_categories.join(', ')} />],
    ['Metadata', <Said text={tagsOf(card)} />],
    ['Network', card.network],
    [
      'BIN',
      <a href={addressOf('cards', undefined, { bin: card.bin_id })}>
        <code class="id">{card.bin_id}</code>
      </a>,
    ],
    ['Created', <Time iso={card.created_at} />],
    ['Expires', <Time iso={card.expires_at} />],
    ['Card', <Id id={card.id} />],
  ],
  actions: ({ id }) => <RevealCard id={id} />,
  rest: card => (
    <div class="columns">
      <div>
        <Simulations id={card.id} />
        <Accounts card={card} />
      </div>
      <Life id={card.id} />
    </div>
  ),
};

const tagsOf = ({ metadata }: WholeCard) =>
  Object.entries(metadata)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

export const Card = ({ id }: { readonly id: string }) => <Detail of={CARD} input={{ card_id: id }} />;

const times = (number: number) => (number === 1 ? '' : `${count(number)} × `);

const ENTRIES: TableOf<Entry> = {
  caption: 'Entries of the ledger, newest first',
  keyOf: ({ id }) => String(id),
  foldedBy: ({ kind, card, hold }) => `${kind} ${card} ${hold}`,
  columns: [
    {
      title: 'What',
      shows: ({ at, ref, kind, id }, of) => (
        <span title={`entry ${id}, ${shortTime(at)}, ${ref}`}>{times(of) + kind}</span>
      ),
    },
    { title: 'Card', shows: ({ card }) => moved(card), number: true },
    { title: 'Hold', shows: ({ hold }) => moved(hold), number: true },
    { title: 'Card after', shows: entry => money(entry.card_after), number: true },
    { title: 'Hold after', shows: entry => money(entry.hold_after), number: true, from: 'm' },
  ],
  empty: 'No entry yet.',
};

function Accounts({ card }: { readonly card: WholeCard }) {
  const earlier = card.entries_total - card.entries.length;
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">Ledger of the card and its hold</h2>
      <Rows list={ENTRIES} items={card.entries} />
      <p class={card.agrees ? 'quiet' : 'problem'}>
        {card.agrees
          ? `It adds up: ${money(card.balance)} and ${money(card.hold)} on hold are the sums of all entries.`
          : `It does not add up: ${money(card.balance)} and ${money(card.hold)} on hold are not the sums of the entries.`}
      </p>
      {earlier > 0 && <p class="quiet">{`${count(earlier)} earlier entries`}</p>}
    </section>
  );
}

type Item = Told<'cards.timeline'>;

const KINDS = ['request', 'transaction', 'entry', 'challenge', 'event', 'delivery'];

const LIFE: ListOf<Item> = {
  row: 'cards.timeline',
  caption: 'What happened to the card, newest first',
  keyOf: ({ kind, id }) => `${kind} ${id}`,
  foldedBy: ({ kind, text }) => `${kind} ${text}`,
  columns: [
    {
      title: 'What',
      shows: (item, of) => (
        <span>
          <b title={item.id}>{`${times(of)}${item.kind}${item.number === null ? '' : ` #${count(item.number)}`}`}</b>{' '}
          <Said text={item.text} /> <ItemLink item={item} />
        </span>
      ),
    },
    { title: 'Time (UTC)', shows: ({ at }) => <Time iso={at} isInTable />, under: true },
  ],
  empty: 'Nothing of these kinds happened to it.',
};

function Life({ id }: { readonly id: string }) {
  const { filters } = useAddress();
  const hidden = (filters['without'] ?? '').split(',').filter(kind => kind !== '');
  const kinds = KINDS.filter(kind => !hidden.includes(kind)).join(',');
  const page = Number(filters['page'] ?? '1');
  const input = { card_id: id, ...(hidden.length > 0 && { kinds }), ...(page > 1 && { page }) };
  const change = (without: readonly string[], to = 1) =>
    refine(addressOf('cards', id, { without: without.join(','), page: to === 1 ? '' : String(to) }));
  const toggle = (kind: string) =>
    change(hidden.includes(kind) ? hidden.filter(each => each !== kind) : [...hidden, kind]);
  return (
    <section aria-labelledby="life">
      <h2 id="life">Timeline</h2>
      <fieldset class="choices">
        <legend class="unseen">Kinds that are shown</legend>
        {KINDS.map(kind => (
          <label>
            <input type="checkbox" checked={!hidden.includes(kind)} onChange={() => toggle(kind)} /> {kind}
          </label>
        ))}
      </fieldset>
      <Asked list={LIFE} input={input} goTo={to => change(hidden, to)} />
      <SameCommand row="cards.timeline" input={input} />
    </section>
  );
}

function ItemLink({ item: { kind, id, text } }: { readonly item: Item }) {
  if (kind === 'transaction')
    return <a href={addressOf('transactions', id)}>{text.startsWith('decline') ? 'Why?' : 'Show'}</a>;
  if (kind === 'request' || kind === 'delivery')
    return <a href={addressOf(kind === 'request' ? 'requests' : 'webhooks', id)}>Show</a>;
  if (kind === 'challenge')
    return <a href={addressOf('challenges', id)}>{text.includes('pending') ? 'Answer' : 'Show'}</a>;
  return null;
}

const MORE: readonly (readonly [row: string, label: string])[] = [
  ['simulate.challenge', 'A 3DS challenge'],
  ['simulate.force-post', 'A settlement without a purchase'],
  ['simulate.unlinked-refund', 'A refund without a purchase'],
];

/** The purchase is the one that is needed most; `p` goes there. */
function Simulations({ id }: { readonly id: string }) {
  const [made, make] = useState<string | undefined>(undefined);
  return (
    <section aria-labelledby="purchase">
      <h2 id="purchase">Simulate a purchase</h2>
      <RowForm
        row="simulate.authorize"
        fixed={{ card_id: id }}
        label="Purchase"
        done={answer => make(String(answer['transaction_id'] ?? ''))}
      />
      {made !== undefined && made !== '' && (
        <a href={addressOf('transactions', made)}>Why: the checks of this purchase</a>
      )}
      <p>
        {MORE.map(([row, label]) => (
          <a class="spaced" href={addressOf('simulate', row, { card_id: id })}>
            {label}
          </a>
        ))}
      </p>
    </section>
  );
}

// What is secret, for half a minute, to whoever confirms it; gone at once when nobody sees the page.

/** ms that it stands in the document. */
const SHOWN_FOR = 30_000;

/** A value that is forgotten by itself. */
function useSecret<Value>(): readonly [Value | undefined, (value: Value | undefined) => void] {
  const [value, set] = useState<Value | undefined>(undefined);
  // A secret never stands there before it can be forgotten.
  useLayoutEffect(() => {
    if (value === undefined) return undefined;
    const forget = () => set(undefined);
    const timer = setTimeout(forget, SHOWN_FOR);
    document.addEventListener('visibilitychange', forget);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', forget);
    };
  }, [value]);
  return [value, set];
}

interface Details {
  readonly number: string;
  readonly cvv: string;
  readonly exp_month: number;
  readonly exp_year: number;
}

function RevealCard({ id }: { readonly id: string }) {
  const [details, show] = useSecret<Details>();
  const [asks, ask] = useState(false);
  const canChange = useCanChange();
  if (details !== undefined) {
    const { number, cvv, exp_month: month, exp_year: year } = details;
    return (
      <div>
        <Facts
          facts={[
            ['Card number', <code>{number}</code>],
            ['Security code', <code>{cvv}</code>],
            ['Good until', `${String(month).padStart(2, '0')}/${year}`],
          ]}
        />
        <button type="button" class="small" onClick={() => show(undefined)}>
          Hide
        </button>
      </div>
    );
  }
  if (!asks) {
    return (
      <button type="button" class="small" disabled={!canChange} onClick={() => ask(true)}>
        Reveal
      </button>
    );
  }
  return (
    <RowForm
      row="cards.reveal"
      fixed={{ card_id: id }}
      label="Reveal for 30 s"
      done={answer => {
        ask(false);
        show(answer as unknown as Details);
      }}
      show={() => null}
    />
  );
}

/** The one-time code of a challenge that waits. */
export function RevealCode({ id }: { readonly id: string }) {
  const [told, tell] = useSecret<string>();
  const canChange = useCanChange();
  const reveal = () =>
    callRow<{ readonly otp: string }>('challenges.reveal', { challenge_id: id }).then(
      ({ otp }) => tell(otp),
      (error: unknown) => tell((error as Error).message),
    );
  if (told !== undefined) return <code>{told}</code>;
  return (
    <button type="button" class="small" disabled={!canChange} onClick={() => void reveal()}>
      Show code
    </button>
  );
}
