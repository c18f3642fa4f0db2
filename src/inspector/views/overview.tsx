/** Where the money is, what waits for somebody, what was spent by day, and the events as they come. */
import { DAY } from '../../core/durations.ts';
import { addressOf } from '../address.ts';
import { useState } from '../elements.ts';
import { Ask, filter, List, type ListOf } from '../list.tsx';
import { count, counted, Facts, fromNow, Head, money, Name, Part, Press, show } from '../parts.tsx';
import type { Reply, Told } from '../session.ts';
import { TABLES } from '../tables.ts';
import { aboutOf } from './webhooks.tsx';

type Totals = Reply<'overview'>;

/** Nothing else is asked before the totals are there. */
export const Overview = () => (
  <section>
    <Head title="Overview" />
    <Ask row="overview">
      {totals => (
        <>
          <Money totals={totals} />
          <div class="columns">
            <WhatThereIs totals={totals} />
            <Part title="Spending by day" isPanel>
              <Ask row="spending" input={{ days: DAYS, since: firstDay(totals.now) }}>
                {({ data }) => <Spending days={data} />}
              </Ask>
            </Part>
          </div>
          <Events />
        </>
      )}
    </Ask>
  </section>
);

/** What came in, and where it is now; the bar says the same as the numbers. */
function Money({ totals: { deposited, wallet, on_cards, on_hold, spent } }: { readonly totals: Totals }) {
  const parts = [
    ['Wallet', wallet, 'wallet'],
    ['On cards', on_cards, 'cards'],
    ['On hold', on_hold, 'hold'],
    ['Spent', spent, 'spent'],
  ] as const;
  const sum = parts.reduce((total, [, amount]) => total + Math.round(amount * 100), 0);
  const agrees = sum === Math.round(deposited * 100);
  const shown = parts.reduce((total, [, amount]) => total + Math.max(0, amount), 0) || 1;
  let from = 0;
  return (
    <Part title="Money" isPanel>
      <ol class="amounts">
        <li>
          <span>Deposited</span> <b>{money(deposited)}</b>
        </li>
        {parts.map(([name, amount, tone]) => (
          <li>
            <span>
              <i class={`dot tone-${tone}`} aria-hidden="true" /> {name}
            </span>{' '}
            <b>{money(amount)}</b>
          </li>
        ))}
      </ol>
      <svg class="bar-of" viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(([, amount, tone]) => {
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
    </Part>
  );
}

function WhatThereIs({ totals }: { readonly totals: Totals }) {
  const { next_timer: next, now } = totals;
  const link = (shown: string, view: string, filters = {}) => <a href={addressOf(view, filters)}>{shown}</a>;
  const pending = { status: 'pending' };
  const cards = `${count(totals.cards_active)} active, ${totals.cards_frozen} frozen, ${totals.cards_terminated} terminated`;
  return (
    <Part title="What there is" isPanel>
      <Facts
        facts={[
          ['Cards', link(cards, 'cards')],
          ['Transactions', link(count(totals.transactions), 'transactions')],
          ['Purchases on hold', link(count(totals.open_holds), 'transactions', { type: 'authorization', ...pending })],
          ['Challenges that wait for a code', link(count(totals.open_challenges), 'challenges', pending)],
          ['Deposits to confirm', link(count(totals.pending_deposits), 'deposits', pending)],
          ['Webhook subscriptions', link(count(totals.webhooks), 'webhooks')],
          ['Deliveries that failed for good', link(count(totals.failed_deliveries), 'webhooks', { state: 'failed' })],
          ['Deliveries to be tried again', link(count(totals.retried_deliveries), 'webhooks', { state: 'queued' })],
          ['Faults that are active', link(count(totals.faults), 'faults')],
          ['Events', count(totals.events)],
          [
            'Next to happen by itself',
            next === null ? (
              'nothing'
            ) : (
              <a href={addressOf('clock')} title={`${next.due_at} ${next.ref}`}>
                <Name name={next.kind} /> {`${fromNow(next.due_at, now)}, ${count(totals.timers)} in all`}
              </a>
            ),
          ],
          ['Data set', totals.data_set],
        ]}
      />
    </Part>
  );
}

/** Of spending, the last of them not over yet. */
const DAYS = 14;

/** The command counts from a day on. */
const firstDay = (now: string) => new Date(Date.parse(now) - (DAYS - 1) * DAY).toISOString().slice(0, 10);

/** Bars of the newest days; every bar has its numbers in words. */
function Spending({ days }: { readonly days: readonly Told<'spending'>[] }) {
  const most = Math.max(...days.map(({ spent }) => spent), 0.01);
  const sum = (of: 'spent' | 'purchases' | 'declined') => days.reduce((total, day) => total + day[of], 0);
  return (
    <figure>
      <ol class="days" aria-label="Days, UTC">
        {days.map(({ day, spent, purchases, declined }) => {
          const words = `${day}: ${money(spent)} spent, ${counted(purchases, 'purchase')}, ${count(declined)} declined`;
          const height = spent <= 0 ? 0 : Math.max(2, (spent / most) * 100);
          return (
            <li title={words}>
              <span class="unseen">{words}</span>
              <svg viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
                <rect class="tone-none" width="10" height="100" />
                <rect class="tone-cards" y={100 - height} width="10" height={height} />
              </svg>
              <span class="quiet" aria-hidden="true">
                {day.slice(8)}
              </span>
            </li>
          );
        })}
      </ol>
      <figcaption class="quiet">
        {`${money(sum('spent'))} settled in ${DAYS} days; ${counted(sum('purchases'), 'purchase')}, `}
        <a href={addressOf('transactions', { type: 'decline' })}>{`${count(sum('declined'))} declined`}</a>
        {`. Busiest day ${money(Math.max(0, ...days.map(({ spent }) => spent)))}.`}
      </figcaption>
    </figure>
  );
}

const EVENTS: ListOf<Told<'events'>> = {
  row: 'events',
  caption: 'Events, newest first',
  opens: ({ id }) => addressOf('webhooks', { event_id: id }),
  fields: [
    show.name('Event', event => event.type),
    show.id('About', event => aboutOf(event.body)),
    show.time('Time', event => event.created_at),
    show.number('Number', event => event.seq, 'm'),
  ],
  filters: [filter.choice('type', 'Event', TABLES.events), filter.day],
  empty: 'No event. Your code makes one when it creates a card.',
};

function Events() {
  const [paused, pause] = useState(false);
  return (
    <Part title="Events">
      <Press label={paused ? 'Go on' : 'Pause'} aria-pressed={paused} onClick={() => pause(!paused)} />
      <List view="" list={EVENTS} fixed={{ order: 'desc' }} paused={paused} />
    </Part>
  );
}
