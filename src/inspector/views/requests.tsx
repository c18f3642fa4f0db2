/** The log of requests; by choice what was turned away before it was counted, or what the page and tests did. */

import { absentBodyText, type NotKept, notKeptText } from '../../contract/sandbox/not-kept.ts';
import { addressOf, refine, useAddress } from '../address.ts';
import {
  Badge,
  Copy,
  count,
  Facts,
  Head,
  Id,
  laidOut,
  Name,
  type PageFacts,
  Pages,
  Said,
  SameCommand,
  shortTime,
  Table,
  Text,
  Time,
  Waiting,
} from '../parts.tsx';
import { useRow } from '../session.ts';
import { curlLine, TABLES } from '../tables.ts';

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

// One request and its answer, and the same request once more as a line of curl.

interface RequestItem {
  readonly request_id: string;
  readonly at: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: string | null;
  readonly status: number;
  readonly error: string | null;
  readonly replayed: boolean;
  readonly fault: string | null;
  readonly idempotency_key: string | null;
  readonly card_id: string | null;
  readonly body: Readonly<Record<string, unknown>> | null;
}

const askedText = ({ method, path, query }: RequestItem) => `${method} ${path}${query === null ? '' : `?${query}`}`;

const notesOf = ({ error, replayed, fault }: RequestItem) =>
  [error, replayed ? 'replayed' : null, fault === null ? null : `fault: ${fault}`].filter(Boolean).join(', ');

interface Pair extends RequestItem {
  readonly answer: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body_bytes: number | null;
  /** Null where nobody knows what was left out. */
  readonly not_kept: readonly NotKept[] | null;
  readonly key_last4: string | null;
  readonly took_ms: number | null;
  readonly on_the_wire: string;
}

export function Request({ id }: { readonly id: string }) {
  const { data: pair, error } = useRow<Pair>('requests.get', { request_id: id });
  return (
    <section>
      <Head title="Request">
        <a href={addressOf('requests')}>All requests</a>
      </Head>
      {pair === undefined ? <Waiting error={error} /> : <PairShown pair={pair} />}
      <SameCommand row="requests.get" input={{ request_id: id }} />
    </section>
  );
}

function PairShown({ pair }: { readonly pair: Pair }) {
  const { idempotency_key: key, card_id: card } = pair;
  return (
    <div>
      <Facts
        facts={[
          ['Request', <Said text={askedText(pair)} />],
          ['Operation', pair.operation],
          ['Status', <Badge word={String(pair.status)} />],
          ['Notes', <Said text={notesOf(pair) || '–'} />],
          ['On the wire', <Said text={pair.on_the_wire} />],
          ['At', shortTime(pair.at)],
          ['Took', pair.took_ms === null ? '–' : `${pair.took_ms} ms`],
          ['Idempotency key', <Said text={key ?? 'none'} />],
          ['API key', pair.key_last4 === null ? '–' : `ends in ${pair.key_last4}`],
          ['Card', card === null ? '–' : <Id id={card} />],
          ['Identifier', <Id id={pair.request_id} />],
        ]}
      />
      <Again pair={pair} />
      <div class="columns">
        <section aria-labelledby="sent">
          <h2 id="sent">Sent</h2>
          <Facts facts={Object.entries(pair.headers).map(([name, value]) => [name, <Said text={value} />] as const)} />
          <Body pair={pair} />
        </section>
        <section aria-labelledby="answered">
          <h2 id="answered">Answered</h2>
          {pair.answer === null ? (
            <p class="quiet">The answer to a successful read is not kept.</p>
          ) : (
            <Text label="Body of the answer" text={laidOut(pair.answer)} />
          )}
        </section>
      </div>
    </div>
  );
}

/** The body as it is kept; what is not there is said. */
function Body({ pair: { body_bytes: bytes, not_kept: parts, ...pair } }: { readonly pair: Pair }) {
  const body = pair.body ?? emptyBody(bytes, parts);
  const absent = absentBodyText(bytes, parts ?? []);
  const left = (parts ?? []).filter(({ part }) => part.startsWith('body.'));
  return (
    <div>
      {absent !== undefined ? (
        <p class="quiet">{`Body: ${absent}.`}</p>
      ) : body === null ? (
        <p class="quiet">No body.</p>
      ) : (
        <Text label="Body that was sent" text={JSON.stringify(body, undefined, 2)} />
      )}
      {left.length > 0 && (
        <p class="quiet">
          Not kept as it was sent: <Said text={notKeptText(left)} />
        </p>
      )}
    </div>
  );
}

/** An object without fields was sent where there was a body, and nothing of it was left out. */
const emptyBody = (bytes: number | null, parts: Pair['not_kept']) =>
  parts?.length === 0 && bytes !== null && bytes > 0 ? {} : null;

/** The same request once more. What is not kept as it was sent is never sent otherwise in silence. */
function Again({ pair }: { readonly pair: Pair }) {
  const { method, path, query, idempotency_key: key, body_bytes, not_kept: parts } = pair;
  if (parts === null) {
    return <p class="quiet">No curl: an older cardwright logged this request, and did not say what it left out.</p>;
  }
  const others = parts.filter(({ part }) => part !== 'idempotency_key');
  if (others.length > 0) {
    return (
      <p class="quiet">
        No curl, because it would send something else. Not kept as it was sent: <Said text={notKeptText(others)} />
      </p>
    );
  }
  const again = { method, path, query, body: pair.body ?? emptyBody(body_bytes, parts) };
  const withKey = (other: string | null) => curlLine({ ...again, key: other }, location.origin);
  if (key === null) {
    return (
      <p class="buttons">
        <Copy text={withKey(null)} label="Copy curl" />
      </p>
    );
  }
  const isKeyKept = others.length === parts.length;
  return (
    <p class="buttons">
      {isKeyKept && <Copy text={withKey(key)} label="Copy curl, same key" />}{' '}
      <Copy text={() => withKey(newKey())} label="Copy curl, new key" />
      {!isKeyKept && (
        <span class="quiet">
          {' '}
          No curl with the same key. Not kept as it was sent: <Said text={notKeptText(parts)} />
        </span>
      )}
    </p>
  );
}

const newKey = () => `again-${crypto.randomUUID().slice(0, 8)}`;

// What was turned away before it was counted: without a key, a route or a host that is known here.

interface Turned {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly error: string;
  readonly why: string;
  readonly nearest: string | null;
  readonly key: string;
}

function TurnedAway() {
  const { data, error } = useRow<{ readonly data: readonly Turned[] }>('requests.turned');
  return (
    <div>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <Table
          caption="Requests that were turned away, newest first"
          cells={[
            { title: 'Request' },
            { title: 'Status', number: true },
            { title: 'Why' },
            { title: 'Nearest route', wide: true },
            { title: 'Key', wide: true },
            { title: 'At', wide: true },
          ]}
          rows={data.data.map((turned, nth) => ({
            key: `${turned.at} ${nth}`,
            cells: [
              <>
                <Said text={`${turned.method} ${turned.path}`} />
                <span class="narrow">{shortTime(turned.at)}</span>
              </>,
              <span title={turned.error}>
                <Badge word={String(turned.status)} />
              </span>,
              <Said text={turned.why} />,
              <Said text={turned.nearest ?? ''} />,
              <Said text={turned.key} />,
              shortTime(turned.at),
            ],
          }))}
          empty="Nothing was turned away: every request had a key, a route and a host that are known here."
        />
      )}
      <SameCommand row="requests.turned" />
    </div>
  );
}

// What the page and tests changed through the control surface.

interface Act {
  readonly number: number;
  readonly at: string;
  readonly by: string;
  readonly operation: string;
  readonly about: string | null;
}

function Acts() {
  const { data, error } = useRow<{ readonly data: readonly Act[] }>('acts');
  return (
    <div>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <Table
          caption="Changes through the control surface, newest first"
          cells={[
            { title: 'No', number: true },
            { title: 'What' },
            { title: 'About' },
            { title: 'By' },
            { title: 'At', wide: true },
          ]}
          rows={data.data.map(act => ({
            key: String(act.number),
            cells: [
              count(act.number),
              <>
                <Name name={act.operation} />
                <span class="narrow">{shortTime(act.at)}</span>
              </>,
              act.about === null ? '' : <Id id={act.about} />,
              act.by,
              <Time iso={act.at} />,
            ],
          }))}
          empty="Nothing was simulated, moved or broken since this sandbox was started."
        />
      )}
      <SameCommand row="acts" />
    </div>
  );
}
