/** A form made of a row of the contract: nothing of its fields, limits and words is typed here. */
import type { PageField } from '../contract/sandbox/page-views.ts';
import { addressOf } from './address.ts';
import { type ComponentChildren, useState } from './elements.ts';
import { Copy, Id, money, printable, Said, useCanChange, wordsOf } from './parts.tsx';
import { accessOf, callRow, Failed, NoAnswer } from './session.ts';
import { commandLine, type Input, rowOf } from './tables.ts';

type Values = Readonly<Record<string, string>>;

interface RowFormProps {
  readonly row: string;
  /** Values of fields that are not asked for. */
  readonly fixed?: Input;
  /** What stands in the fields at first. */
  readonly begins?: Values;
  /** Fields that are not shown. */
  readonly without?: readonly string[];
  /** Fields of several lines. */
  readonly areas?: readonly string[];
  readonly label?: string;
  /** What is done before it; where that fails nothing more is. */
  readonly first?: (input: Input) => Promise<void>;
  readonly done?: (answer: Readonly<Record<string, unknown>>) => void;
  /** In place of the answer as terms and values. */
  readonly show?: (answer: Readonly<Record<string, unknown>>) => ComponentChildren;
}

/** Fields for which the command has a word: the form says what the command can say. */
function askedFields({ row, fixed = {}, without = [] }: RowFormProps): readonly PageField[] {
  const { fields, command } = rowOf(row);
  const hasWord = ({ name }: PageField) =>
    command.args.includes(name) || command.flags[name] !== undefined || EXTRA.has(`${row} ${name}`);
  return fields.filter(field => hasWord(field) && fixed[field.name] === undefined && !without.includes(field.name));
}

/** Fields whose words are made by the command line itself. */
const EXTRA = new Set(['cards.reveal last4', 'simulate.answer answer', 'simulate.settle final']);

/** The input as the row takes it; empty fields are left out. */
function inputOf(fields: readonly PageField[], values: Values): Input {
  return Object.fromEntries(
    fields.flatMap(({ name, kind }): [string, unknown][] => {
      const text = values[name]?.trim() ?? '';
      if (text === '') return [];
      if (name === 'body') return [[name, values[name]]];
      if (kind === 'money' || kind === 'integer' || kind === 'number') return [[name, Number(text)]];
      if (kind === 'flag') return [[name, text === 'true']];
      if (kind === 'list') return [[name, text.split(',').map(each => each.trim())]];
      return [[name, text]];
    }),
  );
}

interface Outcome {
  readonly answer?: Readonly<Record<string, unknown>>;
  readonly problem?: string;
  readonly field?: string | undefined;
  /** Nobody knows whether it happened. */
  readonly isUnknown?: boolean;
}

export function RowForm(props: RowFormProps) {
  const { row, fixed = {}, begins = {}, areas = [], label = 'Do it', first, done, show } = props;
  const fields = askedFields(props);
  const [values, setValues] = useState<Values>(begins);
  const [outcome, setOutcome] = useState<Outcome>({});
  const [busy, setBusy] = useState(false);
  const canChange = useCanChange() && accessOf() === 'full';
  const input = { ...fixed, ...inputOf(fields, values) };
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    const told = await outcomeOf(row, input, first);
    setBusy(false);
    setOutcome(told);
    if (told.answer !== undefined) done?.(told.answer);
  };
  return (
    <form onSubmit={event => void submit(event)} noValidate aria-label={rowOf(row).summary} data-form={row}>
      <fieldset disabled={!canChange || busy}>
        <legend class="unseen">{rowOf(row).summary}</legend>
        <div class="fields">
          {fields.map(field => (
            <FieldInput
              field={field}
              id={fieldId(row, field.name)}
              value={values[field.name] ?? ''}
              problem={outcome.field === field.name ? outcome.problem : undefined}
              isArea={areas.includes(field.name)}
              set={value => setValues({ ...values, [field.name]: value })}
            />
          ))}
        </div>
        <p class="buttons">
          <button type="submit">{label}</button> <Copy text={commandLine(row, input)} label="Copy command" />
        </p>
      </fieldset>
      {accessOf() === 'look' && <p class="quiet">This session may look and change nothing.</p>}
      {outcome.problem !== undefined && !fields.some(({ name }) => name === outcome.field) && (
        <p class="problem" role="alert">
          <Said text={outcome.problem} />{' '}
          {outcome.isUnknown && <a href={addressOf('requests', undefined, { acts: '1' })}>What was done</a>}
        </p>
      )}
      {outcome.answer !== undefined && (
        <div class="answer" role="status">
          {show === undefined ? <AnswerFacts answer={outcome.answer} /> : show(outcome.answer)}
        </div>
      )}
    </form>
  );
}

async function outcomeOf(row: string, input: Input, first: RowFormProps['first']): Promise<Outcome> {
  try {
    await first?.(input);
    return { answer: (await callRow<Readonly<Record<string, unknown>> | undefined>(row, input)) ?? {} };
  } catch (error) {
    if (error instanceof Failed) {
      const nothing = error.status === 503 ? ' Nothing happened.' : '';
      return { problem: error.message + nothing, field: error.field };
    }
    if (error instanceof NoAnswer)
      return {
        problem: 'No answer came: whether it happened is unknown. Look before you send it again.',
        isUnknown: true,
      };
    throw error;
  }
}

/** A space would part it in a list of ids. */
const fieldId = (row: string, name: string) => `${row}-${name}`.replaceAll(/[^\w-]/g, '-');

interface FieldInputProps {
  readonly field: PageField;
  readonly id: string;
  readonly value: string;
  /** What the server said about it. */
  readonly problem: string | undefined;
  readonly isArea: boolean;
  readonly set: (value: string) => void;
}

function FieldInput({ field, id, value, problem, isArea, set }: FieldInputProps) {
  const { name, kind, doc, must, choices, defaults, maxLength } = field;
  const hint = `${id}-hint`;
  const said = `${id}-problem`;
  const wrong = problem !== undefined;
  const described = wrong ? `${hint} ${said}` : hint;
  const about = { id, name, 'aria-describedby': described, 'aria-invalid': wrong, required: must };
  const onInput = (event: Event) => set((event.currentTarget as HTMLInputElement).value);
  const isNumber = kind === 'money' || kind === 'integer' || kind === 'number';
  return (
    <div class={wrong ? 'field wrong' : 'field'}>
      <label for={id}>
        {wordsOf(name)}
        {must ? '' : ' (optional)'}
      </label>
      {choices !== undefined && kind === 'choice' ? (
        <select {...about} value={value} onChange={onInput}>
          <option value="">{defaults === undefined ? '–' : `– (${defaults})`}</option>
          {choices.map(each => (
            <option value={each}>{each}</option>
          ))}
        </select>
      ) : kind === 'flag' ? (
        <select {...about} value={value} onChange={onInput}>
          <option value="">–</option>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      ) : isArea ? (
        <textarea
          {...about}
          rows={Math.min(20, Math.max(6, Math.ceil(value.length / 60)))}
          value={value}
          maxLength={maxLength}
          spellcheck={false}
          onInput={onInput}
        />
      ) : (
        <input
          {...about}
          type="text"
          inputMode={isNumber ? 'decimal' : 'text'}
          value={value}
          maxLength={maxLength}
          placeholder={defaults === undefined ? '' : String(defaults)}
          autoComplete="off"
          spellcheck={false}
          onInput={onInput}
        />
      )}
      <small id={hint}>{doc + limitsOf(field)}</small>
      {wrong && (
        <small id={said} class="problem" role="alert">
          <Said text={problem} />
        </small>
      )}
    </div>
  );
}

function limitsOf({ kind, min, max }: PageField): string {
  const shown = (value: number) => (kind === 'money' ? money(value) : String(value));
  if (min !== undefined && max !== undefined) return ` ${shown(min)} to ${shown(max)}.`;
  return min === undefined ? '' : ` From ${shown(min)}.`;
}

/** An answer as terms and values, ids as links. */
function AnswerFacts({ answer }: { readonly answer: Readonly<Record<string, unknown>> }) {
  const told = Object.entries(answer).filter(([, value]) => value !== undefined && value !== null);
  if (told.length === 0) return <p>Done.</p>;
  return (
    <dl class="facts">
      {told.map(([name, value]) => (
        <div key={name}>
          <dt>{wordsOf(name)}</dt>
          <dd>
            <Value value={value} isMoney={/balance$/.test(name)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value, isMoney }: { readonly value: unknown; readonly isMoney: boolean }) {
  if (typeof value === 'string') return <Id id={value} />;
  if (typeof value === 'number' && isMoney) return <span>{money(value)}</span>;
  if (Array.isArray(value) && value.every(each => typeof each === 'string')) return <Said text={value.join(', ')} />;
  return <code>{printable(JSON.stringify(value))}</code>;
}
