/** The page: its header, the views, the keys, and what is shown when the session or the server is gone. */
import type { PageView } from '../../contract/sandbox/page-views.ts';
import { addressOf, useAddress } from '../address.ts';
import { hideTicket, START, ticketIn } from '../begin.ts';
import { type ComponentChildren, render, useEffect, useLayoutEffect, useMemo, useState } from '../elements.ts';
import { View, type ViewOf } from '../list.tsx';
import { Badge, Copy, counted, Facts, Head, Press, Said, shortTime } from '../parts.tsx';
import * as session from '../session.ts';
import { TABLES } from '../tables.ts';
import { CARDS } from '../views/cards.tsx';
import { Overview } from '../views/overview.tsx';
import { LOG } from '../views/requests.tsx';
import { Invariants, Snapshots } from '../views/sandbox.tsx';
import { Scenarios } from '../views/scenarios.tsx';
import { CHALLENGES, DEPOSITS, TRANSACTIONS } from '../views/transactions.tsx';
import { WEBHOOKS } from '../views/webhooks.tsx';
import { Clock, Faults, Simulate } from '../views/world.tsx';
import { keysAreOn, onKey, switchKeys } from './keys.ts';

interface Shown {
  readonly title: string;
  /** The letter that leads to it. */
  readonly key: string;
  readonly shows: (id: string | undefined) => ComponentChildren;
  /** Shows nothing of the store: it stays when all of that is replaced, with what was typed and what came of it. */
  readonly stays?: true;
}

const listed = <Item, Whole extends Item>(key: string, of: ViewOf<Item, Whole>): Shown => ({
  title: of.title,
  key,
  shows: id => <View of={of} id={id} />,
});

const VIEWS: Readonly<Record<PageView, Shown>> = {
  overview: { title: 'Overview', key: 'o', shows: () => <Overview /> },
  cards: listed('c', CARDS),
  transactions: listed('x', TRANSACTIONS),
  challenges: listed('d', CHALLENGES),
  deposits: listed('b', DEPOSITS),
  requests: listed('r', LOG),
  webhooks: listed('w', WEBHOOKS),
  simulate: { title: 'Simulate', key: 'm', shows: id => <Simulate id={id} /> },
  clock: { title: 'Clock', key: 't', shows: () => <Clock /> },
  faults: { title: 'Faults', key: 'f', shows: () => <Faults /> },
  scenarios: { title: 'Scenarios', key: 'n', shows: () => <Scenarios />, stays: true },
  snapshots: { title: 'Snapshots', key: 's', shows: () => <Snapshots /> },
  invariants: { title: 'Ledger check', key: 'i', shows: () => <Invariants /> },
};

const GROUPS: readonly (readonly [string, readonly PageView[]])[] = [
  ['Money', ['overview', 'cards', 'transactions', 'challenges', 'deposits']],
  ['Your code', ['requests', 'webhooks']],
  ['The world', ['simulate', 'clock', 'faults', 'scenarios']],
  ['The sandbox', ['snapshots', 'invariants']],
];

/** The overview has the shortest address. */
const placeOf = (name: string) => (name === 'overview' ? '' : name);

/** The first view begins where the document does; to move the focus there would lay it out before it has data. */
let isFirst = true;

/** The view of the address, begun anew each time that the store was replaced. */
function Here({ replaced }: { readonly replaced: number }) {
  const { view, id } = useAddress();
  const name = view === '' ? 'overview' : view;
  const shown = Object.hasOwn(VIEWS, name) ? VIEWS[name as PageView] : undefined;
  const key = shown?.stays ? name : `${name} ${replaced}`;
  // At once: a Tab typed at the new heading would go on from the old one, and lose the focus again.
  useLayoutEffect(() => {
    document.title = `${name} – cardwright sandbox`;
    if (!isFirst) {
      document.querySelector<HTMLElement>('h1')?.focus();
      window.scrollTo(0, 0);
    }
    isFirst = false;
  }, [key, id]);
  if (shown !== undefined) return <div key={key}>{shown.shows(id)}</div>;
  return (
    <section>
      <Head title="No such view" />
      <p>
        Choose one of the menu, or go to the <a href={addressOf('')}>overview</a>.
      </p>
    </section>
  );
}

function Header({ live: { marks, link, said } }: { readonly live: session.Live }) {
  const { view } = useAddress();
  useEffect(() => {
    const here = document.querySelector('nav [aria-current]');
    here?.scrollIntoView({ block: 'nearest', inline: 'center' });
    session.say('');
  }, [view]);
  return (
    <header>
      <p class="name">
        <b>cardwright</b> <span class="badge">SANDBOX · no real money</span>
      </p>
      <p class="state">
        {marks !== undefined && (
          <>
            <a
              href={addressOf('clock')}
              title={`The clock of the sandbox, ${marks.mode}. Real time ${new Date(performance.timeOrigin + performance.now()).toISOString()}`}
            >
              {`${shortTime(marks.now)} UTC`}
            </a>
            <Onward />
            <span role="status">{said}</span>
          </>
        )}
        {marks !== undefined && marks.faults > 0 && (
          <a href={addressOf('faults')}>{`${counted(marks.faults, 'fault')} active`}</a>
        )}
        <Badge word={link === 'live' ? 'live' : 'not live'} />
      </p>
      <nav aria-label="Views">
        {GROUPS.map(([group, names]) => (
          <div>
            <p id={`nav-${names[0]}`}>{group}</p>
            <ul aria-labelledby={`nav-${names[0]}`}>
              {names.map(name => {
                const { title, key } = VIEWS[name];
                const current = placeOf(name) === view ? 'page' : undefined;
                return (
                  <li>
                    <a href={addressOf(placeOf(name))} aria-current={current} aria-keyshortcuts={key}>
                      {title} <kbd>{key}</kbd>
                    </a>
                  </li>
                );
              })}
            </ul>
          </div>
        ))}
      </nav>
    </header>
  );
}

/** Time on, from every view; what fired stands in the clock. */
function Onward() {
  const canChange = session.useCanChange();
  const move = (by: string) =>
    session.callRow<{ readonly fired: readonly unknown[] }>('clock.advance', { by }).then(
      ({ fired }) => session.say(fired.length === 0 ? 'nothing was due' : `${fired.length} happened`),
      (error: unknown) => session.say((error as Error).message),
    );
  return (
    <span>
      {['1h', '7d'].map(by => (
        <Press label={`+${by}`} disabled={!canChange} onClick={() => void move(by)} title="Move the clock" />
      ))}
    </span>
  );
}

const LETTERS = new Map(Object.entries(VIEWS).map(([name, { key }]) => [key, addressOf(placeOf(name))]));

function Page() {
  const live = session.useLive();
  const [helps, help] = useState(false);
  useLayoutEffect(() => {
    const doing = { letters: LETTERS, help: () => help(!helps), close: () => help(false) };
    const listener = (event: KeyboardEvent) => onKey(event, doing);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, [helps]);
  const replaced = useReplaced(live);
  // A poll leaves the view as it is: what of it follows the polls does so by itself.
  const here = useMemo(() => <Here replaced={replaced.times} />, [replaced.times]);
  if (live.link === 'over') return <Over problem={live.problem ?? ''} />;
  const other = live.marks !== undefined && live.marks.version !== TABLES.version;
  return (
    <div class={live.link === 'stopped' ? 'frame stopped' : 'frame'}>
      <Header live={live} />
      {live.link === 'stopped' && (
        <p class="bar" role="alert">
          {`The sandbox does not answer${live.marks === undefined ? '' : `; this is as of ${shortTime(live.marks.now)} UTC`}. Start it: `}
          <code>{START}</code> <Copy text={START} />
        </p>
      )}
      {session.accessOf() === 'look' && (
        <p class="bar news">
          This session may look and change nothing. For one that may change: <code>cardwright sandbox open</code>
        </p>
      )}
      {other && (
        <p class="bar news">
          {`The server is version ${live.marks?.version}, this page ${TABLES.version}. `}
          <Press label="Load anew" onClick={() => location.reload()} />
        </p>
      )}
      {replaced.isTold && (
        <p class="bar news" role="status">
          {'Everything in the sandbox was replaced, by a reset, a restore or an import. '}
          <Press label="Close" onClick={replaced.close} />
        </p>
      )}
      {helps && <KeyHelp />}
      <main id="main">{here}</main>
    </div>
  );
}

/** Whether the store was replaced since the page began, or since somebody closed the line that says so. */
function useReplaced({ marks }: session.Live) {
  const [first, begin] = useState<number | undefined>(undefined);
  const [closed, close] = useState(0);
  useEffect(() => {
    if (first === undefined) begin(marks?.replaced);
  }, [marks?.replaced]);
  const times = first === undefined || marks === undefined ? 0 : marks.replaced - first;
  return { times, isTold: times !== closed, close: () => close(times) };
}

/** Keys beside those of the views. */
const OTHER_KEYS: readonly (readonly [string, string])[] = [
  ['/', 'search'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['p', 'simulate a purchase on this card'],
  ['y', 'copy the command of this view'],
  ['?', 'this list'],
  ['Escape', 'close this list'],
];

function KeyHelp() {
  const [on, turn] = useState(keysAreOn());
  const change = () => {
    switchKeys(!on);
    turn(!on);
  };
  const rows = [...Object.values(VIEWS).map(({ key, title }) => [key, title] as const), ...OTHER_KEYS];
  return (
    <section class="keys" aria-label="Keys">
      <Facts facts={rows.map(([key, does]) => [<kbd key={key}>{key}</kbd>, does])} />
      <p class="quiet">
        {'None of them in a field, or with Ctrl, Alt or Meta. '}
        <label>
          <input type="checkbox" checked={on} onChange={change} />
          {' Letters are on'}
        </label>
      </p>
    </section>
  );
}

/** How to get in, for whoever has no session: this one is over, or the server was started anew. */
function Over({ problem }: { readonly problem: string }) {
  const [address, type] = useState('');
  const command = 'cardwright sandbox open';
  const submit = async (event: Event) => {
    event.preventDefault();
    const ticket = ticketIn(address) ?? address.trim();
    if (/^[\w-]{20,64}$/.test(ticket)) await session.enter(ticket);
    else session.endSession('Paste the whole address: it holds #t= and the ticket.');
  };
  return (
    <main class="over">
      <h1 tabIndex={-1}>No session</h1>
      <p>This page has none yet, or its own is over, or the sandbox was started anew. Open one in a terminal:</p>
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
        <p class="row">
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
  hideTicket(new URL(event.oldURL).hash);
  void session.enter(ticket).finally(() => window.dispatchEvent(new HashChangeEvent('hashchange')));
});

const root = document.getElementById('page');
if (root !== null) {
  root.replaceChildren();
  render(<Page />, root);
}
