/** All cards, newest first, and the search. */
import { addressOf, refine, useAddress } from '../address.ts';
import { LongList } from '../long-list.tsx';
import { Badge, Head, Said, SameCommand } from '../parts.tsx';
import { money, shortTime } from '../printable.ts';
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
