/** What the world outside does, its time, and what fails on purpose. */
import { addressOf, refine, useAddress } from '../address.ts';
import { useState } from '../elements.ts';
import { RowForm } from '../form.tsx';
import { Asked, type ListOf, Rows, type TableOf } from '../list.tsx';
import { Badge, Copy, Facts, fromNow, Head, Id, Name, Said, SameCommand, shortTime, Time, Waiting } from '../parts.tsx';
import { callRow, type Told, useAct, useCanChange, useLive, useRow } from '../session.ts';
import { commandLine, TABLES } from '../tables.ts';

const SIMULATIONS = Object.keys(TABLES.rows).filter(name => name.startsWith('simulate.'));

export function Simulate({ id }: { readonly id: string | undefined }) {
  const { filters } = useAddress();
  const chosen = id !== undefined && SIMULATIONS.includes(id) ? id : 'simulate.authorize';
  return (
    <section>
      <Head title="Simulate" />
      <p class="filters">
        <label>
          What happens{' '}
          <select
            id="search"
            value={chosen}
            onChange={event => refine(addressOf('simulate', event.currentTarget.value, filters))}
          >
            {SIMULATIONS.map(name => (
              <option value={name}>{TABLES.rows[name]?.summary}</option>
            ))}
          </select>
        </label>
      </p>
      <RowForm key={chosen + JSON.stringify(filters)} row={chosen} begins={filters} label="Simulate" />
      <p class="quiet">
        The page is the world outside. What your code does (create, fund, freeze) it does itself, with a key and a line
        in the log.
      </p>
    </section>
  );
}

// The clock: what it shows, moving it, and what happens by itself.

type ClockData = Told<'clock.show'>;

const MODES: Readonly<Record<string, string>> = {
  real: 'it shows the real time',
  offset: 'it runs as real time does, from another moment on',
  frozen: 'it stands still until you move it',
  scaled: 'it runs faster or slower than real time',
};

export function Clock() {
  const { data, error } = useRow<ClockData>('clock.show');
  const { marks } = useLive();
  const now = marks?.now ?? data?.now;
  return (
    <section>
      <Head title="Clock" />
      {data === undefined || now === undefined ? (
        <Waiting error={error} />
      ) : (
        <>
          <p class="lead">
            <Time iso={now} />
          </p>
          <Facts
            facts={[
              ['Mode', `${data.mode}: ${MODES[data.mode] ?? ''}`],
              ['Speed', `${data.rate} × real time`],
            ]}
          />
        </>
      )}
      <SameCommand row="clock.show" />
      <div class="columns">
        <section class="panel" aria-labelledby="advance">
          <h2 id="advance">Move it forward</h2>
          <p class="quiet">What becomes due on the way happens in order, each at its own time.</p>
          <RowForm
            row="clock.advance"
            begins={{ by: '7d' }}
            label="Advance"
            show={answer => <FiredList now={String(answer['now'])} fired={answer['fired'] as readonly Fired[]} />}
          />
        </section>
        <section class="panel" aria-labelledby="set">
          <h2 id="set">Set it</h2>
          {data !== undefined && <RowForm row="clock.set" begins={{ mode: data.mode }} label="Set" />}
        </section>
      </div>
      <Timers now={now} />
    </section>
  );
}

type Fired = Told<'clock.advance'>['fired'][number];

const FIRED: TableOf<Fired> = {
  caption: 'What happened on the way',
  keyOf: ({ due_at, kind, ref }) => `${due_at} ${kind} ${ref}`,
  columns: [
    { title: 'What', shows: ({ kind, error }) => <Said text={error === undefined ? kind : `${kind}: ${error}`} /> },
    { title: 'About', shows: ({ ref }) => <Id id={ref} /> },
    { title: 'Time (UTC)', shows: ({ due_at: at }) => <Time iso={at} isInTable /> },
  ],
  empty: 'Nothing became due.',
};

const MOST_FIRED = 200;

const FiredList = ({ now, fired }: { readonly now: string; readonly fired: readonly Fired[] }) => (
  <div>
    <p>{`It shows ${shortTime(now)} UTC. ${fired.length === 0 ? '' : `${fired.length} happened:`}`}</p>
    <Rows list={FIRED} items={fired.slice(0, MOST_FIRED)} />
    {fired.length > MOST_FIRED && <p class="quiet">{`${fired.length - MOST_FIRED} more`}</p>}
  </div>
);

type Timer = Told<'timers'>;

function Timers({ now }: { readonly now: string | undefined }) {
  const [page, setPage] = useState(1);
  const timers: ListOf<Timer> = {
    row: 'timers',
    caption: 'Timers, earliest first',
    keyOf: ({ kind, ref }) => `${kind} ${ref}`,
    columns: [
      { title: 'When', shows: ({ due_at: at }) => (now === undefined ? '' : fromNow(at, now)) },
      {
        title: 'What',
        shows: ({ kind, error }) => (
          <span>
            <Name name={kind} /> {error !== null && <Said text={error} />}
          </span>
        ),
      },
      { title: 'About', shows: ({ ref }) => <Id id={ref} />, under: true },
      { title: 'State', shows: ({ state }) => <Badge word={state} />, from: 'm' },
      { title: 'Time (UTC)', shows: ({ due_at: at }) => <Time iso={at} isInTable />, under: true },
    ],
    empty: 'Nothing happens by itself. A purchase on hold or a pending deposit brings a timer.',
  };
  const input = page === 1 ? {} : { page };
  return (
    <section aria-labelledby="timers">
      <h2 id="timers">What happens by itself</h2>
      <Asked list={timers} input={input} goTo={setPage} />
      <SameCommand row="timers" input={input} />
    </section>
  );
}

// Fault rules: what they met, presets, and a rule as JSON that is checked by the sandbox.

type Rule = Told<'faults'>;

const PRESETS: readonly (readonly [string, object])[] = [
  [
    'The next create loses its answer',
    { match: { operation: 'cards.create' }, phase: 'after_commit', action: { kind: 'reset' }, times: 1 },
  ],
  [
    'The next three are limited (429)',
    { match: {}, phase: 'before', action: { kind: 'status', code: 429, retry_after: '1' }, times: 3 },
  ],
  ['Everything takes 2 s', { match: {}, phase: 'before', action: { kind: 'latency', fixed: 2000 } }],
  ['The next one fails (500)', { match: {}, phase: 'before', action: { kind: 'status', code: 500 }, times: 1 }],
];

const RULES: ListOf<Rule> = {
  row: 'faults',
  caption: 'Fault rules in the order they are asked',
  keyOf: ({ id }) => id,
  columns: [
    {
      title: 'Rule',
      shows: ({ id, active }) => (
        <span>
          <code>{id}</code> <Badge word={active ? 'active' : 'over'} />
        </span>
      ),
    },
    {
      title: 'Effect',
      shows: ({ phase, action }) => (
        <span>
          <Name name={phase ?? 'delivery'} />: <Said text={JSON.stringify(action)} />
        </span>
      ),
      under: true,
    },
    { title: 'Applies to', shows: ({ match }) => <code class="wrap">{JSON.stringify(match)}</code>, under: true },
    { title: 'Matched', shows: ({ seen }) => seen, number: true, from: 'm' },
    {
      title: 'Applied',
      shows: ({ struck, times }) => `${struck}${times === null ? '' : ` of ${times}`}`,
      number: true,
    },
    { title: 'Added (UTC)', shows: ({ created_at: at }) => <Time iso={at} isInTable />, from: 'l' },
    { title: 'Ends (UTC)', shows: ({ expires_at: at }) => <Time iso={at} isInTable />, from: 'l' },
    { title: 'Change', shows: ({ id }) => <RemoveRule id={id} /> },
  ],
  empty: 'No fault rule: everything works. Take one of the presets below, or write one.',
};

export const Faults = () => (
  <section>
    <Head title="Faults" />
    <Asked list={RULES} />
    <SameCommand row="faults" />
    <Builder />
    <details>
      <summary>Remove all rules</summary>
      <RowForm row="faults.clear" label="Remove all" />
    </details>
  </section>
);

function RemoveRule({ id }: { readonly id: string }) {
  const canChange = useCanChange();
  const { act, problem } = useAct('faults.remove', { fault_id: id });
  return (
    <span>
      <button type="button" class="small" disabled={!canChange} aria-label={`Remove ${id}`} onClick={act}>
        Remove
      </button>
      {problem !== '' && <Said text={problem} />}
    </span>
  );
}

function Builder() {
  const [text, setText] = useState(JSON.stringify(PRESETS[0]?.[1], undefined, 2));
  const [said, say] = useState<{ readonly text: string; readonly isProblem: boolean } | undefined>(undefined);
  const canChange = useCanChange();
  const rule = ruleOf(text);
  const add = async (event: Event) => {
    event.preventDefault();
    if (rule === undefined) return say({ text: 'This is no JSON object.', isProblem: true });
    await callRow<Rule>('faults.add', rule).then(
      ({ id }) => say({ text: `Added ${id}.`, isProblem: false }),
      (error: unknown) => say({ text: (error as Error).message, isProblem: true }),
    );
  };
  return (
    <section aria-labelledby="add">
      <h2 id="add">Add a rule</h2>
      <p class="quiet">A preset and a kind fill the form. Nothing changes before you press Add.</p>
      <p class="buttons">
        {PRESETS.map(([name, preset]) => (
          <button type="button" class="small" onClick={() => setText(JSON.stringify(preset, undefined, 2))}>
            {name}
          </button>
        ))}
        <label>
          Kind{' '}
          <select onChange={event => setText(withKind(rule ?? {}, event.currentTarget.value))}>
            <option value="">–</option>
            {TABLES.faults.map(({ kind }) => (
              <option value={kind}>{kind}</option>
            ))}
          </select>
        </label>
      </p>
      <form onSubmit={event => void add(event)} data-form="faults.add">
        <label for="rule">Rule, as JSON</label>
        <textarea
          id="rule"
          rows={12}
          spellcheck={false}
          value={text}
          onInput={event => setText(event.currentTarget.value)}
        />
        <p class="buttons">
          <button type="submit" disabled={!canChange}>
            Add
          </button>{' '}
          {rule !== undefined && <Copy text={commandLine('faults.add', rule)} label="Copy command" />}
        </p>
      </form>
      {said !== undefined && (
        <p class={said.isProblem ? 'problem' : 'answer'} role={said.isProblem ? 'alert' : 'status'}>
          <Said text={said.text} />
        </p>
      )}
    </section>
  );
}

function ruleOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The rule with the smallest action of a kind; what of it is for the other sort of rules goes. */
function withKind(rule: Readonly<Record<string, unknown>>, kind: string): string {
  const found = TABLES.faults.find(each => each.kind === kind);
  if (found === undefined) return JSON.stringify(rule, undefined, 2);
  const { phase = 'before', match = {}, ...rest } = rule;
  const next = found.ofDeliveries
    ? { ...rest, match: {}, action: found.action }
    : { ...rest, match, phase, action: found.action };
  return JSON.stringify(next, undefined, 2);
}
