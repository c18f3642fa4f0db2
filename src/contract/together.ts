/**
 * What is wrong with an input although each of its fields is right: what belongs together, said by its row.
 * The sandbox asks it of every request; commands of the sandbox, steps of a scenario and methods of the library are
 * checked before anything is sent.
 */
import { EVENTS } from './events.ts';

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
export type TogetherCheck = (step: Together) => Mismatch | undefined;

/** Of these fields there is exactly one. */
export const oneOf =
  (...names: readonly string[]): TogetherCheck =>
  ({ given, called = name => name }) =>
    names.filter(name => given.has(name)).length === 1
      ? undefined
      : { text: `one of ${names.map(called).join(' and ')} is needed` };

/** Events of a subscription are names that there are. */
export const knownEvents: TogetherCheck = ({ values: { events } }) => {
  if (!Array.isArray(events)) return undefined;
  if (events.length === 0) return { field: 'events', text: 'events must not be empty; * is all' };
  const other = events.find(name => name !== '*' && !Object.hasOwn(EVENTS, String(name)));
  return other === undefined ? undefined : { field: 'events', text: `${JSON.stringify(other)} is no event; * is all` };
};
