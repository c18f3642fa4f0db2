/** The log of requests; by choice what was turned away before it was counted, or what the page and tests did. */

import { absentBodyText, notKeptText } from '../../contract/sandbox/not-kept.ts';
import { addressOf, refine, useAddress } from '../address.ts';
import { Asked, Detail, type DetailOf, FilteredList, type ListOf } from '../list.tsx';
import { Copy, count, Facts, Head, HttpStatus, Id, laidOut, Name, Said, SameCommand, Text, Time } from '../parts.tsx';
import type { Told } from '../session.ts';
import { curlLine, TABLES } from '../tables.ts';

export function Requests() {
  const { filters } = useAddress();
  const of = filters['turned'] === '1' ? 'turned' : filters['acts'] === '1' ? 'acts' : '';
  const choose = (next: string) => refine(addressOf('requests', undefined, next === '' ? {} : { [next]: '1' }));
  return (
    <section>
      <Head title="Requests">
        <label>
          What is shown{' '}
          <select value={of} onChange={event => choose(event.currentTarget.value)}>
            <option value="">requests of your code</option>
            <option value="turned">turned away: no key, route or host that is known</option>
            <option value="acts">done by this page and by tests</option>
          </select>
        </label>
      </Head>
      {of === '' && <FilteredList view="requests" list={REQUESTS} />}
      {of === 'turned' && (
        <>
          <Asked list={TURNED} />
          <SameCommand row="requests.turned" />
        </>
      )}
      {of === 'acts' && (
        <>
          <Asked list={ACTS} />
          <SameCommand row="acts" />
        </>
      )}
    </section>
  );
}

type RequestItem = Told<'requests'>;

const askedText = ({ method, path, query }: RequestItem) => `${method} ${path}${query === null ? '' : `?${query}`}`;

const notesOf = ({ error, replayed, fault }: RequestItem) =>
  [error, replayed ? 'replayed' : null, fault === null ? null : `fault: ${fault}`].filter(Boolean).join(', ');

const REQUESTS: ListOf<RequestItem> = {
  row: 'requests',
  caption: 'Requests, newest first',
  keyOf: item => item.request_id,
  href: item => addressOf('requests', item.request_id),
  columns: [
    {
      title: 'Request',
      shows: item => (
        <a href={addressOf('requests', item.request_id)}>
          <Said text={askedText(item)} />
        </a>
      ),
    },
    { title: 'Answer', shows: ({ status }) => <HttpStatus status={status} /> },
    { title: 'Notes', shows: item => <Said text={notesOf(item)} />, from: 'm' },
    { title: 'Idempotency key', shows: item => <Said text={item.idempotency_key ?? ''} />, from: 'l' },
    { title: 'Time (UTC)', shows: ({ at }) => <Time iso={at} isInTable />, under: true },
  ],
  filters: [
    { name: 'operation', label: 'Operation', choices: TABLES.operations },
    { name: 'status', label: 'Status', placeholder: '201' },
    { name: 'card_id', label: 'Card', placeholder: 'card_…', search: true },
  ],
  empty: (
    <p>
      No request yet. Point your code here: <code>cardwright sandbox status -o env</code>
    </p>
  ),
};

type Turned = Told<'requests.turned'>;

/** Without a key, a route or a host that is known here. */
const TURNED: ListOf<Turned> = {
  row: 'requests.turned',
  caption: 'Requests that were turned away, newest first',
  keyOf: ({ at, method, path }) => `${at} ${method} ${path}`,
  columns: [
    { title: 'Request', shows: ({ method, path }) => <Said text={`${method} ${path}`} /> },
    {
      title: 'Answer',
      shows: ({ status, error }) => (
        <span title={error}>
          <HttpStatus status={status} />
        </span>
      ),
    },
    { title: 'Why', shows: ({ why }) => <Said text={why} /> },
    { title: 'Nearest route', shows: ({ nearest }) => <Said text={nearest ?? ''} />, from: 'l' },
    { title: 'Key', shows: ({ key }) => <Said text={key} />, from: 'm' },
    { title: 'Time (UTC)', shows: ({ at }) => <Time iso={at} isInTable />, under: true },
  ],
  empty: 'Nothing was turned away: every request had a key, a route and a host that are known here.',
};

type Act = Told<'acts'>;

const ACTS: ListOf<Act> = {
  row: 'acts',
  caption: 'What this page and tests changed, newest first',
  keyOf: ({ number }) => String(number),
  columns: [
    {
      title: 'What',
      shows: ({ operation, number }) => (
        <span title={`number ${count(number)}`}>
          <Name name={operation} />
        </span>
      ),
    },
    { title: 'About', shows: ({ about }) => about && <Id id={about} />, under: true },
    { title: 'By', shows: ({ by }) => by },
    { title: 'Time (UTC)', shows: ({ at }) => <Time iso={at} isInTable />, under: true },
  ],
  empty: 'Nothing was simulated, moved or broken since this sandbox was started.',
};

// One request and its answer, and the same request once more as a line of curl.

type Pair = Told<'requests.get'>;

const REQUEST: DetailOf<Pair> = {
  row: 'requests.get',
  name: 'Request',
  view: 'requests',
  title: pair => `Request ${askedText(pair)}`,
  state: ({ status }) => <HttpStatus status={status} />,
  lead: ({ operation, card_id: card, at, error }) => (
    <>
      <Name name={operation} />
      {card !== null && ' on '}
      {card !== null && <Id id={card} />}, <Time iso={at} />
      {error !== null && (
        <p class="problem">
          <Said text={error} />
        </p>
      )}
    </>
  ),
  facts: pair => [
    ['Notes', notesOf(pair) && <Said text={notesOf(pair)} />],
    ['What reached your code', <Said text={pair.on_the_wire} />],
    ['Took', pair.took_ms === null ? 'not measured' : `${pair.took_ms} ms`],
    ['Idempotency key', <Said text={pair.idempotency_key ?? 'none'} />],
    ['API key', pair.key_last4 && `ends in ${pair.key_last4}`],
    ['Request', <Id id={pair.request_id} />],
  ],
  rest: pair => (
    <>
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
    </>
  ),
};

export const Request = ({ id }: { readonly id: string }) => <Detail of={REQUEST} input={{ request_id: id }} />;

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

/** Sends a request once more. What is not kept as it was sent is never sent otherwise in silence. */
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
