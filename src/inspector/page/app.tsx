/** The page: its header, the views, the keys, and what is shown when the session or the server is gone. */
import { PAGE_VIEWS } from '../../contract/sandbox/page-views.ts';
import { addressOf, countSteps, go, useAddress } from '../address.ts';
import { render, useEffect, useLayoutEffect, useState } from '../elements.ts';
import { shortTime, useCanChange } from '../parts.tsx';
import { accessOf, begin, callRow, endSession, type Live, useLive, watch, whenGivenLate } from '../session.ts';
import { TABLES } from '../tables.ts';
import { Card, Cards } from '../views/cards.tsx';
import { Invariants, Why } from '../views/checks.tsx';
import { Clock } from '../views/clock.tsx';
import { Faults } from '../views/faults.tsx';
import { Overview } from '../views/overview.tsx';
import { Request, Requests } from '../views/requests.tsx';
import { Scenarios, Simulate } from '../views/simulate.tsx';
import { Snapshots } from '../views/snapshots.tsx';
import { DeliveryView, Webhooks } from '../views/webhooks.tsx';
import { KEYS, keysAreOn, onKey, switchKeys } from './keys.ts';

const ADDRESSES = PAGE_VIEWS.map(name => ({ name, view: name === 'overview' ? '' : name }));

function View() {
  const { view, id } = useAddress();
  // At once: a Tab typed at the new heading would go on from the old one, and lose the focus again.
  useLayoutEffect(() => {
    document.title = `${view === '' ? 'overview' : view} – cardwright sandbox`;
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: false });
    window.scrollTo(0, 0);
  }, [view, id]);
  switch (view) {
    case '':
      return <Overview />;
    case 'cards':
      return id === undefined ? <Cards /> : <Card key={id} id={id} />;
    case 'requests':
      return id === undefined ? <Requests /> : <Request id={id} />;
    case 'webhooks':
      return id === undefined ? <Webhooks /> : <DeliveryView key={id} id={id} />;
    case 'why':
      return id === undefined ? <NoView /> : <Why id={id} />;
    case 'clock':
      return <Clock />;
    case 'faults':
      return <Faults />;
    case 'simulate':
      return <Simulate id={id} />;
    case 'snapshots':
      return <Snapshots />;
    case 'scenarios':
      return <Scenarios />;
    case 'invariants':
      return <Invariants />;
    default:
      return <NoView />;
  }
}

const NoView = () => (
  <section>
    <h1 tabIndex={-1}>No such view</h1>
    <p>
      <a href={addressOf('')}>Overview</a>
    </p>
  </section>
);

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
          <span title={`real time ${new Date(performance.timeOrigin + performance.now()).toISOString()}`}>
            {`${shortTime(marks.now)} ${marks.mode}`}
          </span>
        )}
        {marks !== undefined && <Onward />}
        {marks !== undefined && marks.faults > 0 && (
          <a href={addressOf('faults')}>{`${marks.faults} ${marks.faults === 1 ? 'fault' : 'faults'}`}</a>
        )}
        {marks?.ledger_ok === true && (
          <a href={addressOf('invariants')} title="All invariants held when somebody last looked">
            I ✓
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
        <ul>
          {ADDRESSES.map(({ name, view: own }) => (
            <li>
              <a href={addressOf(own)} aria-current={own === view ? 'page' : undefined} aria-keyshortcuts={KEYS[name]}>
                {name} <kbd>{KEYS[name]}</kbd>
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  );
}

/** Time on, from every view; what fired stands in the clock. */
function Onward() {
  const [said, say] = useState('');
  const canChange = useCanChange() && accessOf() === 'full';
  const move = (by: string) =>
    callRow<{ readonly fired: readonly unknown[] }>('clock.advance', { by }).then(
      ({ fired }) => say(`${fired.length} fired`),
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
    <div class={live.link === 'stopped' ? 'stopped' : ''}>
      <Header live={live} />
      {live.link === 'stopped' && (
        <p class="bar" role="alert">
          {`The sandbox does not answer${live.marks === undefined ? '' : `; this is as of ${shortTime(live.marks.now)}`}. Start it: `}
          <code>cardwright sandbox start</code>
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
    ...ADDRESSES.map(({ name }) => [KEYS[name] ?? '', name] as const),
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

const Over = () => (
  <main class="over">
    <h1 tabIndex={-1}>No session</h1>
    <p>This page shows nothing without a session. Open one in a terminal:</p>
    <p class="command">
      <code>cardwright sandbox open</code>
    </p>
  </main>
);

// An address with a ticket, typed over that of this page, loads nothing by itself.
window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#t=')) location.reload();
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
