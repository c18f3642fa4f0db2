/** The log of requests; by choice what was turned away before it was counted, or what the page and tests did. */
import { addressOf, refine, useAddress } from '../address.ts';
import { useRow } from '../live.ts';
import { Badge, Head, type PageFacts, Pages, Said, SameCommand, Table, Time, Waiting } from '../parts.tsx';
import { shortTime } from '../printable.ts';
import { TABLES } from '../tables.ts';
import { Acts } from './acts.tsx';
import { askedText, notesOf, type RequestItem } from './request.tsx';
import { TurnedAway } from './turned-away.tsx';

export function Requests() {
  const { filters } = useAddress();
  const turned = filters['turned'] === '1';
  const acts = filters['acts'] === '1';
  const choose = (of: string) => refine(addressOf('requests', undefined, of === '' ? {} : { [of]: '1' }));
  return (
    <section>
      <Head title="Requests">
        <label>
          Of{' '}
          <select value={turned ? 'turned' : acts ? 'acts' : ''} onChange={event => choose(event.currentTarget.value)}>
            <option value="">your code</option>
            <option value="turned">your code, turned away</option>
            <option value="acts">the page and tests: simulations, clock, faults</option>
          </select>
        </label>
      </Head>
      {turned ? <TurnedAway /> : acts ? <Acts /> : <Log />}
    </section>
  );
}

function Log() {
  const { filters } = useAddress();
  const { operation = '', status = '', card = '', page = '1' } = filters;
  const input = { operation, status, card_id: card, page: Number(page), per_page: 50 };
  const { data, error } = useRow<{ readonly data: readonly RequestItem[]; readonly meta: PageFacts }>(
    'requests',
    input,
  );
  const change = (next: Readonly<Record<string, string>>) =>
    refine(addressOf('requests', undefined, { operation, status, card, ...next }));
  const isFiltered = operation + status + card !== '';
  return (
    <div>
      <form class="filters" onSubmit={event => event.preventDefault()}>
        <label>
          Operation{' '}
          <select value={operation} onChange={event => change({ operation: event.currentTarget.value })}>
            <option value="">all</option>
            {TABLES.operations.map(each => (
              <option value={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          Status{' '}
          <input
            size={4}
            inputMode="numeric"
            value={status}
            placeholder="201"
            onChange={event => change({ status: event.currentTarget.value.replace(/\D/g, '') })}
          />
        </label>
        <label>
          Card{' '}
          <input
            id="search"
            value={card}
            placeholder="card_…"
            onChange={event => change({ card: event.currentTarget.value })}
          />
        </label>
      </form>
      {data === undefined ? <Waiting error={error} /> : <LogRows items={data.data} isFiltered={isFiltered} />}
      {data !== undefined && <Pages facts={data.meta} goTo={to => change({ page: String(to) })} />}
      <SameCommand row="requests" input={{ operation, status, card_id: card, page: page === '1' ? '' : page }} />
    </div>
  );
}

function LogRows({ items, isFiltered }: { readonly items: readonly RequestItem[]; readonly isFiltered: boolean }) {
  const empty = isFiltered ? (
    <p>
      No request fits. <a href={addressOf('requests')}>Clear the filters</a>
    </p>
  ) : (
    <p>
      No request yet. Point your code here: <code>cardwright sandbox status -o env</code>
    </p>
  );
  return (
    <Table
      caption="Requests, newest first"
      cells={[
        { title: 'At', wide: true },
        { title: 'Request' },
        { title: 'Status', number: true },
        { title: 'Notes', wide: true },
        { title: 'Key', wide: true },
      ]}
      rows={items.map(item => ({
        key: item.request_id,
        href: addressOf('requests', item.request_id),
        cells: [
          <Time iso={item.at} />,
          <>
            <a href={addressOf('requests', item.request_id)}>
              <Said text={askedText(item)} />
            </a>
            <span class="narrow">{shortTime(item.at)}</span>
          </>,
          <Badge word={String(item.status)} />,
          <Said text={notesOf(item)} />,
          <Said text={item.idempotency_key ?? ''} />,
        ],
      }))}
      empty={empty}
    />
  );
}
