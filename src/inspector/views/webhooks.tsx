/** Subscriptions, their deliveries, and forms that send one; one delivery whole, with its signature step by step. */

import { SIGNATURE_CHECKS } from '../../contract/signature/checks.ts';
import { addressOf } from '../address.ts';
import { RowForm } from '../form.tsx';
import { type Answer, Asked, Detail, type DetailOf, FilteredList, type ListOf, Rows, type TableOf } from '../list.tsx';
import {
  Badge,
  Copy,
  count,
  Head,
  HttpStatus,
  Id,
  laidOut,
  Name,
  printable,
  Said,
  SameCommand,
  shortTime,
  Text,
  Time,
} from '../parts.tsx';
import { type Told, useRow } from '../session.ts';
import { TABLES } from '../tables.ts';

type Subscription = Told<'webhooks'>;

const SUBSCRIPTIONS: ListOf<Subscription> = {
  row: 'webhooks',
  caption: 'Subscriptions, newest first',
  keyOf: ({ id }) => id,
  columns: [
    {
      title: 'Address',
      shows: ({ id, address, created_at: at }) => (
        <a href={addressOf('webhooks', undefined, { webhook_id: id })} title={`${id}, made ${shortTime(at)}`}>
          <Said text={address} />
        </a>
      ),
      isWide: true,
    },
    {
      title: 'Status',
      shows: ({ status, failing_since: since }) => (
        <>
          <Badge word={status} /> {since !== null && <Badge word="failing" />}
        </>
      ),
    },
    { title: 'Delivered', shows: ({ delivered }) => count(delivered), number: true, from: 'm' },
    { title: 'Waiting', shows: ({ waiting }) => count(waiting), number: true, from: 'm' },
    { title: 'Failed', shows: ({ failed }) => count(failed), number: true },
    { title: 'Failing since (UTC)', shows: ({ failing_since: at }) => (at === null ? '' : shortTime(at)), from: 'l' },
    { title: 'Events', shows: ({ events }) => <Said text={events.join(', ')} />, from: 'l' },
    { title: 'Subscription', shows: ({ id }) => <Id id={id} />, under: true },
  ],
  empty: (
    <p>
      No subscription. Your code makes one, or you:{' '}
      <code>cardwright --sandbox webhooks create --url http://127.0.0.1:3000/hook --event '*'</code>
    </p>
  ),
};

export function Webhooks() {
  const { data } = useRow<Answer<Subscription>>('webhooks');
  return (
    <section>
      <Head title="Webhooks" />
      <h2>Subscriptions</h2>
      <Asked list={SUBSCRIPTIONS} />
      <SameCommand row="webhooks" />
      <h2>Deliveries</h2>
      <FilteredList view="webhooks" list={DELIVERIES} />
      <SendForms items={data?.data ?? []} />
    </section>
  );
}

function SendForms({ items }: { readonly items: readonly Subscription[] }) {
  if (items.length === 0) return null;
  const first = items[0]?.id ?? '';
  return (
    <section aria-labelledby="send">
      <h2 id="send">Send</h2>
      <details>
        <summary>An example, or a body of your own, signed as you say</summary>
        <RowForm
          row="deliveries.send"
          begins={{ webhook_id: first, event: 'card.created' }}
          areas={['body']}
          label="Send"
          show={sentOn}
        />
      </details>
      <details>
        <summary>Everything that a subscription missed since a time</summary>
        <RowForm row="deliveries.recover" begins={{ webhook_id: first }} label="Recover" />
      </details>
    </section>
  );
}

// One delivery whole: where it stands, its attempts, and what may be done with it.

type Attempt = Delivery['attempts'][number];

type Delivery = Told<'deliveries'>;

type WholeDelivery = Told<'deliveries.get'>;

/** That it is no event of the account, or not as it was; empty for an ordinary one. */
const markOf = ({ example, edited, signed }: Delivery) =>
  [example && 'example', edited && 'edited', signed !== 'right' && `signed ${signed}`].filter(Boolean).join(', ');

function lastOf({ attempts }: Delivery) {
  const last = attempts.at(-1);
  if (last === undefined) return null;
  if (last.status != null) return <HttpStatus status={last.status} />;
  const { error } = last;
  // The name that the system has for it stands in the title.
  return <span title={error ?? undefined}>{printable(error?.replace(/ \(E[A-Z]+\)$/, '') ?? 'no answer')}</span>;
}

const DELIVERIES: ListOf<Delivery> = {
  row: 'deliveries',
  caption: 'Deliveries, newest first',
  keyOf: ({ id }) => id,
  href: ({ id }) => addressOf('webhooks', id),
  columns: [
    {
      title: 'Event',
      shows: delivery => (
        <span>
          <a href={addressOf('webhooks', delivery.id)} title={delivery.event_id}>
            <Name name={delivery.event} />
          </a>{' '}
          {markOf(delivery)}
        </span>
      ),
      isWide: true,
    },
    {
      title: 'State',
      shows: ({ state, due_at: at }) => (
        <span title={at === null ? undefined : `next try ${shortTime(at)} UTC`}>
          <Badge word={state} />
        </span>
      ),
    },
    { title: 'Last answer', shows: lastOf },
    { title: 'Tries', shows: ({ attempt }) => attempt, number: true, from: 'l' },
    { title: 'Queued (UTC)', shows: ({ created_at: at }) => <Time iso={at} isInTable />, under: true },
    {
      title: 'Subscription',
      shows: ({ webhook_id: id }) => (
        <a href={addressOf('webhooks', undefined, { webhook_id: id })}>
          <Said text={id} />
        </a>
      ),
      under: true,
    },
  ],
  filters: [
    { name: 'state', label: 'State', search: true },
    { name: 'event', label: 'Event', choices: TABLES.events },
    { name: 'webhook_id', label: 'Subscription', isSetByLink: true },
    { name: 'event_id', label: 'Event', isSetByLink: true },
  ],
  empty: 'No delivery. One is queued for each event that a subscription asks for.',
};

/** Nothing may be redelivered that still goes. */
const goesByItself = ({ state }: Delivery) => state === 'queued' || state === 'sending';

/** It is a delivery of its own, and its state may change at once: the answer of the form would stay as it was. */
const sentOn = (answer: Readonly<Record<string, unknown>>) => (
  <p>
    Queued: <a href={addressOf('webhooks', String(answer['id']))}>follow this delivery</a>.
  </p>
);

const DELIVERY: DetailOf<WholeDelivery> = {
  row: 'deliveries.get',
  name: 'Delivery',
  view: 'webhooks',
  title: ({ event }) => `Delivery of ${event}`,
  state: ({ state }) => <Badge word={state} />,
  lead: delivery => (
    <>
      {markOf(delivery)}
      {' to subscription '}
      <a href={addressOf('webhooks', undefined, { webhook_id: delivery.webhook_id })}>
        <code class="id">{delivery.webhook_id}</code>
      </a>
      {', queued '}
      <Time iso={delivery.created_at} />
      {delivery.state === 'failed' && <p class="problem">It failed. Its last answer: {lastOf(delivery)}</p>}
    </>
  ),
  facts: ({ id, attempt, due_at: due, event_id: event }) => [
    ['Tries', attempt],
    ['Next try', due === null ? 'none' : <Time iso={due} />],
    [
      'Event',
      <a href={addressOf('webhooks', undefined, { event_id: event })} title="All deliveries of this event">
        <code class="id">{event}</code>
      </a>,
    ],
    ['Delivery', <Id id={id} />],
  ],
  rest: delivery => <WholeShown delivery={delivery} />,
};

export const DeliveryView = ({ id }: { readonly id: string }) => <Detail of={DELIVERY} input={{ delivery_id: id }} />;

function WholeShown({ delivery }: { readonly delivery: WholeDelivery }) {
  const { id, webhook_id, event } = delivery;
  return (
    <div>
      {goesByItself(delivery) ? (
        <p class="quiet">
          It goes by itself when its time comes on the clock of the sandbox. Sooner:{' '}
          <a href={addressOf('clock')}>move the clock</a>.
        </p>
      ) : (
        <RowForm row="deliveries.redeliver" fixed={{ delivery_id: id }} label="Redeliver" show={sentOn} />
      )}
      <details>
        <summary>Edit and send</summary>
        <RowForm
          row="deliveries.send"
          fixed={{ webhook_id }}
          begins={{ event, body: delivery.body_hidden ? '' : delivery.body }}
          areas={['body']}
          label="Send"
          show={sentOn}
        />
      </details>
      <h2>Tries</h2>
      <Rows list={ATTEMPTS} items={delivery.attempts} />
      {delivery.attempts.map(({ number, request_headers, answer_headers, answer_body }) => (
        <details key={number}>
          <summary>{`Try ${number}: headers and answer`}</summary>
          <Text label={`Headers of try ${number}`} text={headerLines(request_headers)} />
          <Text label={`Headers of the answer to try ${number}`} text={headerLines(answer_headers)} />
          <Text label={`Answer to try ${number}`} text={answer_body ?? ''} />
        </details>
      ))}
      <Signature delivery={delivery} />
    </div>
  );
}

const ATTEMPTS: TableOf<Attempt> = {
  caption: 'Tries, oldest first',
  keyOf: ({ number }) => String(number),
  columns: [
    { title: 'Try', shows: ({ number }) => number },
    {
      title: 'Answer',
      shows: ({ status, error }) =>
        status == null ? <Said text={error ?? 'on its way'} /> : <HttpStatus status={status} />,
    },
    { title: 'Took', shows: ({ duration_ms: ms }) => (ms === null ? '' : `${ms} ms`), number: true },
    { title: 'Address', shows: ({ address }) => <Said text={address ?? ''} />, from: 'm' },
    { title: 'Time (UTC)', shows: ({ at }) => <Time iso={at} isInTable />, under: true },
  ],
  empty: 'No try yet: it goes when its time comes on the clock of the sandbox.',
};

const headerLines = (headers: Readonly<Record<string, string>> | null | undefined) =>
  Object.entries(headers ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

// How the signature of a delivery comes about, step by step, and where it goes wrong in the code of the receiver.

type JudgedAnswer = Told<'deliveries.explain'>;

function Judged({ answer: { matches, secret, deviations, mistakes } }: { readonly answer: JudgedAnswer }) {
  const otherwise = deviations.length === 0 ? '' : `; not as documented: ${deviations.join(', ')}`;
  if (matches) return <p>{`It matches, by the ${secret} secret${otherwise}.`}</p>;
  return (
    <div>
      <p class="problem">It does not match.</p>
      {mistakes.map(({ says }) => (
        <p>{says}</p>
      ))}
      {mistakes.length === 0 && <p>No usual mistake explains it: another secret, or another body.</p>}
    </div>
  );
}

/** The bytes of a body, sixteen a line, beside what they spell. */
function hexOf(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const lines: string[] = [];
  for (let from = 0; from < bytes.length; from += 16) {
    const part = [...bytes.slice(from, from + 16)];
    const hex = part.map(byte => byte.toString(16).padStart(2, '0')).join(' ');
    const spelt = part.map(byte => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${from.toString(16).padStart(4, '0')}  ${hex.padEnd(47)}  ${spelt}`);
  }
  return lines.join('\n');
}

/** From the bytes to the header, step by step; the secret is not shown. */
function Signature({ delivery }: { readonly delivery: WholeDelivery }) {
  const sent = delivery.attempts.at(-1)?.request_headers ?? {};
  const header = Object.entries(sent).find(([name]) => /signature/i.test(name));
  return (
    <section aria-labelledby="signature">
      <h2 id="signature">Signature in steps</h2>
      <ol class="steps">
        <li>
          {`The exact body: ${delivery.body_bytes} bytes, SHA-256 `}
          <code>{delivery.body_sha256}</code>
          {delivery.body_hidden && (
            <p class="quiet">A one-time code in the text below is replaced; the digest is that of what is sent.</p>
          )}
          <Text label="Body" text={laidOut(delivery.body)} />
          {!delivery.body_hidden && <Copy text={delivery.body} label="Copy the exact body" />}
          {!delivery.body_hidden && (
            <details>
              <summary>Bytes</summary>
              <Text label="Bytes of the body" text={hexOf(delivery.body)} />
            </details>
          )}
        </li>
        <li>The key: the text of the signing secret as it stands. It is not shown.</li>
        <li>HMAC-SHA256 of the body under the key.</li>
        <li>
          {'64 hex digits, sent as '}
          {header === undefined ? (
            <span>a header; nothing was sent yet, or it went without one.</span>
          ) : (
            <code class="wrap">{`${header[0]}: ${header[1]}`}</code>
          )}
        </li>
      </ol>
      <details>
        <summary>The check in your code: Node, Python</summary>
        {SIGNATURE_CHECKS.map(({ language, text }) => (
          <div>
            <Text label={`Check in ${language}`} text={text} />
            <Copy text={text} label={`Copy for ${language}`} />
          </div>
        ))}
      </details>
      <details>
        <summary>Check mine: your code gets another one?</summary>
        <p class="quiet">A form makes one kind of line ends of all; for exact bytes take the command with a file.</p>
        <RowForm
          row="deliveries.explain"
          fixed={{ webhook_id: delivery.webhook_id }}
          areas={['body']}
          label="Check mine"
          show={answer => <Judged answer={answer as unknown as JudgedAnswer} />}
        />
      </details>
    </section>
  );
}
