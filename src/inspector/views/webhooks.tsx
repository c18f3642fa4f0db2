/** Subscriptions, their deliveries, and forms that send one. */
import { addressOf, refine, useAddress } from '../address.ts';
import { RowForm } from '../form.tsx';
import { useRow } from '../live.ts';
import { Badge, Head, Name, type PageFacts, Pages, Said, SameCommand, Table, Waiting } from '../parts.tsx';
import { shortTime } from '../printable.ts';
import { rowOf } from '../tables.ts';
import { type Delivery, markOf, SentOn } from './delivery.tsx';

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
          <code>cardwright --sandbox webhooks create --url http://127.0.0.1:3000/hook --events '*'</code>
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
