/** The log of requests; by choice what was turned away before it was counted, or what the page and tests did. */
import { absentBodyText, notKeptText } from '../../contract/sandbox/not-kept.ts';
import { addressOf, useAddress } from '../address.ts';
import { filter, List, type ListOf, type ViewOf } from '../list.tsx';
import { Copy, Facts, HttpStatus, laidOut, Part, Said, show, Text } from '../parts.tsx';
import type { Told } from '../session.ts';
import { curlLine, TABLES } from '../tables.ts';

type Logged = Told<'requests'>;
type Pair = Told<'requests.get'>;

const askedText = ({ method, path, query }: Logged) => `${method} ${path}${query === null ? '' : `?${query}`}`;
const notesOf = ({ error, replayed, fault }: Logged) =>
  [error, replayed && 'replayed', fault !== null && `fault: ${fault}`].filter(Boolean).join(', ');

const REQUESTS: ListOf<Logged> = {
  row: 'requests',
  caption: 'Requests, newest first',
  opens: ({ request_id: id }) => addressOf('requests', id),
  fields: [
    show.text('Request', askedText),
    show.status('Answer', item => item.status),
    show.text('Notes', notesOf, 'm'),
    show.text('Idempotency key', item => item.idempotency_key, 'l'),
    show.time('Time', item => item.at),
  ],
  filters: [
    filter.choice('operation', 'Operation', TABLES.operations),
    filter.typed('status', 'Status', '201'),
    filter.byLink('card_id', 'Card'),
  ],
  empty: 'No request yet. Point your code here:',
  command: 'cardwright sandbox status -o env',
};

/** Without a key, a route or a host that is known here. */
const TURNED: ListOf<Told<'requests.turned'>> = {
  row: 'requests.turned',
  caption: 'Requests that were turned away, newest first',
  fields: [
    show.text('Request', ({ method, path }) => `${method} ${path}`),
    show.field('Answer', ({ status, error }) => <HttpStatus status={status} title={error} />),
    show.text('Why', item => item.why),
    show.text('Nearest route', item => item.nearest, 'l'),
    show.text('Key', item => item.key, 'm'),
    show.time('Time', item => item.at),
  ],
  empty: 'Nothing was turned away: every request had a key, a route and a host that are known here.',
};

const ACTS: ListOf<Told<'acts'>> = {
  row: 'acts',
  caption: 'What this page and tests changed, newest first',
  fields: [
    show.name('What', item => item.operation),
    show.id('About', item => item.about, 'under'),
    show.name('By', item => item.by),
    show.time('Time', item => item.at),
  ],
  empty: 'Nothing was simulated, moved or broken since this sandbox was started.',
};

/** What may be shown, by the word in the address. */
const LISTS = {
  '': { label: 'Requests of your code', shows: () => <List view="requests" list={REQUESTS} /> },
  turned: { label: 'Turned away: no known key, route or host', shows: () => <List view="requests" list={TURNED} /> },
  acts: { label: 'Done by this page and by tests', shows: () => <List view="requests" list={ACTS} /> },
} as const;

function AllRequests() {
  const { filters } = useAddress();
  const of = filters['turned'] === '1' ? 'turned' : filters['acts'] === '1' ? 'acts' : '';
  return (
    <>
      <p class="row tabs">
        {Object.entries(LISTS).map(([word, { label }]) => (
          <a
            href={addressOf('requests', word === '' ? {} : { [word]: '1' })}
            aria-current={word === of ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </p>
      <div key={of}>{LISTS[of].shows()}</div>
    </>
  );
}

export const LOG: ViewOf<Logged, Pair> = {
  view: 'requests',
  title: 'Requests',
  list: REQUESTS,
  all: () => <AllRequests />,
  one: {
    row: 'requests.get',
    by: 'request_id',
    name: 'Request',
    title: pair => `Request ${askedText(pair)}`,
    facts: [
      show.name('Operation', pair => pair.operation),
      show.id('Card', pair => pair.card_id),
      show.text('What reached your code', pair => pair.on_the_wire),
      show.text('Took', pair => (pair.took_ms === null ? 'not measured' : `${pair.took_ms} ms`)),
      show.text('API key', pair => pair.key_last4 && `ends in ${pair.key_last4}`),
      show.id('Request', pair => pair.request_id),
    ],
    rest: pair => (
      <>
        <Again pair={pair} />
        <div class="columns">
          <Part title="Sent">
            <Facts facts={Object.entries(pair.headers).map(([name, value]) => [name, <Said text={value} />])} />
            <Body pair={pair} />
          </Part>
          <Part title="Answered">
            {pair.answer === null ? (
              <p class="quiet">The answer to a successful read is not kept.</p>
            ) : (
              <Text label="Body of the answer" text={laidOut(pair.answer)} />
            )}
          </Part>
        </div>
      </>
    ),
  },
};

/** An object without fields was sent where there was a body, and nothing of it was left out. */
const bodyOf = ({ body, body_bytes: bytes, not_kept: parts }: Pair) =>
  body ?? (parts.length === 0 && bytes !== null && bytes > 0 ? {} : null);

const NotKept = ({ says, parts }: { readonly says: string; readonly parts: Pair['not_kept'] }) => (
  <p class="quiet">
    {`${says}Not kept as it was sent: `}
    <Said text={notKeptText(parts)} />
  </p>
);

/** The body as it is kept; what is not there is said. */
function Body({ pair }: { readonly pair: Pair }) {
  const body = bodyOf(pair);
  const absent = absentBodyText(pair.body_bytes, pair.not_kept);
  const left = pair.not_kept.filter(({ part }) => part.startsWith('body.'));
  return (
    <>
      {absent !== undefined || body === null ? (
        <p class="quiet">{absent === undefined ? 'No body.' : `Body: ${absent}.`}</p>
      ) : (
        <Text label="Body that was sent" text={JSON.stringify(body, undefined, 2)} />
      )}
      {left.length > 0 && <NotKept says="" parts={left} />}
    </>
  );
}

/** Sends a request once more. What is not kept as it was sent is never sent otherwise in silence. */
function Again({ pair }: { readonly pair: Pair }) {
  const { method, path, query, idempotency_key: key, not_kept: parts } = pair;
  const others = parts.filter(({ part }) => part !== 'idempotency_key');
  if (others.length > 0) return <NotKept says="No curl, because it would send something else. " parts={others} />;
  const curl = (withKey: string | null) =>
    curlLine({ method, path, query, body: bodyOf(pair), key: withKey }, location.origin);
  const newKey = () => `again-${crypto.randomUUID().slice(0, 8)}`;
  const isKeyKept = parts.length === 0;
  return (
    <div class="row">
      {key === null && <Copy text={curl(null)} label="Copy curl" />}
      {key !== null && isKeyKept && <Copy text={curl(key)} label="Copy curl, same key" />}
      {key !== null && <Copy text={() => curl(newKey())} label="Copy curl, new key" />}
      {key !== null && !isKeyKept && <NotKept says="No curl with the same key. " parts={parts} />}
    </div>
  );
}
