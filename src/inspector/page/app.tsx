/** The page: its header, the views, the keys, and what is shown when the session or the server is gone. */
import { PAGE_VIEWS, type PageView } from '../../contract/sandbox/page-views.ts';
import { addressOf, countSteps, go, useAddress } from '../address.ts';
import { type ComponentChildren, render, useEffect, useLayoutEffect, useState } from '../elements.ts';
import { Copy, Said, shortTime } from '../parts.tsx';
import {
  accessOf,
  begin,
  callRow,
  endSession,
  enter,
  hideTicket,
  type Live,
  ticketIn,
  useCanChange,
  useLive,
  watch,
  whenGivenLate,
} from '../session.ts';
import { TABLES } from '../tables.ts';
import { Card, Cards } from '../views/cards.tsx';
import { Invariants } from '../views/checks.tsx';
import { Overview } from '../views/overview.tsx';
import { Request, Requests } from '../views/requests.tsx';
import { Scenarios } from '../views/scenarios.tsx';
import { Snapshots } from '../views/snapshots.tsx';
import {
  Challenges,
  ChallengeView,
  Deposits,
  DepositView,
  Transactions,
  TransactionView,
} from '../views/transactions.tsx';
import { DeliveryView, Webhooks } from '../views/webhooks.tsx';
import { Clock, Faults, Simulate } from '../views/world.tsx';
import { KEYS, keysAreOn, onKey, switchKeys } from './keys.ts';

/** A view of its own, and of one thing by its id where there is one. */
const VIEWS: Readonly<Record<PageView, (id: string | undefined) => ComponentChildren>> = {
  overview: () => <Overview />,
  cards: id => (id === undefined ? <Cards /> : <Card key={id} id={id} />),
  transactions: id => (id === undefined ? <Transactions /> : <TransactionView key={id} id={id} />),
  challenges: id => (id === undefined ? <Challenges /> : <ChallengeView key={id} id={id} />),
  deposits: id => (id === undefined ? <Deposits /> : <DepositView key={id} id={id} />),
  requests: id => (id === undefined ? <Requests /> : <Request key={id} id={id} />),
  webhooks: id => (id === undefined ? <Webhooks /> : <DeliveryView key={id} id={id} />),
  clock: () => <Clock />,
  faults: () => <Faults />,
  simulate: id => <Simulate id={id} />,
  snapshots: () => <Snapshots />,
  scenarios: () => <Scenarios />,
  invariants: () => <Invariants />,
};

const TITLES: Partial<Record<PageView, string>> = { challenges: '3DS challenges', invariants: 'Ledger check' };
const titleOf = (name: PageView) => TITLES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);

function View() {
  const { view, id } = useAddress();
  // At once: a Tab typed at the new heading would go on from the old one, and lose the focus again.
  useLayoutEffect(() => {
    document.title = `${view === '' ? 'overview' : view} – cardwright sandbox`;
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: false });
    window.scrollTo(0, 0);
  }, [view, id]);
  const name = view === '' ? 'overview' : view;
  return Object.hasOwn(VIEWS, name) ? VIEWS[name as PageView](id) : <NoView />;
}

const NoView = () => (
  <section>
    <h1 tabIndex={-1}>No such view</h1>
    <p>
      <a href={addressOf('')}>Overview</a>
    </p>
  </section>
);

/** A detail page marks the list that it stands in. */
const placeOf = (name: PageView) => (name === 'overview' ? '' : name);

const GROUPS: readonly (readonly [string, readonly PageView[]])[] = [
  ['Money', ['overview', 'cards', 'transactions', 'challenges', 'deposits']],
  ['Your code', ['requests', 'webhooks']],
  ['The world', ['simulate', 'clock', 'faults', 'scenarios']],
  ['The sandbox', ['snapshots', 'invariants']],
];

function Header({ live: { marks, link } }: { readonly live: Live }) {
  const { view } = useAddress();
  useEffect(() => {
    const here = document.querySelector('nav [aria-current]');
    here?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [view]);
  return (
    <header>
      <p class="name">
        <b>cardwright</b> <span class="badge">SANDBOX · no real money</span>
      </p>
      <p class="state">
        {marks !== undefined && (
          <a
            href={addressOf('clock')}
            title={`The clock of the sandbox, ${marks.mode}. Real time ${new Date(performance.timeOrigin + performance.now()).toISOString()}`}
          >
            {`${shortTime(marks.now)} UTC`}
          </a>
        )}
        {marks !== undefined && <Onward />}
        {marks !== undefined && marks.faults > 0 && (
          <a href={addressOf('faults')}>{`${marks.faults} ${marks.faults === 1 ? 'fault' : 'faults'} active`}</a>
        )}
        {marks?.ledger_ok === true && (
          <a href={addressOf('invariants')} title="Every rule of the ledger held when somebody last looked">
            Ledger is right
          </a>
        )}
        {marks?.ledger_ok === false && (
          <a class="problem" href={addressOf('invariants')}>
            Ledger broken
          </a>
        )}
        <span class={`badge ${link === 'live' ? 'good' : 'bad'}`}>{link === 'live' ? 'live' : 'not live'}</span>
      </p>
      <nav aria-label="Views">
        {GROUPS.map(([group, names]) => (
          <div>
            <p id={`nav-${names[0]}`}>{group}</p>
            <ul aria-labelledby={`nav-${names[0]}`}>
              {names.map(name => (
                <li>
                  <a
                    href={addressOf(placeOf(name))}
                    aria-current={placeOf(name) === view ? 'page' : undefined}
                    aria-keyshortcuts={KEYS[name]}
                  >
                    {titleOf(name)} <kbd>{KEYS[name]}</kbd>
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </header>
  );
}

/** Time on, from every view; what fired stands in the clock. */
function Onward() {
  const [said, say] = useState('');
  const canChange = useCanChange();
  const move = (by: string) =>
    callRow<{ readonly fired: readonly unknown[] }>('clock.advance', { by }).then(
      ({ fired }) => say(fired.length === 0 ? 'nothing was due' : `${fired.length} happened`),
      (error: unknown) => say((error as Error).message),
    );
  return (
    <span class="onward">
      {['1h', '7d'].map(by => (
        <button
          type="button"
          class="small"
          disabled={!canChange}
          onClick={() => void move(by)}
          aria-label={`Move the clock by ${by}`}
        >
          {`+${by}`}
        </button>
      ))}
      <span role="status">{said}</span>
    </span>
  );
}

function Page() {
  const live = useLive();
  const [helps, help] = useState(false);
  useLayoutEffect(() => {
    const close = () => {
      help(false);
      return helps;
    };
    const listener = (event: KeyboardEvent) => onKey(event, { go, help: () => help(!helps), close });
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, [helps]);
  const replaced = useReplaced(live);
  if (live.link === 'over') return <Over />;
  const other = live.marks !== undefined && live.marks.version !== TABLES.version;
  return (
    <div class={live.link === 'stopped' ? 'frame stopped' : 'frame'}>
      <Header live={live} />
      {live.link === 'stopped' && (
        <p class="bar" role="alert">
          {`The sandbox does not answer${live.marks === undefined ? '' : `; this is as of ${shortTime(live.marks.now)}`}. Start it: `}
          <code>cardwright sandbox start</code> <Copy text="cardwright sandbox start" />
        </p>
      )}
      {accessOf() === 'look' && (
        <p class="bar news">
          This session may look and change nothing. For one that may change: <code>cardwright sandbox open</code>
        </p>
      )}
      {other && (
        <p class="bar news">
          {`The server is version ${live.marks?.version}, this page ${TABLES.version}. `}
          <button type="button" class="small" onClick={() => location.reload()}>
            Load anew
          </button>
        </p>
      )}
      {replaced.isTold && (
        <p class="bar news" role="status">
          {'Everything in the sandbox was replaced, by a reset, a restore or an import. '}
          <button type="button" class="small" onClick={replaced.close}>
            Close
          </button>
        </p>
      )}
      {helps && <KeyHelp />}
      <main id="main">
        <View key={replaced.times} />
      </main>
    </div>
  );
}

/** Whether the store was replaced since the page began, or since somebody closed the line that says so. */
function useReplaced({ marks }: Live) {
  const [first, begin] = useState<number | undefined>(undefined);
  const [closed, close] = useState(0);
  useEffect(() => {
    if (first === undefined) begin(marks?.replaced);
  }, [marks?.replaced]);
  const times = first === undefined || marks === undefined ? 0 : marks.replaced - first;
  return { times, isTold: times !== closed, close: () => close(times) };
}

function KeyHelp() {
  const [on, turn] = useState(keysAreOn());
  const rows: readonly (readonly [string, string])[] = [
    ...PAGE_VIEWS.map(name => [KEYS[name], titleOf(name)] as const),
    ['/', 'search'],
    ['j k', 'next and previous row'],
    ['Enter', 'open the row'],
    ['p', 'simulate a purchase on this card'],
    ['y', 'copy the command of this view'],
    ['?', 'this list'],
    ['Escape', 'close this list, or one step back in this page'],
  ];
  return (
    <section class="keys" aria-label="Keys">
      <dl class="facts">
        {rows.map(([key, does]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        {'None of them in a field, or with Ctrl, Alt or Meta. '}
        <label>
          <input
            type="checkbox"
            checked={on}
            onChange={() => {
              switchKeys(!on);
              turn(!on);
            }}
          />
          {' Letters are on'}
        </label>
      </p>
    </section>
  );
}

/** How to get in, for whoever has no session: this one is over, or the server was started anew. */
function Over() {
  const [address, type] = useState('');
  const [problem, tell] = useState('');
  const command = 'cardwright sandbox open';
  const submit = async (event: Event) => {
    event.preventDefault();
    const ticket = ticketIn(address) ?? address.trim();
    if (!/^[\w-]{20,64}$/.test(ticket)) return tell('Paste the whole address: it holds #t= and the ticket.');
    await enter(ticket).catch((error: unknown) => tell((error as Error).message));
  };
  return (
    <main class="over">
      <h1 tabIndex={-1}>No session</h1>
      <p>This page shows nothing without a session. Open one in a terminal:</p>
      <p class="command">
        <code>{command}</code> <Copy text={command} />
      </p>
      <form onSubmit={event => void submit(event)} noValidate>
        <div class={problem === '' ? 'field' : 'field wrong'}>
          <label for="ticket">
            {'Or paste the address that this prints: '}
            <code>{`${command} --print`}</code>
          </label>
          <input
            id="ticket"
            type="password"
            autoComplete="off"
            aria-invalid={problem !== ''}
            aria-describedby="ticket-problem"
            value={address}
            onInput={event => type(event.currentTarget.value)}
          />
          <small id="ticket-problem" class="problem" role="alert">
            <Said text={problem} />
          </small>
        </div>
        <p class="buttons">
          <button type="submit">Open</button>
        </p>
      </form>
    </main>
  );
}

// An address with a ticket, typed over that of this page, loads nothing by itself.
window.addEventListener('hashchange', event => {
  const ticket = ticketIn(location.hash);
  if (ticket === undefined) return;
  event.stopImmediatePropagation();
  hideTicket();
  void enter(ticket)
    .catch(endSession)
    .finally(() => window.dispatchEvent(new HashChangeEvent('hashchange')));
});

whenGivenLate(() => location.reload());

const root = document.getElementById('page');
if (root !== null) {
  const hasSession = await begin();
  countSteps();
  if (!hasSession) endSession();
  root.replaceChildren();
  render(<Page />, root);
  if (hasSession) void watch();
}
