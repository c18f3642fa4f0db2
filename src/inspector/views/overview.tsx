/** Where the money is, what is open, and the events as they come. */
import { addressOf, refine, useAddress } from '../address.ts';
import { useState } from '../elements.ts';
import { count, Facts, fromNow, Head, Id, money, Name, SameCommand, Table, Time, Waiting } from '../parts.tsx';
import { useRow } from '../session.ts';
import { TABLES } from '../tables.ts';

interface OverviewData {
  readonly now: string;
  readonly data_set: string;
  readonly deposited: number;
  readonly wallet: number;
  readonly on_cards: number;
  readonly on_hold: number;
  readonly spent: number;
  readonly cards_active: number;
  readonly cards_frozen: number;
  readonly cards_terminated: number;
  readonly transactions: number;
  readonly open_holds: number;
  readonly open_challenges: number;
  readonly pending_deposits: number;
  readonly webhooks: number;
  readonly failed_deliveries: number;
  readonly events: number;
  readonly faults: number;
  readonly timers: number;
  readonly next_timer: { readonly due_at: string; readonly kind: string; readonly ref: string } | null;
}

export function Overview() {
  const { data, error } = useRow<OverviewData>('overview');
  return (
    <section>
      <Head title="Overview" />
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <div>
          <Flow held={data} />
          <Facts
            facts={[
              [
                'Cards',
                `${count(data.cards_active)} active, ${data.cards_frozen} frozen, ${data.cards_terminated} terminated`,
              ],
              ['Transactions', count(data.transactions)],
              ['Events', count(data.events)],
              ['Open holds', count(data.open_holds)],
              ['3DS challenges that wait', count(data.open_challenges)],
              ['Deposits that wait', count(data.pending_deposits)],
              [
                'Subscriptions',
                <a
                  href={addressOf('webhooks')}
                >{`${count(data.webhooks)}, ${count(data.failed_deliveries)} deliveries given up`}</a>,
              ],
              ['Active faults', <a href={addressOf('faults')}>{count(data.faults)}</a>],
              ['Next timer', <NextTimer data={data} />],
              ['Data set', data.data_set],
            ]}
          />
        </div>
      )}
      <SameCommand row="overview" />
      <Events />
    </section>
  );
}

function NextTimer({ data: { next_timer: next, now, timers } }: { readonly data: OverviewData }) {
  if (next === null) return <span>nothing happens by itself</span>;
  return (
    <a href={addressOf('clock')} title={`${next.due_at} ${next.ref}`}>
      {`${next.kind} ${fromNow(next.due_at, now)}, ${count(timers)} in all`}
    </a>
  );
}

/** What came in, and where it is now; the bar says the same as the numbers. */
function Flow({ held }: { readonly held: OverviewData }) {
  const parts = [
    { name: 'Wallet', amount: held.wallet, tone: 'wallet' },
    { name: 'On cards', amount: held.on_cards, tone: 'cards' },
    { name: 'On hold', amount: held.on_hold, tone: 'hold' },
    { name: 'Spent', amount: held.spent, tone: 'spent' },
  ];
  const cents = (amount: number) => Math.round(amount * 100);
  const sum = parts.reduce((total, { amount }) => total + cents(amount), 0);
  const agrees = sum === cents(held.deposited);
  const shown = parts.reduce((total, { amount }) => total + Math.max(0, amount), 0) || 1;
  let from = 0;
  return (
    <section class="flow" aria-labelledby="flow">
      <h2 id="flow">Money</h2>
      <svg viewBox="0 0 1000 24" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ tone, amount }) => {
          const width = (Math.max(0, amount) / shown) * 1000;
          from += width;
          return <rect class={`tone-${tone}`} x={from - width} y="0" width={width} height="24" />;
        })}
      </svg>
      <ol class="amounts">
        <li>
          <span>Deposited</span> <b>{money(held.deposited)}</b>
        </li>
        {parts.map(({ name, amount, tone }) => (
          <li>
            <span>
              <i class={`dot tone-${tone}`} aria-hidden="true" /> {name}
            </span>{' '}
            <b>{money(amount)}</b>
          </li>
        ))}
      </ol>
      <p class={agrees ? 'quiet' : 'problem'}>
        {`I10: ${money(held.deposited)} ${agrees ? '=' : '≠'} ${parts.map(({ amount }) => money(amount)).join(' + ')} ${agrees ? '✓' : '✗'}`}
      </p>
    </section>
  );
}

interface EventItem {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly body: string;
}

/** The object an event is about, by its id alone. */
function about(body: string): string {
  const { data } = JSON.parse(body) as { readonly data?: { readonly id?: string } };
  return data?.id ?? '';
}

function Events() {
  const { filters } = useAddress();
  const [paused, pause] = useState(false);
  const type = filters['type'] ?? '';
  const input = { type, order: 'desc', per_page: 30 };
  const { data, error } = useRow<{ readonly data: readonly EventItem[] }>('events', input, paused);
  return (
    <section aria-labelledby="events">
      <div class="head">
        <h2 id="events">Events</h2>
        <div class="actions">
          <label>
            Type{' '}
            <select
              value={type}
              onChange={event => refine(addressOf('', undefined, { type: event.currentTarget.value }))}
            >
              <option value="">all</option>
              {TABLES.events.map(each => (
                <option value={each}>{each}</option>
              ))}
            </select>
          </label>
          <button type="button" class="small" aria-pressed={paused} onClick={() => pause(!paused)}>
            {paused ? 'Go on' : 'Pause'}
          </button>
        </div>
      </div>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <Table
          caption="Events, newest first"
          cells={[{ title: 'No', number: true }, { title: 'Type' }, { title: 'At', wide: true }, { title: 'About' }]}
          rows={data.data.map(event => ({
            key: String(event.seq),
            cells: [
              <span title={event.id}>{count(event.seq)}</span>,
              <Name name={event.type} />,
              <Time iso={event.created_at} />,
              <Id id={about(event.body)} />,
            ],
          }))}
          empty={type === '' ? 'No event yet. Your code makes one when it creates a card.' : 'No event of this type.'}
        />
      )}
      <SameCommand row="events" input={{ type, per_page: 30 }} />
    </section>
  );
}
