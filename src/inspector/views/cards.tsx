/** All cards, newest first, and the search. */
import { addressOf, refine, useAddress } from '../address.ts';
import { useLayoutEffect, useState } from '../elements.ts';
import { RowForm } from '../form.tsx';
import { LongList } from '../long-list.tsx';
import {
  Badge,
  count,
  Facts,
  folded,
  Head,
  Id,
  money,
  type PageFacts,
  Pages,
  Said,
  SameCommand,
  shortTime,
  Table,
  Time,
  useCanChange,
  Waiting,
} from '../parts.tsx';
import { accessOf, callRow, useRow } from '../session.ts';
import { rowOf } from '../tables.ts';

interface CardItem {
  readonly id: string;
  readonly label: string;
  readonly last4: string;
  readonly network: string;
  readonly bin_id: string;
  readonly status: string;
  readonly balance: number;
  readonly hold: number;
  readonly created_at: string;
}

export function Cards() {
  const { filters } = useAddress();
  const { q = '', status = '', bin = '' } = filters;
  const change = (next: Readonly<Record<string, string>>) =>
    refine(addressOf('cards', undefined, { q, status, bin, ...next }));
  const statuses = rowOf('cards').fields.find(({ name }) => name === 'status')?.choices ?? [];
  return (
    <section>
      <Head title="Cards" />
      <form class="filters" onSubmit={event => event.preventDefault()}>
        <label>
          Search{' '}
          <input
            type="search"
            id="search"
            value={q}
            placeholder="label, last four, id, key=value"
            onInput={event => change({ q: event.currentTarget.value })}
          />
        </label>
        <label>
          Status{' '}
          <select value={status} onChange={event => change({ status: event.currentTarget.value })}>
            <option value="">all</option>
            {statuses.map(each => (
              <option value={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          BIN <input value={bin} placeholder="bin_…" onInput={event => change({ bin: event.currentTarget.value })} />
        </label>
      </form>
      <CardRows search={{ q, status, bin }} />
      <SameCommand row="cards" input={{ q, status, bin }} />
    </section>
  );
}

interface Search {
  readonly q: string;
  readonly status: string;
  readonly bin: string;
}

function CardRows({ search }: { readonly search: Search }) {
  const { q, status, bin } = search;
  const empty =
    q + status + bin === '' ? (
      <p>
        No card yet. An empty wallet is filled with{' '}
        <code>cardwright sandbox simulate deposit --currency usdt --amount 500</code>; then your code makes one, or you:{' '}
        <code>cardwright --sandbox cards create --bin auto --amount 25</code>
      </p>
    ) : (
      <p>
        No card fits. <a href={addressOf('cards')}>Clear the search</a>
      </p>
    );
  return (
    <LongList<CardItem>
      caption="Cards, newest first"
      row="cards"
      input={{ ...search }}
      cells={[
        { title: 'Card', width: 'first' },
        { title: 'Status' },
        { title: 'Balance', number: true },
        { title: 'On hold', number: true, wide: true },
        { title: 'Label', wide: true, width: 'label' },
        { title: 'Network', wide: true },
        { title: 'Created', wide: true, width: 'time' },
      ]}
      shown={card => [
        <>
          <a href={addressOf('cards', card.id)} title={card.id}>{`•••• ${card.last4}`}</a>
          <span class="narrow">
            <Said text={card.label} />
          </span>
        </>,
        <Badge word={card.status} />,
        money(card.balance),
        money(card.hold),
        <Said text={card.label} />,
        <span title={card.bin_id}>{card.network}</span>,
        shortTime(card.created_at),
      ]}
      empty={empty}
    />
  );
}

// One card: facts and limits, its two accounts of the ledger, its life, and what the world outside can do to it.

interface Entry {
  readonly id: number;
  readonly at: string;
  readonly kind: string;
  readonly ref: string;
  readonly card: number;
  readonly hold: number;
  readonly card_after: number;
  readonly hold_after: number;
}

interface WholeCard {
  readonly id: string;
  readonly bin_id: string;
  readonly network: string;
  readonly last4: string;
  readonly status: string;
  readonly balance: number;
  readonly hold: number;
  readonly spending_limit: number;
  readonly used_this_month: number;
  readonly max_transaction: number;
  readonly max_monthly: number;
  readonly agrees: boolean;
  readonly label: string;
  readonly allowed_categories: readonly string[];
  readonly auto_freeze_at: number | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly expires_at: string;
  readonly entries_total: number;
  readonly entries: readonly Entry[];
}

export function Card({ id }: { readonly id: string }) {
  const { data: card, error } = useRow<WholeCard>('cards.show', { card_id: id });
  if (card === undefined) {
    return (
      <section>
        <Head title="Card" />
        <Waiting error={error} />
        {error !== undefined && <a href={addressOf('cards')}>All cards</a>}
      </section>
    );
  }
  return (
    <section>
      <Head
        title={
          <span>
            {`Card •••• ${card.last4} `}
            <Badge word={card.status} />
          </span>
        }
      >
        <RevealCard id={id} />
        <a href={addressOf('scenarios', undefined, { card: id })}>As scenario</a>
      </Head>
      <CardFacts card={card} />
      <SameCommand row="cards.show" input={{ card_id: id }} />
      <div class="columns">
        <div>
          <Accounts card={card} />
          <Simulations id={id} />
        </div>
        <Life id={id} />
      </div>
    </section>
  );
}

function CardFacts({ card }: { readonly card: WholeCard }) {
  const tags = Object.entries(card.metadata).map(([name, value]) => `${name}=${value}`);
  return (
    <Facts
      facts={[
        ['Available', money(card.balance)],
        ['On hold', money(card.hold)],
        [
          'Month',
          <span>
            {`${money(card.used_this_month)} of ${money(card.spending_limit)} `}
            <meter
              min={0}
              max={card.spending_limit}
              value={card.used_this_month}
              aria-label="Used of the monthly limit"
            />
          </span>,
        ],
        ['Limits of the BIN', `${money(card.max_transaction)} a purchase, ${money(card.max_monthly)} a month`],
        ['Auto-freeze', card.auto_freeze_at === null ? 'off' : `below ${money(card.auto_freeze_at)}`],
        [
          'Categories',
          card.allowed_categories.length === 0 ? 'all' : <Said text={card.allowed_categories.join(', ')} />,
        ],
        ['Label', <Said text={card.label === '' ? '–' : card.label} />],
        ['Metadata', tags.length === 0 ? '–' : <Said text={tags.join(', ')} />],
        ['Network', card.network],
        [
          'BIN',
          <a href={addressOf('cards', undefined, { bin: card.bin_id })}>
            <code class="id">{card.bin_id}</code>
          </a>,
        ],
        ['Created', shortTime(card.created_at)],
        ['Expires', shortTime(card.expires_at)],
        ['Card', <Id id={card.id} />],
      ]}
    />
  );
}

function Accounts({ card }: { readonly card: WholeCard }) {
  const moved = (amount: number) => (amount === 0 ? '' : `${amount > 0 ? '+' : ''}${money(amount)}`);
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">Ledger: card and hold</h2>
      <BalanceLine entries={card.entries} />
      <Table
        caption="Entries of the ledger, newest first"
        cells={[
          { title: 'Entry', number: true },
          { title: 'What' },
          { title: 'Card', number: true },
          { title: 'Hold', number: true },
          { title: 'Card after', number: true },
          { title: 'Hold after', number: true, wide: true },
        ]}
        rows={folded(card.entries, ({ kind, card: moved, hold }) => `${kind} ${moved} ${hold}`).map(
          ({ item: entry, times }) => ({
            key: String(entry.id),
            cells: [
              count(entry.id),
              <span title={`${shortTime(entry.at)} ${entry.ref}`}>{inAll(times) + entry.kind}</span>,
              moved(entry.card),
              moved(entry.hold),
              money(entry.card_after),
              money(entry.hold_after),
            ],
          }),
        )}
        empty="No entry yet."
      />
      <p class={card.agrees ? 'quiet' : 'problem'}>
        {`I2: ${money(card.balance)} and ${money(card.hold)} on hold ${card.agrees ? 'are the sums of all entries ✓' : 'are NOT the sums of the entries ✗'}`}
      </p>
      {card.entries_total > card.entries.length && (
        <p class="quiet">{`${count(card.entries_total - card.entries.length)} earlier`}</p>
      )}
    </section>
  );
}

/** The balance after each of the entries shown; the table has the same numbers. */
function BalanceLine({ entries }: { readonly entries: readonly Entry[] }) {
  const balances = entries.map(({ card_after }) => card_after).toReversed();
  if (balances.length < 2) return null;
  const highest = Math.max(...balances);
  const lowest = Math.min(...balances);
  const y = (balance: number) => 38 - ((balance - lowest) / (highest - lowest || 1)) * 36;
  const step = 400 / balances.length;
  const points = balances
    .map((balance, nth) => `${nth * step},${y(balance)} ${(nth + 1) * step},${y(balance)}`)
    .join(' ');
  return (
    <figure>
      <svg class="line" viewBox="0 0 400 40" preserveAspectRatio="none" aria-hidden="true">
        <polyline points={points} />
      </svg>
      <figcaption class="quiet">
        {`Balance of the card after each of its newest ${count(balances.length)} entries: ${money(lowest)} to ${money(highest)}`}
      </figcaption>
    </figure>
  );
}

interface Item {
  readonly at: string;
  readonly kind: string;
  readonly id: string;
  readonly number: number | null;
  readonly text: string;
  readonly amount: number | null;
}

const KINDS = ['request', 'transaction', 'entry', 'challenge', 'event', 'delivery'];

function Life({ id }: { readonly id: string }) {
  const { filters } = useAddress();
  const hidden = (filters['without'] ?? '').split(',').filter(kind => kind !== '');
  const kinds = KINDS.filter(kind => !hidden.includes(kind)).join(',');
  const page = Number(filters['page'] ?? '1');
  const input = { card_id: id, ...(hidden.length > 0 && { kinds }), ...(page > 1 && { page }) };
  const { data, error } = useRow<{ readonly data: readonly Item[]; readonly meta: PageFacts }>('cards.timeline', input);
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
      {data === undefined ? <Waiting error={error} /> : <LifeRows items={data.data} />}
      {data !== undefined && <Pages facts={data.meta} goTo={to => change(hidden, to)} />}
      <SameCommand row="cards.timeline" input={input} />
    </section>
  );
}

const inAll = (times: number) => (times === 1 ? '' : `${count(times)} × `);

function LifeRows({ items }: { readonly items: readonly Item[] }) {
  return (
    <Table
      caption="What happened to the card, newest first"
      cells={[{ title: 'At' }, { title: 'What' }]}
      rows={folded(items, ({ kind, text }) => `${kind} ${text}`).map(({ item, times }) => ({
        key: `${item.kind} ${item.id}`,
        cells: [
          <Time iso={item.at} />,
          <span>
            <b
              title={item.id}
            >{`${inAll(times)}${item.kind}${item.number === null ? '' : ` #${count(item.number)}`}`}</b>{' '}
            <Said text={item.text} /> <ItemLink item={item} />
          </span>,
        ],
      }))}
      empty="Nothing of these kinds happened to it."
    />
  );
}

function ItemLink({ item: { kind, id, text } }: { readonly item: Item }) {
  if (kind === 'transaction')
    return <a href={addressOf('why', id)}>{text.startsWith('decline') ? 'Why?' : 'Checks'}</a>;
  if (kind === 'request' || kind === 'delivery')
    return <a href={addressOf(kind === 'request' ? 'requests' : 'webhooks', id)}>Show</a>;
  if (kind === 'challenge' && text.includes('pending'))
    return (
      <span>
        <a href={addressOf('simulate', 'simulate.answer', { challenge_id: id })}>Answer</a> <RevealCode id={id} />
      </span>
    );
  return null;
}

/** The purchase is the one that is needed most; `p` goes there. */
function Simulations({ id }: { readonly id: string }) {
  const [made, make] = useState<string | undefined>(undefined);
  const more = ['simulate.challenge', 'simulate.force-post', 'simulate.unlinked-refund'];
  return (
    <section aria-labelledby="purchase">
      <h2 id="purchase">Simulate a purchase</h2>
      <RowForm
        row="simulate.authorize"
        fixed={{ card_id: id }}
        label="Purchase"
        done={answer => make(String(answer['transaction_id'] ?? ''))}
      />
      {made !== undefined && made !== '' && <a href={addressOf('why', made)}>The checks of this purchase</a>}
      <p>
        {'More: '}
        {more.map(row => (
          <a class="spaced" href={addressOf('simulate', row, { card_id: id })}>
            {row.replace('simulate.', '')}
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
  const canChange = useCanChange() && accessOf() === 'full';
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
function RevealCode({ id }: { readonly id: string }) {
  const [told, tell] = useSecret<string>();
  const canChange = useCanChange() && accessOf() === 'full';
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
