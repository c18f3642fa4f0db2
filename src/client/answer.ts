/** A usable 2xx body as the result of its operation, checked against what was asked. */

import { DETAILS, FUNDING } from '../contract/card.ts';
import type { Evidence } from '../contract/evidence.ts';
import type { Shape } from '../contract/field.ts';
import type { ListPage, Operation } from '../contract/operation.ts';
import { wireName } from '../contract/overrides.ts';
import { staysWhole } from '../contract/whole-names.ts';
import { DAY } from '../core/durations.ts';
import { maskedValue } from '../core/masked-values.ts';
import type { Cents } from '../core/money.ts';
import { toUsd } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { isAsRead, type Problem, readObject } from './decode.ts';
import { readDetails } from './details.ts';
import type { Target } from './encode.ts';
import { findRows, readSingle } from './envelope.ts';
import type { WireHeaders } from './transport.ts';

type Values = Readonly<Record<string, unknown>>;

export interface RequestFacts {
  readonly target: Target;
  readonly input: Values;
  /** What the effect of a write is judged by. */
  readonly evidence?: Evidence | undefined;
  /** As in `CallOptions`. */
  readonly keyOfCaller?: boolean | undefined;
}

export interface Decoded {
  /** An object, or a `ListPage`. Partial when there are problems. */
  readonly result: unknown;
  readonly problems: readonly Problem[];
  /** The answer speaks of another card, webhook or amount than was asked. */
  readonly contradicts: boolean;
  readonly warnings: readonly string[];
  /** Lists: whether the service says that more follow. */
  readonly next?: boolean;
}

/** Reads the JSON of an answer. Never throws. */
export function decodeAnswer(asked: RequestFacts, value: unknown, headers: WireHeaders): Decoded {
  const { returns } = asked.target.row;
  if (returns.kind === 'none') return decodeNone(asked, value);
  return returns.kind === 'one' ? decodeOne(asked, value) : decodeList(asked, value, headers);
}

/** Nothing must come; what comes all the same must not deny it or speak of another resource. */
function decodeNone({ target, input }: RequestFacts, value: unknown): Decoded {
  const said = isObject(value) ? value : {};
  const asked = Object.keys(target.row.params ?? {}).map(name => input[name]);
  const problems: Problem[] = [];
  if (said['deleted'] === false) problems.push({ path: 'deleted', text: 'is false' });
  if (typeof said['id'] === 'string' && asked.length > 0 && !asked.includes(said['id'])) {
    problems.push({
      path: 'id',
      text: `is ${JSON.stringify(said['id'])}, but asked for was ${JSON.stringify(asked[0])}`,
    });
  }
  return { result: undefined, problems, contradicts: problems.length > 0, warnings: [] };
}

function decodeOne(asked: RequestFacts, value: unknown): Decoded {
  const { shape } = asked.target.row.returns;
  const read = shape === DETAILS ? readDetails : readObject;
  let contradictions: Set<Problem> | undefined;
  const { nameOf } = naming(asked.target);
  const single = readSingle(value, (source, at) => {
    const reading = read(source, { shape, at, nameOf });
    const against = differences(asked, reading.value);
    if (against.length === 0) return reading;
    contradictions ??= new Set();
    for (const each of against) contradictions.add(each);
    return { ...reading, problems: [...reading.problems, ...against] };
  });
  const contradicts = single.problems.some(problem => contradictions?.has(problem));
  const result = shape === FUNDING ? withRequested(asked, single.value) : single.value;
  if (shape === DETAILS) return { result, problems: single.problems, contradicts, warnings: single.warnings };
  const { value: clean, hidden, inexact } = maskedValue(result, wholeIn(shape));
  return {
    result: clean,
    problems: single.problems,
    contradicts,
    warnings: [...single.warnings, ...hidden.map(hiddenAt), ...inexact.map(inexactAt)],
  };
}

/** Card and amount of a transfer, where the answer leaves out what was asked for anyway. */
export function withRequested({ input }: Pick<RequestFacts, 'input'>, value: Values): Values {
  const { card_id: card = input['card_id'], amount = toUsd(input['amount'] as Cents) } = value;
  return { ...value, card_id: card, amount };
}

function decodeList({ target, input }: RequestFacts, value: unknown, headers: WireHeaders): Decoded {
  const found = findRows(value, headers);
  if (found === undefined) {
    return { result: undefined, problems: [{ path: 'data', text: 'is missing' }], contradicts: false, warnings: [] };
  }
  const { shape } = target.row.returns;
  const { nameOf } = naming(target);
  const whole = wholeIn(shape);
  const hasNames = Object.keys(shape).some(slot => nameOf(slot) !== undefined);
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const data = found.rows.map((row, index) => {
    if (!isObject(row)) {
      problems.push({ path: `${found.at}[${index}]`, text: 'is not an object' });
      return {};
    }
    let value: unknown = row;
    if (hasNames || !isAsRead(row, shape)) {
      const read = readObject(row, { shape, at: `${found.at}[${index}]`, nameOf });
      problems.push(...read.problems);
      for (const each of read.warnings) warnings.push(each.replace(`[${index}]`, '[]'));
      ({ value } = read);
    }
    const { value: clean, hidden, inexact } = maskedValue(value, whole);
    for (const place of hidden) warnings.push(hiddenAt(`${found.at}[].${place}`));
    for (const place of inexact) warnings.push(inexactAt(`${found.at}[].${place}`));
    const contradicted = contradictedFilter(clean as Values, target.row, input);
    if (contradicted !== undefined)
      problems.push({ ...contradicted, path: `${found.at}[${index}].${contradicted.path}` });
    return clean as Values;
  });
  for (const slot of mixedSigns(found.rows, shape)) {
    warnings.push(
      `${found.at}[].${slot} is negative in some records of a type and not in others; the type tells the direction`,
    );
  }
  const result: ListPage<Values> = { data, page: found.page };
  return { result, problems, contradicts: false, warnings, ...(found.next !== undefined && { next: found.next }) };
}

/** A service may count whole days, of whatever zone, and its clock may be another one. */
const RANGE_MARGIN_MS = DAY;

/** The first filter of a list that one of its rows does not fit. What a row leaves out says nothing. */
function contradictedFilter(value: Values, { query }: Operation, input: Values): Problem | undefined {
  for (const name in query) {
    const asked = input[name];
    if (asked === undefined) continue;
    const slot = name === 'from' || name === 'to' ? 'created_at' : name;
    const is = value[slot];
    if (typeof is !== 'string') continue;
    const apart = Date.parse(is) - Date.parse(String(asked));
    const fits =
      name === 'from'
        ? !(apart < -RANGE_MARGIN_MS)
        : name === 'to'
          ? !(apart > RANGE_MARGIN_MS)
          : is === asked || is.toLowerCase() === String(asked).toLowerCase();
    if (!fits)
      return {
        path: slot,
        text: `is ${JSON.stringify(is)}, which the filter ${name} leaves out (${JSON.stringify(asked)})`,
      };
  }
  return undefined;
}

/** A seed of a sandbox has up to sixteen digits of its own; no operation of a service has that field. */
function wholeIn(shape: Shape): (name: string) => boolean {
  return shape['seed'] === undefined ? staysWhole : name => name === 'seed' || staysWhole(name);
}

const hiddenAt = (place: string) => `${place} looks like a card number; it is masked`;
export const inexactAt = (place: string) =>
  `${place} is a number of more digits than can be kept; it may be shown with others`;

/** Fields whose sign is left out although the service itself does not agree on it. */
function mixedSigns(rows: readonly unknown[], shape: Shape): string[] {
  const unsigned = Object.keys(shape).filter(slot => shape[slot]?.unsigned);
  return unsigned.filter(slot => {
    if (!rows.some(row => isObject(row) && Number(row[slot]) < 0)) return false;
    const seen = new Set<string>();
    for (const row of rows)
      if (isObject(row) && Number(row[slot]) !== 0) seen.add(`${row['type']} ${Number(row[slot]) < 0}`);
    return [...seen].some(each => each.endsWith(' true') && seen.has(each.replace(/ true$/, ' false')));
  });
}

function naming({ name, overrides }: Target) {
  return { nameOf: (slot: string) => wireName(name, slot, overrides) };
}

/** Answers about another resource or another amount count as lacking what they must hold. */
function differences({ target, input }: RequestFacts, value: Values): Problem[] {
  const { row } = target;
  const { shape } = row.returns;
  const problems: Problem[] = [];
  for (const [param, field] of Object.entries(row.params ?? {})) {
    const slot = [param, 'id'].find(each => field.names !== undefined && shape[each]?.names === field.names);
    const answered = slot === undefined ? undefined : value[slot];
    if (slot !== undefined && answered !== undefined && answered !== null && answered !== input[param]) {
      problems.push({
        path: slot,
        text: `is ${JSON.stringify(answered)}, but asked for was ${JSON.stringify(input[param])}`,
      });
    }
  }
  if (isMoney(row.body) && isMoney(shape) && typeof value['amount'] === 'number') {
    const differs = value['amount'] !== toUsd(input['amount'] as Cents);
    if (differs) problems.push({ path: 'amount', text: 'is a different amount than asked for' });
  }
  return problems;
}

function isMoney(shape: Shape | undefined): boolean {
  return shape?.['amount']?.kind === 'money';
}
