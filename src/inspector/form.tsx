/** Forms made of rows of the contract: nothing of their fields, limits and words is typed here. */
import type { AdminName } from '../contract/sandbox/admin.ts';
import type { PageField } from '../contract/sandbox/page-views.ts';
import { Failed, NoAnswer } from './begin.ts';
import { type ComponentChildren, useEffect, useLayoutEffect, useState } from './elements.ts';
import { asSaid, Copy, Facts, Id, masked, money, Press, Problem, Said, wordsOf } from './parts.tsx';
import { accessOf, callRow, say, useCanChange } from './session.ts';
import { commandLine, type Input, rowOf } from './tables.ts';

type Values = Readonly<Record<string, string>>;
type Told = Readonly<Record<string, unknown>>;

interface RowFormProps {
  readonly row: AdminName;
  readonly label: string;
  /** Values of fields that are not asked for. */
  readonly fixed?: Input;
  /** What stands in the fields at first. */
  readonly begins?: Values;
  /** Fields that are not shown. */
  readonly without?: readonly string[];
  /** A field of its own in place of those of the row, and what is wrong with it. */
  readonly children?: ComponentChildren;
  readonly wrong?: string | undefined;
  /** Behind a line that opens it. */
  readonly folded?: string;
  /** The answer is forgotten after half a minute, and at once when nobody sees the page. */
  readonly isSecret?: boolean;
  /** What is done before it; where that fails nothing more is. */
  readonly first?: (input: Input) => { readonly row: AdminName; readonly input: Input } | undefined;
  readonly done?: (answer: Told) => void;
  /** In place of the answer as terms and values. */
  readonly show?: (answer: Told) => ComponentChildren;
}

/** Fields whose words are made by the command line itself. */
const EXTRA = new Set(['cards.reveal last4', 'simulate.settle final']);

/** Fields that the row takes in place of others, which have no word: here they are needed. */
const NEEDED = new Set(['clock.advance by', 'simulate.answer answer']);

/** Fields for which the command has a word: the form says what the command can say. */
function askedFields({ row, fixed = {}, without = [] }: RowFormProps): readonly PageField[] {
  const { fields, command } = rowOf(row);
  const hasWord = ({ name }: PageField) =>
    command.args.includes(name) || command.flags[name] !== undefined || EXTRA.has(`${row} ${name}`);
  return fields
    .filter(field => hasWord(field) && fixed[field.name] === undefined && !without.includes(field.name))
    .map(field => (NEEDED.has(`${row} ${field.name}`) ? { ...field, must: true } : field));
}

/** How a text is read: what it must look like, and its value. */
type Kind = Partial<Readonly<{ form: RegExp; such: string; value: (text: string) => unknown }>>;

const KINDS: Partial<Record<PageField['kind'], Kind>> = {
  money: { form: /^\d+(?:\.\d{1,2})?$/, such: 'an amount such as 12.50', value: Number },
  integer: { form: /^\d+$/, such: 'a whole number such as 3', value: Number },
  number: { form: /^\d+(?:\.\d+)?$/, such: 'a number such as 1.5', value: Number },
  time: { form: /^\d{4}-\d\d-\d\d/, such: 'a time such as 2026-11-30T12:00:00Z' },
  flag: { value: text => text === 'true' },
  list: { value: text => text.split(',').map(each => each.trim()) },
};

const isNumber = ({ kind }: PageField) => KINDS[kind]?.value === Number;

/** Without the space around it; `$1,250.00` as it is shown is an amount that may be typed. */
function plain(field: PageField, values: Values): string {
  const text = values[field.name]?.trim() ?? '';
  return isNumber(field) ? text.replace(/^\$/, '').replace(/,(?=\d{3}(?:\D|$))/g, '') : text;
}

/** The input as the row takes it; empty fields are left out, and a body is sent as it was typed. */
const inputOf = (fields: readonly PageField[], values: Values): Input =>
  Object.fromEntries(
    fields
      .map(field => [field, plain(field, values)] as const)
      .filter(([, text]) => text !== '')
      .map(([{ name, kind }, text]) => [name, name === 'body' ? values[name] : (KINDS[kind]?.value?.(text) ?? text)]),
  );

const limitOf = ({ kind }: PageField, value: number) => (kind === 'money' ? money(value) : String(value));

/** What is wrong with a text before anything is sent, in words that say what to type instead. */
function problemOf(field: PageField, values: Values): string | undefined {
  const { kind, must, min, max } = field;
  const { form, such } = KINDS[kind] ?? {};
  const typed = plain(field, values);
  if (typed === '') return must ? `Needed${such === undefined ? '' : `: ${such}`}.` : undefined;
  if (form?.test(typed) === false) return `Type ${such}.`;
  if (PICKS[field.name] !== undefined && !/^[a-z]+_/.test(typed)) return 'Choose one from the list.';
  if (isNumber(field) && min !== undefined && Number(typed) < min) return `At least ${limitOf(field, min)}.`;
  if (isNumber(field) && max !== undefined && Number(typed) > max) return `At most ${limitOf(field, max)}.`;
  return undefined;
}

/** What came of a form that was sent. */
interface Outcome {
  readonly answer?: Told;
  /** Of the whole, where no field is named. */
  readonly problem?: string;
  readonly problems?: Values;
}

/** A message that names fields, by their labels. */
const inWords = (message: string) =>
  message.replace(
    /^one of (\w+) and (\w+) is needed$/,
    (_, one: string, other: string) => `Needed: either ${wordsOf(one)} or ${wordsOf(other)}.`,
  );

async function outcomeOf(row: AdminName, input: Input, fields: readonly PageField[] = []): Promise<Outcome> {
  try {
    return { answer: (await callRow<Told | undefined>(row, input)) ?? {} };
  } catch (error) {
    if (error instanceof NoAnswer)
      return { problem: 'No answer came: whether it happened is unknown. Look before you send it again.' };
    if (!(error instanceof Failed)) throw error;
    const { field = '', message, status } = error;
    const isMeant = ({ name }: PageField) => name === field || name === `${field}_id`;
    // What is refused without a name can only mean the field that there is.
    const meant = fields.find(isMeant) ?? (fields.length === 1 && status < 500 ? fields[0] : undefined);
    if (meant !== undefined) return { problems: { [meant.name]: inWords(message.replace(`${field}: `, '')) } };
    return { problem: status === 503 ? `${message} Nothing happened.` : message };
  }
}

/** ms that a secret stands in the document. */
const SHOWN_FOR = 30_000;

export function RowForm(props: RowFormProps) {
  const { row, label, fixed = {}, begins = {}, folded, isSecret = false, children, wrong, first, done } = props;
  const fields = children === undefined ? askedFields(props) : [];
  const [values, setValues] = useState<Values>(begins);
  const [outcome, setOutcome] = useState<Outcome>({});
  const [busy, setBusy] = useState(false);
  const canChange = useCanChange();
  const input = { ...fixed, ...inputOf(fields, values) };
  const { answer, problem, problems = {} } = outcome;
  const { show = asFacts } = props;
  const forget = () => setOutcome({});
  // A secret never stands there before it can be forgotten.
  useLayoutEffect(() => {
    if (!isSecret || answer === undefined) return undefined;
    const timer = setTimeout(forget, SHOWN_FOR);
    document.addEventListener('visibilitychange', forget);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', forget);
    };
  }, [answer]);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (wrong !== undefined) return setOutcome({ problem: wrong });
    const faulty = fields.flatMap(field => {
      const problem = problemOf(field, values);
      return problem === undefined ? [] : [[field.name, problem] as const];
    });
    if (faulty[0] !== undefined) {
      setOutcome({ problems: Object.fromEntries(faulty) });
      return document.getElementById(fieldId(row, faulty[0][0]))?.focus();
    }
    setBusy(true);
    const before = first?.(input);
    const { problem: early } = before === undefined ? {} : await outcomeOf(before.row, before.input);
    const told = early === undefined ? await outcomeOf(row, input, fields) : { problem: early };
    setBusy(false);
    setOutcome(told);
    if (told.answer !== undefined) done?.(told.answer);
  };
  const form = (
    <form onSubmit={event => void submit(event)} noValidate aria-label={asSaid(rowOf(row).summary)} data-form={row}>
      {/* A field that is switched off loses the focus: what is typed on would go nowhere, or be taken as keys. */}
      <fieldset disabled={accessOf() === 'look'}>
        {children ?? (
          <div class="fields">
            {fields.map(field => (
              <FieldInput
                field={field}
                row={row}
                value={values[field.name] ?? ''}
                problem={problems[field.name]}
                set={value => setValues(before => ({ ...before, [field.name]: value }))}
              />
            ))}
          </div>
        )}
        <p class="row">
          <button type="submit" disabled={!canChange || busy}>
            {label}
          </button>
          {wrong === undefined && <Copy text={commandLine(row, input)} label="Copy command" />}
        </p>
      </fieldset>
      {accessOf() === 'look' && <p class="quiet">This session may look and change nothing.</p>}
      {problem !== undefined && <Problem text={problem} />}
      {answer !== undefined && (
        <div class="answer" role="status">
          {show(answer)}
          {isSecret && <Press label="Hide" onClick={forget} />}
        </div>
      )}
    </form>
  );
  if (folded === undefined) return form;
  return (
    <details>
      <summary>{folded}</summary>
      {form}
    </details>
  );
}

/** An answer as terms and values, ids as links. */
function asFacts(answer: Told): ComponentChildren {
  const told = Object.entries(answer).filter(([, value]) => value !== undefined && value !== null);
  if (told.length === 0) return <p>Done.</p>;
  return <Facts facts={told.map(([name, value]) => [wordsOf(name), shownOf(name, value)])} />;
}

function shownOf(name: string, value: unknown): ComponentChildren {
  if (typeof value === 'string') return name === 'decline_reason' ? wordsOf(value) : <Id id={value} />;
  if (typeof value === 'number' && name.endsWith('balance')) return money(value);
  if (Array.isArray(value) && value.every(each => typeof each === 'string')) return <Said text={value.join(', ')} />;
  return <Said text={JSON.stringify(value)} />;
}

interface ActProps {
  readonly row: AdminName;
  readonly input: Input;
  readonly label: string;
  /** The id, for who hears the button and does not see its row. */
  readonly about: string;
}

/** A button that does one thing; its row follows by itself. */
export function Act({ row, input, label, about }: ActProps) {
  const [{ problem }, tell] = useState<Outcome>({});
  const canChange = useCanChange();
  const act = async () => {
    const outcome = await outcomeOf(row, input);
    tell(outcome);
    if (outcome.answer !== undefined) say(`${label}: done`);
  };
  return (
    <>
      <Press label={label} disabled={!canChange} onClick={() => void act()} aria-label={`${label} ${about}`} />
      {problem !== undefined && <Said text={problem} />}
    </>
  );
}

interface TextFieldProps extends Readonly<Record<'id' | 'title' | 'text', string>> {
  readonly hint?: string;
  readonly set: (text: string) => void;
}

/** The only field of a form that is one long text. */
export const TextField = ({ id, title, hint, text, set }: TextFieldProps) => (
  <>
    <label for={id}>{title}</label>
    <textarea
      id={id}
      rows={14}
      spellcheck={false}
      value={text}
      placeholder={hint}
      onInput={event => set(event.currentTarget.value)}
    />
  </>
);

/** A space would part it in a list of ids. */
const fieldId = (row: string, name: string) => `${row}-${name}`.replaceAll(/[^\w-]/g, '-');

interface FieldInputProps {
  readonly field: PageField;
  readonly row: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly set: (value: string) => void;
}

function FieldInput({ field, row, value, problem, set }: FieldInputProps) {
  const { name, kind, doc, must, defaults, maxLength, min, max } = field;
  const id = fieldId(row, name);
  const wrong = problem !== undefined;
  const options = kind === 'flag' ? ['true', 'false'] : kind === 'choice' ? field.choices : undefined;
  const pick = PICKS[name];
  const about = {
    id,
    name,
    value,
    'aria-describedby': wrong ? `${id}-hint ${id}-problem` : `${id}-hint`,
    'aria-invalid': wrong,
    required: must,
    onInput: (event: Event) => set((event.currentTarget as HTMLInputElement).value),
  };
  const typed = { maxLength, autoComplete: 'off', spellcheck: false };
  return (
    <div class={wrong ? 'field wrong' : 'field'}>
      <label for={id}>{wordsOf(name) + (must ? '' : ' (optional)')}</label>
      {pick !== undefined ? (
        <Picker pick={pick} row={row} about={about} />
      ) : options !== undefined ? (
        <select {...about}>
          <option value="">{defaults === undefined ? '–' : `${wordsOf(String(defaults))} (default)`}</option>
          {options.map(each => (
            <option value={each}>{wordsOf(each)}</option>
          ))}
        </select>
      ) : name === 'body' ? (
        <textarea {...about} {...typed} rows={Math.min(20, Math.max(6, Math.ceil(value.length / 60)))} />
      ) : (
        <input
          {...about}
          {...typed}
          type="text"
          inputMode={isNumber(field) ? 'decimal' : 'text'}
          placeholder={String(defaults ?? (kind === 'money' ? '12.50' : ''))}
        />
      )}
      <small id={`${id}-hint`}>
        {asSaid(doc)}
        {min !== undefined && ` ${max === undefined ? 'From ' : ''}${limitOf(field, min)}`}
        {min !== undefined && max !== undefined && ` to ${limitOf(field, max)}`}
        {min !== undefined && '.'}
      </small>
      {wrong && (
        <small id={`${id}-problem`} class="problem" role="alert">
          <Said text={problem} />
        </small>
      )}
    </div>
  );
}

// A field that holds an id is picked from a list with search: nobody types an id.

interface Picked {
  readonly id: string;
  readonly [member: string]: string | number;
}

interface Pick {
  /** Where it is looked for. */
  readonly row: AdminName;
  /** What of it may be meant, by the form. */
  readonly only?: (form: string) => Input;
  readonly none: string;
}

const waiting = () => ({ status: 'pending' });

const PICKS: Readonly<Record<string, Pick>> = {
  card_id: { row: 'cards', none: 'No card fits. Your code makes one.' },
  authorization_id: {
    row: 'transactions',
    only: form => ({
      type: 'authorization',
      ...(/increment|reverse|expire/.test(form) && waiting()),
      ...(/refund/.test(form) && { status: 'settled' }),
    }),
    none: 'No purchase fits. Simulate one first.',
  },
  challenge_id: { row: 'challenges', only: waiting, none: 'No challenge waits. Open one first.' },
  deposit_id: { row: 'deposits', only: waiting, none: 'No deposit waits. Simulate one first.' },
  webhook_id: { row: 'webhooks', none: 'No subscription. Your code makes one.' },
};

/** What an item is known by; each kind has some of it. */
function lineOf({ amount, balance, merchant, label, address, network, last4, status }: Picked): string {
  const sum = amount ?? balance;
  const parts = [
    sum !== undefined && money(Number(sum)),
    merchant,
    last4 && masked(String(last4)),
    label,
    address,
    status,
  ];
  return [...parts, last4 === undefined && network].filter(Boolean).join(' · ');
}

/** ms of rest before it is looked for. */
const REST_BEFORE = 150;

interface PickerProps {
  readonly pick: Pick;
  readonly row: string;
  readonly about: { readonly id: string; readonly value: string };
}

/** A field with a list that the browser shows: typing looks in all of them. What is chosen is said below it. */
function Picker({ pick, row, about }: PickerProps) {
  const { id, value } = about;
  const [items, tell] = useState<readonly Picked[] | undefined>(undefined);
  const chosen = items?.find(item => item.id === value);
  useEffect(() => {
    if (chosen !== undefined) return undefined;
    const given = new AbortController();
    const look = async () => {
      const input = { ...pick.only?.(row), q: value, per_page: 20 };
      tell((await callRow<{ readonly data: readonly Picked[] }>(pick.row, input, given.signal)).data);
    };
    // What cannot be looked for now is typed.
    const timer = setTimeout(() => void look().catch(() => undefined), value === '' ? 0 : REST_BEFORE);
    return () => {
      clearTimeout(timer);
      given.abort();
    };
  }, [value, row]);
  return (
    <>
      <input
        {...about}
        type="text"
        list={`${id}-list`}
        placeholder="Search, or choose from the list"
        autoComplete="off"
      />
      <datalist id={`${id}-list`}>
        {items?.map(item => (
          <option key={item.id} value={item.id}>
            {lineOf(item)}
          </option>
        ))}
      </datalist>
      {chosen !== undefined && <Said text={lineOf(chosen)} />}
      {items?.length === 0 && <span class="quiet">{pick.none}</span>}
    </>
  );
}
