/** One request and its answer, and the same request once more as a line of curl. */
import { absentBodyText, type NotKept, notKeptText } from '../../contract/sandbox/not-kept.ts';
import { addressOf } from '../address.ts';
import { curlLine } from '../command-line.ts';
import { useRow } from '../live.ts';
import { Badge, Copy, Facts, Head, Id, Said, SameCommand, Text, Waiting } from '../parts.tsx';
import { laidOut, shortTime } from '../printable.ts';

export interface RequestItem {
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

export const askedText = ({ method, path, query }: RequestItem) =>
  `${method} ${path}${query === null ? '' : `?${query}`}`;

export const notesOf = ({ error, replayed, fault }: RequestItem) =>
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
