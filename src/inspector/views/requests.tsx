/** The log of requests, and one with its answer. */
import { addressOf } from '../address.ts';
import { filter, type ListOf, type ViewOf } from '../list.tsx';
import { Copy, Facts, laidOut, Part, Said, show, Text } from '../parts.tsx';
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

export const LOG: ViewOf<Logged, Pair> = {
  view: 'requests',
  title: 'Requests',
  list: REQUESTS,
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
    <Said text={parts.join(', ')} />
  </p>
);

/** The body as it is kept; what is not there is said. */
function Body({ pair }: { readonly pair: Pair }) {
  const body = bodyOf(pair);
  const isLeftOut = pair.not_kept.includes('body');
  const left = pair.not_kept.filter(part => part.startsWith('body.'));
  return (
    <>
      {body === null ? (
        <p class="quiet">{isLeftOut ? `Body: ${pair.body_bytes ?? 'some'} bytes, not kept.` : 'No body.'}</p>
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
  const others = parts.filter(part => part !== 'idempotency_key');
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
