/** What all views are made of: texts and values as they are shown, badges, facts, what is copied. */
import { printable, printableLines } from '../terminal/printable.ts';
import { addressIn, addressOf, addressOfId } from './address.ts';
import { type ComponentChildren, useState } from './elements.ts';
import { commandLine, type Input, rowOf } from './tables.ts';

/** Text from outside: visible, and apart from the direction of the text around it. */
export const Said = ({ text }: { readonly text: string }) => <bdi>{printable(text)}</bdi>;

/** A name of ours, such as `transaction.declined`: a narrow column breaks it at its dots and lines alone. */
export const Name = ({ name, title }: { readonly name: string; readonly title?: string }) => (
  <span class="name" title={title}>
    {name.split(/(?<=[._])/).flatMap(part => [<wbr key={part} />, part])}
  </span>
);

/** A time of the sandbox's clock; the title of its column or of its fact names the zone. */
export const Time = ({ iso }: { readonly iso: string }) => <time title={iso}>{shortTime(iso)}</time>;

/** An id, as a link where another view shows it. */
export function Id({ id, title }: { readonly id: string; readonly title?: string }) {
  const address = addressIn(location.hash).id === id ? undefined : addressOfId(id);
  const shown = <code title={title}>{printable(id)}</code>;
  return address === undefined ? shown : <a href={address}>{shown}</a>;
}

/** A state, by its word and by its colour. */
export const Badge = ({ word, title }: { readonly word: string; readonly title?: string | undefined }) => (
  <span class={`badge ${toneOf(word)}`} title={title}>
    {printable(word).replaceAll('_', ' ')}
  </span>
);

const TONES: readonly (readonly [string, RegExp])[] = [
  ['good', /^(?:active|delivered|approved|holds|passed|as_expected|settled|completed|confirmed|right|live|2\d\d)$/],
  ['bad', /^(?:failed|failing|declined|broken|not live|terminated|disabled|parked|5\d\d|4\d\d)$/],
  ['waits', /^(?:pending|queued|sending|waiting|due|frozen|under way|will retry)$/],
];

const toneOf = (word: string): string => TONES.find(([, words]) => words.test(word))?.[0] ?? '';

const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  422: 'Unprocessable',
  429: 'Too Many Requests',
  500: 'Server Error',
  503: 'Unavailable',
};

export const HttpStatus = ({ status }: { readonly status: number }) => (
  <span class={`badge ${toneOf(String(status))}`}>
    <span>{status}</span>
    {STATUS_WORDS[status] !== undefined && <span class="words"> {STATUS_WORDS[status]}</span>}
  </span>
);

/** The last four digits of a card, in one piece. */
export const masked = (last4: string) => `••••\u00a0${last4}`;

export const CardLink = ({ id, last4 }: { readonly id: string; readonly last4: string }) => (
  <a class="number" href={addressOf('cards', id)} title={id}>
    {masked(last4)}
  </a>
);

interface PressProps {
  readonly label: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
  readonly title?: string;
  readonly 'aria-label'?: string;
  readonly 'aria-pressed'?: boolean;
}

/** A button that does something at once. */
export const Press = ({ label, ...how }: PressProps) => (
  <button type="button" class="small" {...how}>
    <Said text={label} />
  </button>
);

/**
 * A function makes the text at the moment of the click. The width of the button never changes: one that moves away under
 * the pointer loses the click.
 */
export function Copy({ text, label = 'Copy' }: { readonly text: string | (() => string); readonly label?: string }) {
  const [said, say] = useState<'' | 'copied' | 'refused'>('');
  const copy = () =>
    navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => say('copied'),
      () => say('refused'),
    );
  return (
    <button
      type="button"
      class="small copies"
      data-copies={typeof text === 'string' ? text : undefined}
      title={said === 'refused' ? 'Select it and copy it by hand' : undefined}
      onClick={() => void copy()}
      onBlur={() => say('')}
    >
      <span class={said === '' ? '' : 'kept'}>{label}</span>
      <span class={said === 'copied' ? '' : 'kept'}>Copied</span>
      <span class={said === 'refused' ? '' : 'kept'}>By hand</span>
    </button>
  );
}

/** The command that gives the same; the newest one of the view answers the key `y`. */
export function SameCommand({ row, input = {} }: { readonly row: string; readonly input?: Input }) {
  const line = commandLine(row, input);
  if (rowOf(row).command.words === '') return null;
  return (
    <p class="command" data-command={line}>
      <span aria-hidden="true">$ </span>
      <code>{printable(line)}</code> <Copy text={line} />
    </p>
  );
}

type Fact = readonly [term: ComponentChildren, value: ComponentChildren];

/** Terms with their values; those without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
        .map(([term, value]) => (
          <div>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export const Text = ({ text, label }: { readonly text: string; readonly label: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls is reached by the keyboard
  <section class="text" aria-label={label} tabIndex={0}>
    <pre>{printableLines(text)}</pre>
  </section>
);

export const Problem = ({ text }: { readonly text: string }) => (
  <p class="problem" role="alert">
    <Said text={text} />
  </p>
);

/** What a view shows before and instead of an answer. */
export const Waiting = ({ error }: { readonly error: Error | undefined }) =>
  error === undefined ? <p class="quiet">Loading …</p> : <Problem text={error.message} />;

/** The head of a view: its one heading, to which the focus goes. */
export const Head = ({ title, state }: { readonly title: ComponentChildren; readonly state?: ComponentChildren }) => (
  <h1 tabIndex={-1}>
    {title}
    {state && ' '}
    {state}
  </h1>
);

interface PartProps {
  readonly title: string;
  readonly isPanel?: boolean;
  readonly children: ComponentChildren;
}

/** A part of a view with a heading of its own. */
export function Part({ title, isPanel = false, children }: PartProps) {
  const id = title.toLowerCase().replaceAll(/\W+/g, '-');
  return (
    <section class={isPanel ? 'panel' : undefined} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** `$10,034.00`; the numbers of a row are USD. */
export const money = (amount: number) => `${amount < 0 ? '−' : ''}$${count(Math.abs(amount).toFixed(2))}`;

/** What came, with its sign; nothing for 0. */
export const moved = (amount: number): string => (amount === 0 ? '' : `${amount > 0 ? '+' : ''}${money(amount)}`);

/** A line that the sandbox wrote, such as `amount 95.00`: behind one of its words an amount is money. */
export const inMoney = (line: string): string =>
  line.replace(/(?<=[a-z_] )([+-]?)(\d+\.\d\d)(?![\w.])/g, (_, sign: string, sum: string) =>
    sign === '' ? money(Number(sum)) : moved(Number(sign + sum)),
  );

/** Such a line as it is shown: no amount is broken behind its sign. */
export const SaidInMoney = ({ line }: { readonly line: string }) => (
  <bdi>
    {printable(inMoney(line))
      .split(/([+−]\$[\d,]+\.\d\d)/)
      .map((part, nth) => (nth % 2 === 0 ? part : <span class="number">{part}</span>))}
  </bdi>
);

/** Groups of thousands. `toLocaleString` takes longer than the row around it. */
export const count = (number: number | string) => String(number).replace(/\B(?=(?:\d{3})+(?!\d))/g, ',');

/** `1 purchase`, `1,204 purchases`. */
export const counted = (number: number, noun: string) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;

/** `2026-11-29 15:54:38` of an ISO time, which is UTC. */
export const shortTime = (iso: string) => iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, '');

/** How long until or since, in the largest unit that fits: `in 6 d`, `3 min ago`. */
export function fromNow(iso: string, nowIso: string): string {
  const ms = Date.parse(iso) - Date.parse(nowIso);
  const units: readonly (readonly [number, string])[] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ];
  const [size, unit] = units.find(([each]) => Math.abs(ms) >= each) ?? [1_000, 's'];
  const text = `${Math.floor(Math.abs(ms) / size)}\u00a0${unit}`;
  return ms >= 0 ? `in\u00a0${text}` : `${text}\u00a0ago`;
}

/** JSON on several lines; other text as it is. */
export function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

/** Of what is said otherwise to a reader than in the contract and in the ledger. */
const WORDS: Readonly<Record<string, string>> = {
  mcc: 'MCC',
  bin: 'BIN',
  last4: 'last four digits',
  by: 'how far',
  authorization_id: 'purchase',
  cvv: 'security code',
  otp: 'code',
  exp_month: 'good until, month',
  exp_year: 'good until, year',
  webhook_id: 'subscription',
  authorization: 'purchase',
  decline: 'declined purchase',
  create: 'created',
  fund: 'funded',
  withdraw: 'withdrawn',
  terminate: 'terminated',
  authorize: 'authorized',
  increment: 'raised',
  settle: 'settled',
  release: 'hold given back',
  true: 'yes',
  false: 'no',
};

/** The name of a field, or a word such as `three_ds_failed`, as words. */
export const wordsOf = (name: string) =>
  WORDS[name] ?? name.replace(/_id$/, '').replace('three_ds', '3DS').replaceAll('_', ' ');

/** A sentence of the contract: an authorization is called a purchase here. */
export const asSaid = (text: string) =>
  text
    .replace('an authorization', 'a purchase')
    .replace('Authorization', 'Purchase')
    .replace('authorization', 'purchase');

/** Something that is shown of an item: a column of a list, a fact of a detail. */
export interface Field<Item> {
  readonly title: string;
  /** Where it is nothing, a detail leaves it out. `times` counts the rows of a list that stand as one. */
  readonly shows: (item: Item, times: number) => ComponentChildren;
  readonly place?: Place | undefined;
  /** Stands at the right of its column, unless it is the first one. */
  readonly isNumber?: boolean;
  /** Stands beside the title of a detail. */
  readonly isState?: boolean;
}

/** In a table from 700 px on (`m`), from 1,200 px on (`l`), or below 700 px in a second line of the first column (`under`). */
type Place = 'm' | 'l' | 'under';

/** Makes fields whose value is read from the item and shown in one way. */
const fieldsOf =
  <Value,>(
    shows: (value: Value) => ComponentChildren,
    usual: { readonly isNumber?: true; readonly isState?: true } = {},
  ) =>
  <Item,>(title: string, of: (item: Item) => Value | null | undefined, place?: Place): Field<Item> => ({
    ...usual,
    title,
    place,
    shows: item => {
      const value = of(item);
      return value === null || value === undefined || value === '' ? null : shows(value);
    },
  });

/** Fields, by how their values are shown. */
export const show = {
  text: fieldsOf((value: string) => <Said text={value} />),
  name: fieldsOf((value: string) => <Name name={value} />),
  id: fieldsOf((value: string) => <Id id={value} />),
  badge: fieldsOf((word: string) => <Badge word={word} />, { isState: true }),
  status: fieldsOf((code: number) => <HttpStatus status={code} />, { isState: true }),
  amount: fieldsOf(money, { isNumber: true }),
  /** Of money: with its sign, and nothing for 0. */
  change: fieldsOf(moved, { isNumber: true }),
  number: fieldsOf(count, { isNumber: true }),
  /** Its title names the zone. */
  time: <Item,>(title: string, of: (item: Item) => string | null, place: Place = 'under') =>
    fieldsOf((iso: string) => <Time iso={iso} />)<Item>(`${title} (UTC)`, of, place),
  /** Made of more than one value. */
  field: <Item,>(title: string, shows: Field<Item>['shows'], place?: Place): Field<Item> => ({ title, shows, place }),
};
