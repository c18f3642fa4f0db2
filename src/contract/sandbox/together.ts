/**
 * What is wrong with an input although each of its fields is right: what belongs together.
 * The sandbox asks it of every request; commands, steps of a scenario and methods of the library are
 * checked before anything is sent.
 */
import { EVENTS } from '../events.ts';
import { faultProblem } from './faults.ts';

type Values = Readonly<Record<string, unknown>>;

interface Together {
  /** Names of the fields that are there. */
  readonly given: ReadonlySet<string>;
  /** Those whose values are known before the first step. */
  readonly values: Values;
  /** What a field is called where it is typed; its own name when left out. */
  readonly called?: (field: string) => string;
}

/** With the field it stands at; none where it is about several. */
type Mismatch = { readonly field?: string | undefined; readonly text: string };
type Check = (step: Together) => Mismatch | undefined;

const oneOf =
  (...names: readonly string[]): Check =>
  ({ given, called = name => name }) =>
    names.filter(name => given.has(name)).length === 1
      ? undefined
      : { text: `one of ${names.map(called).join(' and ')} is needed` };

const rateOfScaled: Check = ({ given, values: { mode }, called = name => name }) =>
  mode === undefined || (mode === 'scaled') === given.has('rate')
    ? undefined
    : { text: `${called('rate')} is needed for a scaled clock, and for no other` };

const rule: Check = ({ given, values }) => {
  // What an earlier step names is not known yet: such a part is left out, and an action cannot be.
  if (given.has('action') && values['action'] === undefined) return undefined;
  const problem = faultProblem(values);
  return problem && { field: problem.field.split('.')[0], text: `${problem.field} ${problem.text}` };
};

const knownEvents: Check = ({ values: { events } }) => {
  if (!Array.isArray(events)) return undefined;
  if (events.length === 0) return { field: 'events', text: 'events must not be empty; * is all' };
  const other = events.find(name => name !== '*' && !Object.hasOwn(EVENTS, String(name)));
  return other === undefined ? undefined : { field: 'events', text: `${JSON.stringify(other)} is no event; * is all` };
};

const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  'clock.advance': [oneOf('by', 'to')],
  'clock.set': [rateOfScaled],
  'simulate.answer': [oneOf('otp', 'answer')],
  'simulate.deposit': [oneOf('amount', 'crypto_amount')],
  'faults.add': [rule],
  'webhooks.create': [knownEvents],
  'webhooks.update': [knownEvents],
};

/** Everything of the kind in an input of `operation`. */
export function mismatches(operation: string, step: Together): readonly Mismatch[] {
  const checks = Object.hasOwn(CHECKS, operation) ? (CHECKS[operation] ?? []) : [];
  return checks.map(check => check(step)).filter(found => found !== undefined);
}
