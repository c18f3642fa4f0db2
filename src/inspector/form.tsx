/** A form made of a row of the contract: nothing of its fields, limits and words is typed here. */
import type { PageField } from '../contract/sandbox/page-views.ts';
import { addressOf } from './address.ts';
import { type ComponentChildren, useEffect, useState } from './elements.ts';
import { Copy, Id, money, printable, Said, wordsOf } from './parts.tsx';
import { accessOf, callRow, Failed, NoAnswer, useCanChange } from './session.ts';
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
      if (kind === 'money' || kind === 'integer' || kind === 'number') return [[name, Number(plain(text))]];
      if (kind === 'flag') return [[name, text === 'true']];
      if (kind === 'list') return [[name, text.split(',').map(each => each.trim())]];
      return [[name, text]];
    }),
  );
}

/** `$1,250.00` as it is shown is an amount that may be typed. */
const plain = (text: string) => text.replace(/^\$/, '').replace(/,(?=\d{3}(?:\D|$))/g, '');

/** What is wrong with a text before anything is sent, in words that say what to type instead. */
function problemOf({ kind, must, min, max }: PageField, text: string): string | undefined {
  const typed = plain(text.trim());
  if (typed === '') return must ? `Needed${kind === 'money' ? ': an amount such as 12.50' : ''}.` : undefined;
  const shown = (value: number) => (kind === 'money' ? money(value) : String(value));
  if (kind === 'money' && !/^\d+(?:\.\d{1,2})?$/.test(typed)) return 'Type an amount such as 12.50.';
  if (kind === 'integer' && !/^\d+$/.test(typed)) return 'Type a whole number such as 3.';
  if (kind === 'number' && !/^\d+(?:\.\d+)?$/.test(typed)) return 'Type a number such as 1.5.';
  if (kind === 'time' && Number.isNaN(Date.parse(typed))) return 'Type a time such as 2026-11-30T12:00:00Z.';
  if (!['money', 'integer', 'number'].includes(kind)) return undefined;
  if (min !== undefined && Number(typed) < min) return `At least ${shown(min)}.`;
  if (max !== undefined && Number(typed) > max) return `At most ${shown(max)}.`;
  return undefined;
}

interface Outcome {
  readonly answer?: Readonly<Record<string, unknown>>;
  /** Of the whole, where no field is named. */
  readonly problem?: string;
  readonly problems?: Readonly<Record<string, string>>;
  /** Nobody knows whether it happened. */
  readonly isUnknown?: boolean;
}

export function RowForm(props: RowFormProps) {
  const { row, fixed = {}, begins = {}, areas = [], label = 'Do it', first, done, show } = props;
  const fields = askedFields(props);
  const [values, setValues] = useState<Values>(begins);
  const [outcome, setOutcome] = useState<Outcome>({});
  const [busy, setBusy] = useState(false);
  const canChange = useCanChange();
  const input = { ...fixed, ...inputOf(fields, values) };
  const submit = async (event: Event) => {
    event.preventDefault();
    const wrong = fields.flatMap(field => {
      const problem = problemOf(field, values[field.name] ?? '');
      return problem === undefined ? [] : [[field.name, problem] as const];
    });
    const [at] = wrong[0] ?? [];
    if (at !== undefined) {
      setOutcome({ problems: Object.fromEntries(wrong) });
      document.getElementById(fieldId(row, at))?.focus();
      return;
    }
    setBusy(true);
    const told = await outcomeOf(row, input, first, fields);
    setBusy(false);
    setOutcome(told);
    if (told.answer !== undefined) done?.(told.answer);
  };
  const { answer, problem, problems = {}, isUnknown } = outcome;
  return (
    <form onSubmit={event => void submit(event)} noValidate aria-label={rowOf(row).summary} data-form={row}>
      {/* A field that is switched off loses the focus: what is typed on would go nowhere, or be taken as keys. */}
      <fieldset disabled={accessOf() === 'look'}>
        <legend class="unseen">{rowOf(row).summary}</legend>
        {fields.length > 0 && (
          <div class="fields">
            {fields.map(field => (
              <FieldInput
                field={field}
                row={row}
                value={values[field.name] ?? ''}
                problem={problems[field.name]}
                isArea={areas.includes(field.name)}
                set={value => setValues(before => ({ ...before, [field.name]: value }))}
              />
            ))}
          </div>
        )}
        <p class="buttons">
          <button type="submit" disabled={!canChange || busy}>
            {label}
          </button>{' '}
          <Copy text={commandLine(row, input)} label="Copy command" />
        </p>
      </fieldset>
      {accessOf() === 'look' && <p class="quiet">This session may look and change nothing.</p>}
      {problem !== undefined && (
        <p class="problem" role="alert">
          <Said text={problem} />{' '}
          {isUnknown && <a href={addressOf('requests', undefined, { acts: '1' })}>What was done</a>}
        </p>
      )}
      {answer !== undefined && (
        <div class="answer" role="status">
          {show === undefined ? <AnswerFacts answer={answer} /> : show(answer)}
        </div>
      )}
    </form>
  );
}

async function outcomeOf(
  row: string,
  input: Input,
  first: RowFormProps['first'],
  fields: readonly PageField[],
): Promise<Outcome> {
  try {
    await first?.(input);
    return { answer: (await callRow<Readonly<Record<string, unknown>> | undefined>(row, input)) ?? {} };
  } catch (error) {
    if (error instanceof Failed) {
      const { field = '', message } = error;
      if (fields.some(({ name }) => name === field)) return { problems: { [field]: message } };
      return { problem: error.status === 503 ? `${message} Nothing happened.` : message };
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
  readonly row: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly isArea: boolean;
  readonly set: (value: string) => void;
}

function FieldInput({ field, row, value, problem, isArea, set }: FieldInputProps) {
  const { name, kind, doc, must, choices, defaults, maxLength } = field;
  const id = fieldId(row, name);
  const wrong = problem !== undefined;
  const about = {
    id,
    name,
    'aria-describedby': wrong ? `${id}-hint ${id}-problem` : `${id}-hint`,
    'aria-invalid': wrong,
    required: must,
  };
  const onInput = (event: Event) => set((event.currentTarget as HTMLInputElement).value);
  const isNumber = kind === 'money' || kind === 'integer' || kind === 'number';
  const options = kind === 'flag' ? ['true', 'false'] : kind === 'choice' ? choices : undefined;
  const pick = PICKS[name];
  return (
    <div class={wrong ? 'field wrong' : 'field'}>
      <label for={id}>
        {wordsOf(name)}
        {must ? '' : ' (optional)'}
      </label>
      {pick !== undefined ? (
        <Picker pick={pick} row={row} about={about} value={value} set={set} />
      ) : options !== undefined ? (
        <select {...about} value={value} onChange={onInput}>
          <option value="">{defaults === undefined ? '–' : `${wordsOf(String(defaults))} (default)`}</option>
          {options.map(each => (
            <option value={each}>{kind === 'flag' ? (each === 'true' ? 'yes' : 'no') : wordsOf(each)}</option>
          ))}
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
          placeholder={defaults === undefined ? (kind === 'money' ? '12.50' : '') : String(defaults)}
          autoComplete="off"
          spellcheck={false}
          onInput={onInput}
        />
      )}
      <small id={`${id}-hint`}>{doc + limitsOf(field)}</small>
      {wrong && (
        <small id={`${id}-problem`} class="problem" role="alert">
          <Said text={problem} />
        </small>
      )}
    </div>
  );
}

// A field that holds an id is picked from a list with search: nobody types an id.

interface Picked extends Readonly<Record<string, unknown>> {
  readonly id: string;
}

interface Pick {
  /** Where it is looked for, and what of it may be meant in this form. */
  readonly row: string;
  readonly fits?: (form: string) => Input;
  readonly line: (item: Picked) => string;
  /** What to say where there is none. */
  readonly none: string;
}

const usd = (value: unknown) => money(Number(value));

const PICKS: Readonly<Record<string, Pick>> = {
  card_id: {
    row: 'cards',
    line: ({ last4, label, balance, status }) =>
      [`•••• ${last4}`, label, usd(balance), status === 'active' ? '' : status].filter(each => each !== '').join(' · '),
    none: 'No card fits. Your code makes one.',
  },
  authorization_id: {
    row: 'transactions',
    fits: form => ({
      type: 'authorization',
      ...(/increment|reverse|expire/.test(form) && { status: 'pending' }),
      ...(/refund/.test(form) && { status: 'settled' }),
    }),
    line: ({ amount, merchant, last4, status }) => `${usd(amount)} · ${merchant} · •••• ${last4} · ${status}`,
    none: 'No purchase fits. Simulate one first.',
  },
  challenge_id: {
    row: 'challenges',
    fits: () => ({ status: 'pending' }),
    line: ({ amount, merchant, last4 }) => `${usd(amount)} · ${merchant} · •••• ${last4}`,
    none: 'No challenge waits. Open one first.',
  },
  deposit_id: {
    row: 'deposits',
    fits: () => ({ status: 'pending' }),
    line: ({ amount, crypto_amount: coins, currency, confirmations, required_confirmations: needed }) =>
      `${usd(amount)} · ${coins} ${String(currency).toUpperCase()} · ${confirmations} of ${needed} confirmations`,
    none: 'No deposit waits. Simulate one first.',
  },
  webhook_id: {
    row: 'webhooks',
    line: ({ id, address }) => `${address} · ${id}`,
    none: 'No subscription. Your code makes one.',
  },
};

/** ms of rest before it is looked for. */
const REST_BEFORE = 150;

interface PickerProps {
  readonly pick: Pick;
  readonly row: string;
  readonly about: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly value: string;
  readonly set: (value: string) => void;
}

/** A box with a list below it: typing looks, arrows and Enter choose. What was typed and not chosen is sent as it is. */
function Picker({ pick, row, about, value, set }: PickerProps) {
  const [items, tell] = useState<readonly Picked[] | undefined>(undefined);
  const [chosen, choose] = useState<Picked | undefined>(undefined);
  const [isOpen, open] = useState(false);
  const [at, move] = useState(0);
  const list = `${about.id}-list`;
  const shown = chosen?.id === value ? pick.line(chosen) : value;
  const take = (item: Picked) => {
    choose(item);
    set(item.id);
    open(false);
  };
  useEffect(() => {
    if (!isOpen && (value === '' || chosen?.id === value)) return undefined;
    const given = new AbortController();
    const q = chosen?.id === value ? '' : value;
    const look = () =>
      callRow<{ readonly data: readonly Picked[] }>(
        pick.row,
        { ...pick.fits?.(row), q, per_page: 20 },
        given.signal,
      ).then(
        ({ data }) => {
          const own = data.find(({ id }) => id === value);
          if (own !== undefined) choose(own);
          tell(data);
          move(0);
        },
        () => undefined,
      );
    const timer = setTimeout(() => void look(), REST_BEFORE);
    return () => {
      clearTimeout(timer);
      given.abort();
    };
  }, [isOpen, value, row]);
  const onKeyDown = (event: KeyboardEvent) => {
    const item = items?.[at];
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (isOpen) move(Math.max(0, Math.min((items?.length ?? 1) - 1, at + (event.key === 'ArrowDown' ? 1 : -1))));
      else open(true);
    } else if (event.key === 'Enter' && isOpen && item !== undefined) take(item);
    else if (event.key === 'Escape' && isOpen) open(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="picker">
      <input
        {...about}
        type="text"
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && (items?.length ?? 0) > 0 ? `${list}-${at}` : undefined}
        value={shown}
        placeholder="Search, or choose from the list"
        autoComplete="off"
        spellcheck={false}
        onClick={() => open(true)}
        onInput={event => {
          choose(undefined);
          set(event.currentTarget.value);
          open(true);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => open(false)}
      />
      <span
        id={list}
        role="listbox"
        aria-label={wordsOf(String(about['name']))}
        hidden={!isOpen || items === undefined}
      >
        {items?.map((item, nth) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the box keeps the focus and names the option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the box answers the keys
          <span
            key={item.id}
            id={`${list}-${nth}`}
            role="option"
            aria-selected={nth === at}
            title={item.id}
            onMouseDown={event => event.preventDefault()}
            onClick={() => take(item)}
          >
            <Said text={pick.line(item)} />
          </span>
        ))}
        {items?.length === 0 && <span class="quiet">{pick.none}</span>}
      </span>
    </span>
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
