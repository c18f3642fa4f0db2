/**
 * Conditions a person types about a record: `status=active`, `balance<20`, `created_at<30d`, for filters and waits.
 * Several, each in a flag of its own, must all hold.
 */
import type { AnyField, Shape } from '../contract/field.ts';
import { instantOf } from '../core/durations.ts';
import { usage } from '../core/errors.ts';
import { centsOf } from '../core/money.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Row } from '../terminal/view.ts';
import { eachTime, needs, type OwnFlag, option, takes } from './parsing/flag.ts';
import { parseTimeWord, parseValue, quote, SHORT_MARK } from './parsing/values.ts';

export type Test = (row: Row) => boolean;

/** What conditions are read against. */
interface ConditionSettings {
  /** Fields of the record. */
  readonly shape: Shape;
  /** `--where`, for messages. */
  readonly flag: string;
  /** The clock of the service, ms UTC: `30d` is that long before it. Asked whenever a record is tested. */
  readonly now: () => number;
}

/** What each says of the order of a value and the wanted one: below, equal or above 0. `~` looks into the text. */
const OPERATORS = {
  '=': (order: number) => order === 0,
  '!=': (order: number) => order !== 0,
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
} as const;
type Operator = keyof typeof OPERATORS;
const FORM = /^([A-Za-z0-9_]+(?:\.[^\s=!<>~]+)?)(!=|<=|>=|=|<|>|~)(.*)$/su;

const FORM_TEXT = '<field><op><value>';
const DOC = 'Field, operator (= != < <= > >= ~) and value; several must all hold.';

/** `--where` or `--until` that may be given several times; its value is the texts as typed. */
export const CONDITIONS: OwnFlag<readonly string[], false> = eachTime(option(takes.text(DOC), FORM_TEXT));
/** Conditions of which at least one is needed. */
export const NEEDED_CONDITIONS: OwnFlag<readonly string[], true> = eachTime(needs(takes.text(DOC), FORM_TEXT));

/** Explains what the values of conditions may be, for the help of a command that takes them. */
export const CONDITION_VALUES =
  'A condition is <field><op><value> with = != < <= > >= and ~ (contains), such as balance<20 or metadata.team=ads. Several conditions, each in a flag of its own, must all hold. A date means the whole day. 30d means thirty days ago: created_at<30d is older than that, and expires_at<+30d expires within thirty days.';

/** One test that holds when every condition does; no condition always holds. Throws `usage`. */
export function allOf(texts: readonly string[], settings: ConditionSettings): Test {
  const tests = texts.map(text => parseCondition(text, settings));
  return row => tests.every(test => test(row));
}

/** Paths that conditions speak of, each once: `balance`, `metadata.team`. */
export function fieldsIn(texts: readonly string[]): readonly string[] {
  const paths = texts.map(text => FORM.exec(text)?.[1] ?? '');
  return [...new Set(paths)].filter(path => path !== '');
}

/**
 * A test for `<field><op><value>`; operators `= != < <= > >= ~` (contains). Money is compared in cents, times as
 * instants and a date as its whole day, the rest as text, of which `…` at the end leaves the rest open. `metadata.key` reaches
 * into maps. An absent value passes no test but `!=`, an unfit one none at all. Throws `usage` naming the fields, the choices or
 * the form of the value.
 */
export function parseCondition(text: string, { shape, flag, now }: ConditionSettings): Test {
  const where = `${flag} ${quote(text)}`;
  const [, path = '', operator = '', wanted = ''] = FORM.exec(text) ?? [];
  const [name = '', ...rest] = path.split('.');
  const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (field === undefined) {
    const meant = didYouMean(name, Object.keys(shape));
    throw usage(
      `${where} is not ${FORM_TEXT}; fields: ${Object.keys(shape).join(', ')}; operators: = != < <= > >= ~${meant && `.${meant}`}`,
    );
  }
  const key = rest.join('.');
  if ((field.kind === 'map') !== (key !== '')) {
    throw usage(`${where}: write ${field.kind === 'map' ? `${name}.<key>` : name}`);
  }
  // What is written as in a program would be text that no record has, and != would choose every record.
  if (/^[=~]|&&|^".*"$/s.test(wanted))
    throw usage(
      `${where}: there is one operator (= != < <= > >= ~), a value has no quotes of its own, and each condition has its own ${flag}`,
    );
  const valueIn = (row: Row) => (key === '' ? row[name] : (row[name] as Row | undefined)?.[key]) ?? undefined;
  if (operator === '~') {
    if (wanted === '') throw usage(`${where}: write a text after ~`);
    return row => {
      const value = valueIn(row);
      return value !== undefined && asText(value).toLowerCase().includes(wanted.toLowerCase());
    };
  }
  const isSo = OPERATORS[operator as Operator];
  const { read, bounds } = comparable(field, { wanted, operator: operator as Operator, where, now });
  bounds();
  return row => {
    const value = valueIn(row);
    if (value === undefined) return operator === '!=';
    const [there, [least, most]] = [read(value), bounds()];
    return there !== undefined && isSo(there < least ? -1 : there > most ? 1 : 0);
  };
}

interface Comparable {
  /** Undefined for a value that is unfit. */
  readonly read: (value: unknown) => number | string | undefined;
  /** Least and most of what is equal to the wanted value: a date is its whole day. */
  readonly bounds: () => readonly [number | string, number | string];
}

/** Throws `usage` for a wanted value that the field cannot have. */
function comparable(
  field: AnyField,
  { wanted, operator, where, now }: { wanted: string; operator: Operator; where: string; now: () => number },
): Comparable {
  const only = (value: number | string) => () => [value, value] as const;
  switch (field.kind) {
    case 'money':
    case 'integer':
    case 'number': {
      // It may ask for what no request could hold.
      const { min: _min, max: _max, ...bare } = field;
      const isNegative = field.kind === 'money' && wanted.startsWith('-');
      const typed = parseValue(`${where}:`, bare, isNegative ? wanted.slice(1) : wanted, { now: 0 });
      const bounds = only(isNegative ? -Number(typed) : Number(typed));
      const asNumber = field.kind === 'money' ? centsOf : (value: number) => value;
      return { bounds, read: value => (typeof value === 'number' ? asNumber(value) : undefined) };
    }
    case 'time': {
      const bounds = () => {
        const ends = [parseTimeWord(wanted, now()), parseTimeWord(wanted, now(), true)] as const;
        if (ends[0] === undefined || ends[1] === undefined)
          throw usage(
            `${where}: ${quote(wanted)} is not a time such as 2026-11-01, 2026-11-01T14:00:00Z, yesterday, 30d (thirty days ago) or +30d`,
          );
        return [Date.parse(ends[0]), Date.parse(ends[1])] as const;
      };
      return { bounds, read: instantOf };
    }
    case 'choice':
    case 'flag': {
      // Known words have no order; a word that is none of them would never hold, or always.
      const choices = field.choices ?? ['true', 'false'];
      if (operator !== '=' && operator !== '!=')
        throw usage(`${where}: ${choices.join(', ')} have no order; write = or !=`);
      if (!choices.includes(wanted))
        throw usage(`${where}: ${quote(wanted)} is not one of ${choices.join(', ')}.${didYouMean(wanted, choices)}`);
      return { bounds: only(wanted), read: asText };
    }
    default: {
      const beginning = wanted.replace(SHORT_MARK, '');
      const isShort = beginning !== wanted;
      return { bounds: only(beginning), read: value => asText(value).slice(0, isShort ? beginning.length : undefined) };
    }
  }
}

function asText(value: unknown): string {
  return Array.isArray(value) ? value.join(';') : String(value);
}
