/** Where the money is, what waits for somebody, what was spent by day, and the events as they come. */
import { addressOf } from '../address.ts';
import { useState } from '../elements.ts';
import { FilteredList, type ListOf } from '../list.tsx';
import { count, Facts, fromNow, Head, Id, money, Name, SameCommand, Time, Waiting } from '../parts.tsx';
import { type Told, useRow } from '../session.ts';
import { TABLES } from '../tables.ts';

type OverviewData = Told<'overview'>;

export function Overview() {
  const { data, error } = useRow<OverviewData>('overview');
  return (
    <section>
      <Head title="Overview" />
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <>
          <Money held={data} />
          <div class="columns">
            <Waits data={data} />
            <Spending />
          </div>
        </>
      )}
      <SameCommand row="overview" />
      <Events />
    </section>
  );
}

/** What came in, and where it is now; the bar says the same as the numbers. */
function Money({ held }: { readonly held: OverviewData }) {
  const parts = [
    { name: 'Wallet', amount: held.wallet, tone: 'wallet' },
    { name: 'On cards', amount: held.on_cards, tone: 'cards' },
    { name: 'On hold', amount: held.on_hold, tone: 'hold' },
    { name: 'Spent', amount: held.spent, tone: 'spent' },
  ];
  const cents = (amount: number) => Math.round(amount * 100);
  const agrees = parts.reduce((total, { amount }) => total + cents(amount), 0) === cents(held.deposited);
  const shown = parts.reduce((total, { amount }) => total + Math.max(0, amount), 0) || 1;
  let from = 0;
  return (
    <section class="panel" aria-labelledby="money">
      <h2 id="money">Money</h2>
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
      <svg class="bar-of" viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ tone, amount }) => {
          const width = (Math.max(0, amount) / shown) * 1000;
          from += width;
          return <rect class={`tone-${tone}`} x={from - width} y="0" width={width} height="12" />;
        })}
      </svg>
      <p class={agrees ? 'quiet' : 'problem'}>
        {agrees
          ? 'It adds up: what was deposited is in the wallet, on cards, on hold or spent.'
          : 'It does not add up: wallet, cards, holds and spending are not what was deposited.'}
      </p>
    </section>
  );
}

function Waits({ data }: { readonly data: OverviewData }) {
  const { next_timer: next, now } = data;
  const link = (number: number, view: string, filters = {}) => (
    <a href={addressOf(view, undefined, filters)}>{count(number)}</a>
  );
  const pending = { status: 'pending' };
  return (
    <section class="panel" aria-labelledby="state">
      <h2 id="state">What there is</h2>
      <Facts
        facts={[
          [
            'Cards',
            <a
              href={addressOf('cards')}
            >{`${count(data.cards_active)} active, ${data.cards_frozen} frozen, ${data.cards_terminated} terminated`}</a>,
          ],
          ['Transactions', link(data.transactions, 'transactions')],
          ['Purchases on hold', link(data.open_holds, 'transactions', { type: 'authorization', ...pending })],
          ['Challenges that wait for a code', link(data.open_challenges, 'challenges', pending)],
          ['Deposits to confirm', link(data.pending_deposits, 'deposits', pending)],
          [
            'Webhooks',
            <span>
              {link(data.webhooks, 'webhooks')}
              {', '}
              <a
                href={addressOf('webhooks', undefined, { state: 'failed' })}
              >{`${count(data.failed_deliveries)} deliveries failed`}</a>
            </span>,
          ],
          ['Faults that are active', link(data.faults, 'faults')],
          ['Events', count(data.events)],
          [
            'Next to happen by itself',
            next === null ? (
              'nothing'
            ) : (
              <a href={addressOf('clock')} title={`${next.due_at} ${next.ref}`}>
                <Name name={next.kind} />
                {` ${fromNow(next.due_at, now)}, ${count(data.timers)} in all`}
              </a>
            ),
          ],
          ['Data set', data.data_set],
        ]}
      />
    </section>
  );
}

type SpentDay = Told<'spending'>;

/** Bars of the newest days; every bar has its numbers in words. */
function Spending() {
  const { data, error } = useRow<{ readonly data: readonly SpentDay[] }>('spending', { days: 14 });
  const days = data?.data ?? [];
  const most = Math.max(...days.map(({ spent }) => spent), 0.01);
  const sum = (of: 'spent' | 'purchases' | 'declined') => days.reduce((total, day) => total + day[of], 0);
  return (
    <section class="panel" aria-labelledby="spending">
      <h2 id="spending">Spending by day</h2>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <figure>
          <ol class="days" aria-label="Days, UTC">
            {days.map(({ day, spent, purchases, declined }) => {
              const words = `${day}: ${money(spent)} spent, ${count(purchases)} purchases, ${count(declined)} declined`;
              return (
                <li title={words}>
                  <span class="unseen">{words}</span>
                  <svg viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
                    <rect class="back" x="0" y="0" width="10" height="100" />
                    <rect
                      class="tone-cards"
                      x="0"
                      y={100 - height(spent, most)}
                      width="10"
                      height={height(spent, most)}
                    />
                  </svg>
                  <span class="quiet" aria-hidden="true">
                    {day.slice(8)}
                  </span>
                </li>
              );
            })}
          </ol>
          <figcaption>
            {`${money(sum('spent'))} settled in 14 days; ${count(sum('purchases'))} purchases, ${count(sum('declined'))} declined. Busiest day ${money(Math.max(0, ...days.map(({ spent }) => spent)))}.`}
          </figcaption>
        </figure>
      )}
    </section>
  );
}

const height = (spent: number, most: number) => (spent <= 0 ? 0 : Math.max(2, (spent / most) * 100));

type EventItem = Told<'events'>;

/** The object an event is about, by its id alone. */
function about(body: string): string {
  const { data } = JSON.parse(body) as { readonly data?: { readonly id?: string } };
  return data?.id ?? '';
}

const EVENTS: ListOf<EventItem> = {
  row: 'events',
  caption: 'Events, newest first',
  keyOf: ({ id }) => id,
  href: ({ id }) => addressOf('webhooks', undefined, { event_id: id }),
  columns: [
    {
      title: 'Event',
      shows: ({ type, id, seq }) => (
        <a href={addressOf('webhooks', undefined, { event_id: id })} title={`${id}, number ${seq}: its deliveries`}>
          <Name name={type} />
        </a>
      ),
      isWide: true,
    },
    { title: 'About', shows: ({ body }) => <Id id={about(body)} /> },
    { title: 'Time (UTC)', shows: ({ created_at }) => <Time iso={created_at} isInTable />, under: true },
    { title: 'Number', shows: ({ seq }) => count(seq), number: true, from: 'm' },
  ],
  filters: [{ name: 'type', label: 'Event', choices: TABLES.events }],
  empty: 'No event. Your code makes one when it creates a card.',
};

function Events() {
  const [paused, pause] = useState(false);
  return (
    <section aria-labelledby="events">
      <div class="head">
        <h2 id="events">Events</h2>
        <button type="button" class="small" aria-pressed={paused} onClick={() => pause(!paused)}>
          {paused ? 'Go on' : 'Pause'}
        </button>
      </div>
      <FilteredList view="" list={EVENTS} fixed={{ order: 'desc' }} paused={paused} />
    </section>
  );
}
