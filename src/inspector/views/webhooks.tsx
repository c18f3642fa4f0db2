/** Subscriptions, their deliveries, and forms that send one; one delivery whole, with its signature step by step. */
import { SIGNATURE_CHECKS } from '../../contract/signature/checks.ts';
import { addressOf } from '../address.ts';
import { Act, RowForm } from '../form.tsx';
import { filter, List, type ListOf, Rows, type TableOf, type ViewOf } from '../list.tsx';
import { Badge, Copy, HttpStatus, laidOut, Name, Part, Said, shortTime, show, Text } from '../parts.tsx';
import type { Told } from '../session.ts';
import { TABLES } from '../tables.ts';

type Delivery = Told<'deliveries'>;
type WholeDelivery = Told<'deliveries.get'>;

/** The object an event is about, by its id alone; a body that was edited may be anything. */
export function aboutOf(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { readonly data?: { readonly id?: string } }).data?.id;
  } catch {
    return undefined;
  }
}

const to = (filter: 'webhook_id' | 'event_id', of: string) => (
  <a href={addressOf('webhooks', { [filter]: of })} title="All of its deliveries">
    <Said text={of} />
  </a>
);

const SUBSCRIPTIONS: ListOf<Told<'webhooks'>> = {
  row: 'webhooks',
  caption: 'Subscriptions, newest first',
  fields: [
    show.field('Address', ({ id: webhook_id, address, created_at: at, failing_since: since }) => (
      <a
        href={addressOf('webhooks', { webhook_id })}
        title={`made ${shortTime(at)}${since === null ? '' : `, failing since ${shortTime(since)}`}`}
      >
        <Said text={address} />
      </a>
    )),
    show.badge('Status', ({ status, failing_since: since }) => (status === 'active' && since ? 'failing' : status)),
    show.number('Delivered', item => item.delivered, 'm'),
    show.number('Waiting', item => item.waiting, 'm'),
    show.number('Failed', item => item.failed),
    show.text('Events', item => item.events.join(', '), 'l'),
    show.id('Subscription', item => item.id, 'under'),
  ],
  empty: 'No subscription. Your code makes one, or you:',
  command: "cardwright --sandbox webhooks create --url http://127.0.0.1:3000/hook --event '*'",
};

/** That it is no event of the account, or not as it was; empty for an ordinary one. */
const markOf = ({ example, edited, signed }: Delivery) =>
  [example && 'example', edited && 'edited', signed !== 'right' && `signed ${signed}`].filter(Boolean).join(', ');

/** The name that the system has for an error stands in the title. */
const answered = (status: number | null | undefined, error: string | null | undefined, none: string) =>
  status == null ? (
    <span class={error ? 'problem' : ''} title={error ?? undefined}>
      <Said text={error?.replace(/ \(E[A-Z]+\)$/, '') ?? none} />
    </span>
  ) : (
    <HttpStatus status={status} />
  );

function lastAnswer({ attempts }: Delivery) {
  const last = attempts.at(-1);
  return last === undefined ? null : answered(last.status, last.error, 'no answer');
}

const DELIVERIES: ListOf<Delivery> = {
  row: 'deliveries',
  caption: 'Deliveries, newest first',
  opens: ({ id }) => addressOf('webhooks', id),
  fields: [
    show.field('Event', ({ event, event_id: id }) => <Name name={event} title={id} />),
    {
      ...show.field('State', ({ state, attempt, due_at: at }) => (
        <Badge
          word={state === 'queued' && attempt > 0 ? 'will retry' : state}
          title={at === null ? state : `${state}, next try ${shortTime(at)} UTC`}
        />
      )),
      isState: true,
    },
    show.text('Notes', markOf, 'under'),
    show.field('Last answer', lastAnswer),
    show.number('Tries', item => item.attempt, 'l'),
    show.time('Queued', item => item.created_at),
    show.field('Subscription', item => to('webhook_id', item.webhook_id), 'under'),
  ],
  filters: [
    { ...filter.choice('state', 'State'), words: { queued: 'queued, or will retry', failed: 'failed for good' } },
    filter.choice('event', 'Event', TABLES.events),
    filter.day,
    filter.byLink('webhook_id', 'Subscription'),
    filter.byLink('event_id', 'Event'),
  ],
  empty: 'No delivery. One is queued for each event that a subscription asks for.',
};

/** It is a delivery of its own, and its state may change at once: the answer of the form would stay as it was. */
const sentOn = (answer: Readonly<Record<string, unknown>>) => (
  <p>
    Queued: <a href={addressOf('webhooks', String(answer['id']))}>follow this delivery</a>.
  </p>
);

const ATTEMPTS: TableOf<Delivery['attempts'][number]> = {
  caption: 'Tries, oldest first',
  fields: [
    show.number('Try', item => item.number),
    show.field('Answer', ({ status, error }) => answered(status, error, 'on its way')),
    show.text('Took', ({ duration_ms: ms }) => (ms === null ? null : `${ms} ms`)),
    show.text('Address', item => item.address, 'm'),
    show.time('Time', item => item.at),
  ],
  empty: 'No try yet: it goes when its time comes on the clock of the sandbox.',
};

export const WEBHOOKS: ViewOf<Delivery, WholeDelivery> = {
  view: 'webhooks',
  title: 'Webhooks',
  list: DELIVERIES,
  all: () => (
    <>
      <Part title="Subscriptions">
        <List list={SUBSCRIPTIONS} view="webhooks" />
      </Part>
      <Part title="Deliveries">
        <List list={DELIVERIES} view="webhooks" />
      </Part>
      <Part title="Send">
        <RowForm
          row="deliveries.send"
          folded="An example, or a body of your own, signed as you say"
          begins={{ event: 'card.created' }}
          label="Send"
          show={sentOn}
        />
        <RowForm row="deliveries.recover" folded="Everything that a subscription missed since a time" label="Recover" />
      </Part>
    </>
  ),
  one: {
    row: 'deliveries.get',
    by: 'delivery_id',
    name: 'Delivery',
    title: ({ event }) => `Delivery of ${event}`,
    lead: item => <WhyNot delivery={item} />,
    facts: [
      show.time('Next try', item => item.due_at),
      show.field('Event', item => to('event_id', item.event_id)),
      show.id('About', item => aboutOf(item.body)),
      show.id('Delivery', item => item.id),
    ],
    rest: item => (
      <>
        {item.state === 'queued' || item.state === 'sending' ? (
          <p>
            It goes by itself when its time comes on the clock of the sandbox.{' '}
            {item.due_at !== null && (
              <Act row="clock.advance" input={{ to: item.due_at }} label="Move the clock there" about={item.id} />
            )}
          </p>
        ) : (
          <RowForm row="deliveries.redeliver" fixed={{ delivery_id: item.id }} label="Redeliver" show={sentOn} />
        )}
        <RowForm
          row="deliveries.send"
          folded="Edit and send"
          fixed={{ webhook_id: item.webhook_id }}
          begins={{ event: item.event, body: item.body_hidden ? '' : item.body }}
          label="Send"
          show={sentOn}
        />
        <Part title="Tries">
          <Rows list={ATTEMPTS} items={item.attempts} />
          {item.attempts.map(({ number, request_headers, answer_headers, answer_body }) => (
            <details key={number}>
              <summary>{`Try ${number}: headers and answer`}</summary>
              <Text label={`Headers of try ${number}`} text={headerLines(request_headers)} />
              <Text label={`Answer to try ${number}`} text={`${headerLines(answer_headers)}\n\n${answer_body ?? ''}`} />
            </details>
          ))}
        </Part>
        <Signature delivery={item} />
      </>
    ),
  },
};

/** Of an answer; all of it stands with its try. */
const MOST_SAID = 300;

/** What the receiver said to the newest try, where that was no success. */
function WhyNot({ delivery }: { readonly delivery: WholeDelivery }) {
  const { state, attempts } = delivery;
  const { status, error, answer_body: said } = attempts.at(-1) ?? {};
  const isAnswered = status != null || error != null;
  if (state === 'delivered' || !(isAnswered || state === 'cancelled')) return null;
  return (
    <p class="problem">
      {isAnswered && (
        <>
          {state === 'failed' ? 'It failed for good: ' : 'The newest try failed: '}
          {lastAnswer(delivery)} <Said text={said?.slice(0, MOST_SAID) ?? ''} />
        </>
      )}
      {state === 'cancelled' && ' Nothing more is tried: its subscription is disabled.'}
    </p>
  );
}

const headerLines = (headers: Readonly<Record<string, string>> | null | undefined) =>
  Object.entries(headers ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** From the bytes to the header, step by step, and where it goes wrong in the code of the receiver; the secret is not shown. */
function Signature({ delivery: { webhook_id, attempts, body, ...of } }: { readonly delivery: WholeDelivery }) {
  const sent = attempts.at(-1)?.request_headers ?? {};
  const header = Object.entries(sent).find(([name]) => /signature/i.test(name));
  return (
    <Part title="Signature in steps">
      <ol class="steps">
        <li>
          {`The exact body: ${of.body_bytes} bytes, SHA-256 `}
          <code>{of.body_sha256}</code>
          <Text label="Body" text={laidOut(body)} />
          {of.body_hidden ? (
            <p class="quiet">A one-time code in the text is replaced; the digest is that of what is sent.</p>
          ) : (
            <Copy text={body} label="Copy the exact body" />
          )}
        </li>
        <li>The key: the text of the signing secret as it stands. It is not shown.</li>
        <li>HMAC-SHA256 of the body under the key.</li>
        <li>
          {'64 hex digits, sent as '}
          {header === undefined ? (
            'a header; nothing was sent yet, or it went without one.'
          ) : (
            <code>{header.join(': ')}</code>
          )}
        </li>
      </ol>
      <details>
        <summary>The check in your code: Node, Python</summary>
        {SIGNATURE_CHECKS.map(({ language, text }) => (
          <>
            <Text label={`Check in ${language}`} text={text} />
            <Copy text={text} label={`Copy for ${language}`} />
          </>
        ))}
      </details>
    </Part>
  );
}
