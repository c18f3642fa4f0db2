/** What is wrong with a step although each of its fields is right: what belongs together, and text that has a form. */
import { EVENTS } from '../contract/events.ts';
import { faultProblem } from '../contract/sandbox/fault-rule.ts';
import { durationOf } from '../core/durations.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Together {
  /** Names of the fields that are there. */
  readonly given: ReadonlySet<string>;
  /** Those whose values are known before the first step. */
  readonly values: Values;
}

export interface Mismatch {
  /** Field it stands at; none where it is about several. */
  readonly field?: string | undefined;
  readonly text: string;
}

type Check = (step: Together) => Mismatch | undefined;

const oneOf =
  (...names: readonly string[]): Check =>
  ({ given }) =>
    names.filter(name => given.has(name)).length === 1
      ? undefined
      : { text: `one of ${names.join(' and ')} is needed` };

const spanIn =
  (field: string, alsoNone = false): Check =>
  ({ values: { [field]: value } }) => {
    if (typeof value !== 'string' || durationOf(value) !== undefined) return undefined;
    if (alsoNone && /^0[dhms]$/.test(value)) return undefined;
    return { field, text: `${field} ${JSON.stringify(value)} is not a time such as 7d, 36h or 1d12h` };
  };

const rateOfScaled: Check = ({ given, values: { mode } }) =>
  mode === undefined || (mode === 'scaled') === given.has('rate')
    ? undefined
    : { text: 'rate is needed for a scaled clock, and for no other' };

const rule: Check = ({ given, values }) => {
  // What an earlier step names is not known yet: such a part is left out, and an action cannot be.
  if (given.has('action') && values['action'] === undefined) return undefined;
  const problem = faultProblem(values);
  return problem && { field: problem.field.split('.')[0], text: `${problem.field} ${problem.text}` };
};

const knownEvents: Check = ({ values: { events } }) => {
  const names = Array.isArray(events) ? events : [];
  const other = names.find(name => name !== '*' && !Object.hasOwn(EVENTS, String(name)));
  return other === undefined ? undefined : { field: 'events', text: `${JSON.stringify(other)} is no event; * is all` };
};

const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  'clock.advance': [oneOf('by', 'to'), spanIn('by')],
  'clock.set': [rateOfScaled],
  'simulate.deposit': [oneOf('amount', 'crypto_amount')],
  'deliveries.rotate': [spanIn('overlap', true)],
  'faults.add': [rule],
  'webhooks.create': [knownEvents],
  'webhooks.update': [knownEvents],
};

/** Everything of the kind in a step of `operation`. */
export function mismatches(operation: string, step: Together): readonly Mismatch[] {
  const checks = Object.hasOwn(CHECKS, operation) ? (CHECKS[operation] ?? []) : [];
  return checks.map(check => check(step)).filter(found => found !== undefined);
}
