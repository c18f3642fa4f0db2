/** One delivery whole: where it stands, its attempts, and what may be done with it. */
import { addressOf } from '../address.ts';
import { RowForm } from '../form.tsx';
import { useRow } from '../live.ts';
import { Badge, Facts, Head, Id, Said, SameCommand, Table, Text, Time, Waiting } from '../parts.tsx';
import { shortTime } from '../printable.ts';
import { Signature, type SignedBody } from './signature.tsx';

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

export interface Delivery {
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
export const markOf = ({ example, edited, signed }: Delivery) =>
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
export const SentOn = ({ id }: { readonly id: string }) => (
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
