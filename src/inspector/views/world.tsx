/** What the world outside does, its time, and what fails on purpose. */
import type { AdminName } from '../../contract/sandbox/admin.ts';
import { addressOf, refine, useAddress } from '../address.ts';
import { useState } from '../elements.ts';
import { Act, RowForm, TextField } from '../form.tsx';
import { Ask, List, type ListOf, Rows, type TableOf } from '../list.tsx';
import { asSaid, Badge, Facts, fromNow, Head, Name, Part, Press, Said, shortTime, show, Time } from '../parts.tsx';
import { type Reply, type Told, useLive } from '../session.ts';
import { rowOf, TABLES } from '../tables.ts';

const SIMULATIONS = Object.keys(TABLES.rows).filter(name => name.startsWith('simulate.')) as AdminName[];

export function Simulate({ id }: { readonly id: string | undefined }) {
  const { filters } = useAddress();
  const chosen = SIMULATIONS.find(name => name === id) ?? 'simulate.authorize';
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
              <option value={name}>{asSaid(rowOf(name).summary)}</option>
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

const MODES: Readonly<Record<string, string>> = {
  real: 'it shows the real time',
  offset: 'it runs as real time does, from another moment on',
  frozen: 'it stands still until you move it',
  scaled: 'it runs faster or slower than real time',
};

export function Clock() {
  const { marks } = useLive();
  return (
    <section>
      <Head title="Clock" />
      <Ask row="clock.show">
        {({ now, mode, rate }) => (
          <>
            <p class="lead">
              <Time iso={marks?.now ?? now} /> UTC
            </p>
            <Facts
              facts={[
                ['Mode', `${mode}: ${MODES[mode]}`],
                ['Speed', `${rate} × real time`],
              ]}
            />
            <div class="columns">
              <Part title="Move it forward" isPanel>
                <p class="quiet">What becomes due on the way happens in order, each at its own time.</p>
                <RowForm row="clock.advance" begins={{ by: '7d' }} label="Advance" show={fired} />
              </Part>
              <Part title="Set it" isPanel>
                <RowForm row="clock.set" begins={{ mode }} label="Set" />
              </Part>
            </div>
          </>
        )}
      </Ask>
      <Part title="What happens by itself">
        <List list={timersAt(marks?.now)} view="clock" />
      </Part>
    </section>
  );
}

type Advanced = Reply<'clock.advance'>;

const FIRED: TableOf<Advanced['fired'][number]> = {
  caption: 'What happened on the way',
  fields: [
    show.text('What', ({ kind, error }) => (error === undefined ? kind : `${kind}: ${error}`)),
    show.id('About', item => item.ref),
    show.time('Time', item => item.due_at),
  ],
  empty: 'Nothing became due.',
};

const MOST_FIRED = 200;

function fired(answer: object) {
  const { now, fired } = answer as Advanced;
  return (
    <>
      <p>{`It shows ${shortTime(now)} UTC. ${fired.length === 0 ? '' : `${fired.length} happened:`}`}</p>
      <Rows list={FIRED} items={fired.slice(0, MOST_FIRED)} />
      {fired.length > MOST_FIRED && <p class="quiet">{`${fired.length - MOST_FIRED} more`}</p>}
    </>
  );
}

const timersAt = (now: string | undefined): ListOf<Told<'timers'>> => ({
  row: 'timers',
  caption: 'Timers, earliest first',
  fields: [
    show.text('When', ({ due_at: at }) => now && fromNow(at, now)),
    show.field('What', ({ kind, error }) => (
      <>
        <Name name={kind} /> {error !== null && <Said text={error} />}
      </>
    )),
    show.id('About', item => item.ref, 'under'),
    show.badge('State', item => item.state, 'm'),
    show.time('Time', item => item.due_at),
  ],
  empty: 'Nothing happens by itself. A purchase on hold or a pending deposit brings a timer.',
});

const RULES: ListOf<Told<'faults'>> = {
  row: 'faults',
  caption: 'Fault rules in the order they are asked',
  fields: [
    show.field('Rule', ({ id, active, created_at: at, expires_at: until }) => (
      <span title={`added ${shortTime(at)}${until === null ? '' : `, ends ${shortTime(until)}`}`}>
        <code>{id}</code> <Badge word={active ? 'active' : 'over'} />
      </span>
    )),
    show.field(
      'Effect',
      ({ phase, action }) => (
        <>
          <Name name={phase ?? 'delivery'} />: <Said text={JSON.stringify(action)} />
        </>
      ),
      'under',
    ),
    show.text('Applies to', ({ match }) => JSON.stringify(match), 'under'),
    show.number('Matched', item => item.seen, 'm'),
    show.text('Applied', ({ struck, times }) => `${struck}${times === null ? '' : ` of ${times}`}`),
    show.field('Change', ({ id }) => (
      <Act key={id} row="faults.remove" input={{ fault_id: id }} label="Remove" about={id} />
    )),
  ],
  empty: 'No fault rule: everything works. Take one of the presets below, or write one.',
};

export const Faults = () => (
  <section>
    <Head title="Faults" />
    <List list={RULES} view="faults" />
    <Builder />
    <RowForm row="faults.clear" folded="Remove all rules" label="Remove all" />
  </section>
);

const PRESETS: Readonly<Record<string, object>> = {
  'The next create loses its answer': {
    match: { operation: 'cards.create' },
    phase: 'after_commit',
    action: { kind: 'reset' },
    times: 1,
  },
  'The next three are limited (429)': {
    match: {},
    phase: 'before',
    action: { kind: 'status', code: 429, retry_after: '1' },
    times: 3,
  },
  'Everything takes 2 s': { match: {}, phase: 'before', action: { kind: 'latency', fixed: 2000 } },
  'The next one fails (500)': { match: {}, phase: 'before', action: { kind: 'status', code: 500 }, times: 1 },
};

const written = (rule: object) => JSON.stringify(rule, undefined, 2);

function Builder() {
  const [text, write] = useState(written(Object.values(PRESETS)[0] ?? {}));
  const rule = ruleOf(text);
  return (
    <Part title="Add a rule">
      <p class="quiet">A preset and a kind fill the form. Nothing changes before you press Add.</p>
      <p class="row">
        {Object.entries(PRESETS).map(([name, preset]) => (
          <Press label={name} onClick={() => write(written(preset))} />
        ))}
        <label>
          Kind{' '}
          <select onChange={event => write(written(withKind(rule ?? {}, event.currentTarget.value)))}>
            <option value="">–</option>
            {TABLES.faults.map(({ kind }) => (
              <option value={kind}>{kind}</option>
            ))}
          </select>
        </label>
      </p>
      <RowForm
        row="faults.add"
        fixed={rule ?? {}}
        wrong={rule === undefined ? 'This is no JSON object.' : undefined}
        label="Add"
        show={({ id }) => <p>{`Added ${id}.`}</p>}
      >
        <TextField id="rule" title="Rule, as JSON" text={text} set={write} />
      </RowForm>
    </Part>
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
function withKind(rule: Readonly<Record<string, unknown>>, kind: string): object {
  const found = TABLES.faults.find(each => each.kind === kind);
  if (found === undefined) return rule;
  const { phase = 'before', match = {}, ...rest } = rule;
  return { ...rest, ...(found.ofDeliveries ? { match: {} } : { match, phase }), action: found.action };
}
