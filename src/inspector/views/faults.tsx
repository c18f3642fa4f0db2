/** Fault rules: what they met, presets, and a rule as JSON that is checked by the sandbox. */

import { useState } from '../elements.ts';
import { RowForm } from '../form.tsx';
import { Badge, Copy, Head, Name, Said, SameCommand, Table, Time, useCanChange, Waiting } from '../parts.tsx';
import { accessOf, callRow, useRow } from '../session.ts';
import { commandLine, TABLES } from '../tables.ts';

interface Rule {
  readonly id: string;
  readonly active: boolean;
  readonly match: object;
  readonly phase: string | null;
  readonly action: { readonly kind: string };
  readonly times: number | null;
  readonly seen: number;
  readonly struck: number;
  readonly expires_at: string | null;
  readonly created_at: string;
}

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

export function Faults() {
  const { data, error } = useRow<{ readonly data: readonly Rule[] }>('faults');
  return (
    <section>
      <Head title="Faults" />
      {data === undefined ? <Waiting error={error} /> : <Rules rules={data.data} />}
      <SameCommand row="faults" />
      {(data?.data.length ?? 0) > 0 && <RowForm row="faults.clear" label="Remove all" />}
      <Builder />
    </section>
  );
}

function Rules({ rules }: { readonly rules: readonly Rule[] }) {
  return (
    <Table
      caption="Fault rules in the order they are asked"
      cells={[
        { title: 'Rule' },
        { title: 'Matches', wide: true },
        { title: 'Does' },
        { title: 'Seen', number: true },
        { title: 'Struck', number: true },
        { title: 'Added', wide: true },
        { title: 'Ends', wide: true },
        { title: 'Change' },
      ]}
      rows={rules.map(rule => ({
        key: rule.id,
        cells: [
          <span>
            <code>{rule.id}</code> <Badge word={rule.active ? 'active' : 'over'} />
          </span>,
          <code class="wrap">{JSON.stringify(rule.match)}</code>,
          <span>
            <Name name={rule.phase ?? 'delivery'} />: <Said text={JSON.stringify(rule.action)} />
          </span>,
          rule.seen,
          `${rule.struck}${rule.times === null ? '' : ` of ${rule.times}`}`,
          <Time iso={rule.created_at} />,
          rule.expires_at == null ? '–' : <Time iso={rule.expires_at} />,
          <RemoveRule id={rule.id} />,
        ],
      }))}
      empty="No fault rule: everything works. Take one of the presets below, or write one."
    />
  );
}

function RemoveRule({ id }: { readonly id: string }) {
  const [problem, tell] = useState('');
  const canChange = useCanChange() && accessOf() === 'full';
  const remove = () =>
    callRow('faults.remove', { fault_id: id }).catch((error: unknown) => tell((error as Error).message));
  return (
    <span>
      <button
        type="button"
        class="small"
        disabled={!canChange}
        aria-label={`Remove ${id}`}
        onClick={() => void remove()}
      >
        Remove
      </button>
      {problem !== '' && <Said text={problem} />}
    </span>
  );
}

function Builder() {
  const [text, setText] = useState(JSON.stringify(PRESETS[0]?.[1], undefined, 2));
  const [said, say] = useState<{ readonly text: string; readonly isProblem: boolean } | undefined>(undefined);
  const canChange = useCanChange() && accessOf() === 'full';
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
        <fieldset disabled={!canChange}>
          <legend class="unseen">A rule as JSON</legend>
          <label for="rule">Rule</label>
          <textarea
            id="rule"
            rows={12}
            spellcheck={false}
            value={text}
            onInput={event => setText(event.currentTarget.value)}
          />
          <p class="buttons">
            <button type="submit">Add</button>{' '}
            {rule !== undefined && <Copy text={commandLine('faults.add', rule)} label="Copy command" />}
          </p>
        </fieldset>
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
