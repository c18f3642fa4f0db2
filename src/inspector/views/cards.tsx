/** All cards, newest first, and the search. */
import { addressOf, refine, useAddress } from '../address.ts';
import { useRow } from '../live.ts';
import { Badge, Head, type PageFacts, Pages, Said, SameCommand, Table, Waiting } from '../parts.tsx';
import { money, shortTime } from '../printable.ts';
import { rowOf } from '../tables.ts';

interface CardItem {
  readonly id: string;
  readonly label: string;
  readonly last4: string;
  readonly status: string;
  readonly balance: number;
  readonly hold: number;
  readonly created_at: string;
}

export function Cards() {
  const { filters } = useAddress();
  const { q = '', status = '', bin = '', page = '1' } = filters;
  const input = { q, status, bin, page: Number(page), per_page: 50 };
  const { data, error } = useRow<{ readonly data: readonly CardItem[]; readonly meta: PageFacts }>('cards', input);
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
      </form>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <CardRows items={data.data} searched={q + status + bin !== ''} />
      )}
      {data !== undefined && <Pages facts={data.meta} goTo={to => change({ page: String(to) })} />}
      <SameCommand row="cards" input={{ q, status, bin, page: page === '1' ? '' : page }} />
    </section>
  );
}

function CardRows({ items, searched }: { readonly items: readonly CardItem[]; readonly searched: boolean }) {
  const empty = searched ? (
    <p>
      No card fits. <a href={addressOf('cards')}>Clear the search</a>
    </p>
  ) : (
    <p>
      No card yet. Your code makes one, or you: <code>cardwright --sandbox cards create --bin auto --amount 25</code>
    </p>
  );
  return (
    <Table
      caption="Cards, newest first"
      cells={[
        { title: 'Card' },
        { title: 'Status' },
        { title: 'Balance', number: true },
        { title: 'On hold', number: true, wide: true },
        { title: 'Label', wide: true },
        { title: 'Created', wide: true },
      ]}
      rows={items.map(card => ({
        key: card.id,
        href: addressOf('cards', card.id),
        cells: [
          <a href={addressOf('cards', card.id)}>{`•••• ${card.last4}`}</a>,
          <Badge word={card.status} />,
          money(card.balance),
          money(card.hold),
          <Said text={card.label} />,
          shortTime(card.created_at),
        ],
      }))}
      empty={empty}
    />
  );
}
