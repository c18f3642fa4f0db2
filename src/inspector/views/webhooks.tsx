/** Subscriptions, their deliveries, and forms that send one. */

import { SIGNATURE_CHECKS } from '../../contract/signature/checks.ts';
import { addressOf, refine, useAddress } from '../address.ts';
import { RowForm } from '../form.tsx';
import {
  Badge,
  Copy,
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
import { rowOf } from '../tables.ts';

interface Subscription {
  readonly id: string;
  readonly address: string;
  readonly events: readonly string[];
  readonly status: string;
  readonly created_at: string;
  readonly failing_since: string | null;
  readonly waiting: number;
  readonly delivered: number;
  readonly failed: number;
}

export function Webhooks() {
  const subscriptions = useRow<{ readonly data: readonly Subscription[] }>('webhooks');
  return (
    <section>
      <Head title="Webhooks" />
      <h2>Subscriptions</h2>
      {subscriptions.data === undefined ? (
        <Waiting error={subscriptions.error} />
      ) : (
        <Subscriptions items={subscriptions.data.data} />
      )}
      <SameCommand row="webhooks" />
      <Deliveries />
      <SendForms items={subscriptions.data?.data ?? []} />
    </section>
  );
}

function Subscriptions({ items }: { readonly items: readonly Subscription[] }) {
  return (
    <Table
      caption="Subscriptions, newest first"
      cells={[
        { title: 'Subscription' },
        { title: 'Status' },
        { title: 'Waiting', number: true, wide: true },
        { title: 'Delivered', number: true, wide: true },
        { title: 'Given up', number: true },
        { title: 'Failing since', wide: true },
        { title: 'Address', wide: true },
        { title: 'Events', wide: true },
      ]}
      rows={items.map(item => ({
        key: item.id,
        cells: [
          <>
            <a
              href={addressOf('webhooks', undefined, { webhook: item.id })}
              title={`made ${shortTime(item.created_at)}`}
            >
              <Said text={item.id} />
            </a>
            <span class="narrow whole">
              <Said text={item.address} />
            </span>
          </>,
          <Badge word={item.status} />,
          item.waiting,
          item.delivered,
          item.failed,
          shortTime(item.failing_since),
          <Said text={item.address} />,
          <Said text={item.events.join(', ')} />,
        ],
      }))}
      empty={
        <p>
          No subscription. Your code makes one, or you:{' '}
          <code>cardwright --sandbox webhooks create --url http://127.0.0.1:3000/hook --event '*'</code>
        </p>
      }
    />
  );
}

function lastOf({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  return last === undefined ? '' : last.status === null ? (last.error ?? 'unknown') : String(last.status);
}

function Deliveries() {
  const { filters } = useAddress();
  const { webhook = '', state = '', page = '1' } = filters;
  const input = { webhook_id: webhook, state, page: Number(page) };
  const { data, error } = useRow<{ readonly data: readonly Delivery[]; readonly meta: PageFacts }>('deliveries', input);
  const change = (next: Readonly<Record<string, string>>) =>
    refine(addressOf('webhooks', undefined, { webhook, state, ...next }));
  const states = rowOf('deliveries').fields.find(({ name }) => name === 'state')?.choices ?? [];
  return (
    <section aria-labelledby="deliveries">
      <div class="head">
        <h2 id="deliveries">Deliveries</h2>
        <div class="actions">
          {webhook !== '' && <a href={addressOf('webhooks')}>of all subscriptions</a>}
          <label>
            State{' '}
            <select value={state} onChange={event => change({ state: event.currentTarget.value })}>
              <option value="">all</option>
              {states.map(each => (
                <option value={each}>{each}</option>
              ))}
            </select>
          </label>
        </div>
      </div>
      {data === undefined ? <Waiting error={error} /> : <DeliveryRows items={data.data} />}
      {data !== undefined && <Pages facts={data.meta} goTo={to => change({ page: String(to) })} />}
      <SameCommand row="deliveries" input={{ webhook_id: webhook, state, page: page === '1' ? '' : page }} />
    </section>
  );
}

function DeliveryRows({ items }: { readonly items: readonly Delivery[] }) {
  return (
    <Table
      caption="Deliveries, newest first"
      cells={[
        { title: 'Event' },
        { title: 'Subscription', wide: true },
        { title: 'State' },
        { title: 'Tries', number: true, wide: true },
        { title: 'Last answer' },
        { title: 'Next', wide: true },
        { title: 'Queued', wide: true },
      ]}
      rows={items.map(item => ({
        key: item.id,
        href: addressOf('webhooks', item.id),
        cells: [
          <span>
            <a href={addressOf('webhooks', item.id)} title={item.event_id}>
              <Name name={item.event} />
            </a>{' '}
            {markOf(item)}
            <span class="narrow whole">
              <Said text={item.webhook_id} />
            </span>
          </span>,
          <a href={addressOf('webhooks', undefined, { webhook: item.webhook_id })}>
            <Said text={item.webhook_id} />
          </a>,
          <Badge word={item.state} />,
          item.attempt,
          <Said text={lastOf(item)} />,
          item.due_at === null ? '' : shortTime(item.due_at),
          shortTime(item.created_at),
        ],
      }))}
      empty="No delivery. One is queued for each event that a subscription asked for."
    />
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
          show={answer => <SentOn id={String(answer['id'])} />}
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

interface Attempt {
  readonly number: number;
  readonly at: string;
  readonly address: string | null;
  readonly status: number | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly answer_headers: Readonly<Record<string, string>> | null;
  readonly answer_body: string | null;
}

interface Delivery {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event: string;
  readonly state: string;
  readonly attempt: number;
  readonly created_at: string;
  readonly due_at: string | null;
  readonly example: boolean;
  readonly edited: boolean;
  readonly signed: string;
  readonly attempts: readonly Attempt[];
}

type WholeDelivery = Delivery & SignedBody;

/** That it is no event of the account, or not as it was; empty for an ordinary one. */
const markOf = ({ example, edited, signed }: Delivery) =>
  [example && 'example', edited && 'edited', signed !== 'right' && `signed ${signed}`].filter(Boolean).join(', ');

export function DeliveryView({ id }: { readonly id: string }) {
  const { data, error } = useRow<WholeDelivery>('deliveries.get', { delivery_id: id });
  return (
    <section>
      <Head title="Delivery">
        <a href={addressOf('webhooks')}>All webhooks</a>
      </Head>
      {data === undefined ? <Waiting error={error} /> : <WholeShown delivery={data} />}
      <SameCommand row="deliveries.get" input={{ delivery_id: id }} />
    </section>
  );
}

/** Nothing may be redelivered that still goes. */
const goesByItself = ({ state }: Delivery) => state === 'queued' || state === 'sending';

/** Its state may change at once: the answer of the form would stay as it was. */
const SentOn = ({ id }: { readonly id: string }) => (
  <p>
    Queued: <a href={addressOf('webhooks', id)}>follow this delivery</a>.
  </p>
);

function WholeShown({ delivery }: { readonly delivery: WholeDelivery }) {
  const { id, webhook_id, event } = delivery;
  return (
    <div>
      <Facts
        facts={[
          ['Event', `${event} ${markOf(delivery)}`],
          ['State', <Badge word={delivery.state} />],
          ['Tries', delivery.attempt],
          ['Queued', shortTime(delivery.created_at)],
          ['Next', delivery.due_at === null ? '–' : shortTime(delivery.due_at)],
          [
            'Subscription',
            <a href={addressOf('webhooks', undefined, { webhook: webhook_id })}>
              <code class="id">{webhook_id}</code>
            </a>,
          ],
          ['Event id', <Id id={delivery.event_id} />],
          ['Delivery', <Id id={id} />],
        ]}
      />
      {goesByItself(delivery) ? (
        <p class="quiet">
          It goes by itself when its time comes on the clock of the sandbox. Sooner:{' '}
          <a href={addressOf('clock')}>move the clock</a>.
        </p>
      ) : (
        <RowForm
          row="deliveries.redeliver"
          fixed={{ delivery_id: id }}
          label="Redeliver"
          show={() => <p>Queued. Its state above follows.</p>}
        />
      )}
      <details>
        <summary>Edit and send</summary>
        <RowForm
          row="deliveries.send"
          fixed={{ webhook_id }}
          begins={{ event, body: delivery.body_hidden ? '' : delivery.body }}
          areas={['body']}
          label="Send"
          show={answer => <SentOn id={String(answer['id'])} />}
        />
      </details>
      <h2>Attempts</h2>
      <Attempts items={delivery.attempts} />
      <Signature delivery={delivery} />
    </div>
  );
}

function Attempts({ items }: { readonly items: readonly Attempt[] }) {
  return (
    <div>
      <Table
        caption="Attempts, oldest first"
        cells={[
          { title: 'Try', number: true },
          { title: 'Answer' },
          { title: 'Took', number: true },
          { title: 'At' },
          { title: 'Address', wide: true },
        ]}
        rows={items.map(attempt => ({
          key: String(attempt.number),
          cells: [
            attempt.number,
            attempt.status === null ? (
              <Said text={attempt.error ?? 'on its way'} />
            ) : (
              <Badge word={String(attempt.status)} />
            ),
            attempt.duration_ms === null ? '' : `${attempt.duration_ms} ms`,
            <Time iso={attempt.at} />,
            <Said text={attempt.address ?? ''} />,
          ],
        }))}
        empty="No attempt yet: it goes when its time comes on the clock of the sandbox."
      />
      {items.map(({ number, request_headers, answer_headers, answer_body }) => (
        <details key={number}>
          <summary>{`Try ${number}: headers and answer`}</summary>
          <Text label={`Headers of try ${number}`} text={headerLines(request_headers)} />
          <Text label={`Headers of the answer to try ${number}`} text={headerLines(answer_headers ?? {})} />
          <Text label={`Answer to try ${number}`} text={answer_body ?? ''} />
        </details>
      ))}
    </div>
  );
}

const headerLines = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

// How the signature of a delivery comes about, step by step, and where it goes wrong in the code of the receiver.

/** What a delivery says of its body and of the headers it went with. */
interface SignedBody {
  readonly webhook_id: string;
  readonly body: string;
  readonly body_hidden: boolean;
  readonly body_bytes: number;
  readonly body_sha256: string;
  readonly attempts: readonly { readonly request_headers: Readonly<Record<string, string>> }[];
}

interface JudgedAnswer {
  readonly matches: boolean;
  readonly secret: string | null;
  readonly deviations: readonly string[];
  readonly mistakes: readonly { readonly mistake: string; readonly says: string }[];
}

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
function Signature({ delivery }: { readonly delivery: SignedBody }) {
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
