/**
 * Reads a scenario and checks all of it before its first step: operations, their fields and limits, names of earlier
 * answers. Every fault has its line and column. Then carries it out, until a step is not as it was expected.
 */

import { REFUSALS, type Refusal } from '../contract/refusals.ts';
import { fieldsOf, STEP_OPERATIONS, type StepOperation } from '../contract/sandbox/methods.ts';
import { shapeProblem } from '../contract/violation.ts';
import { CliError, type ErrorKind } from '../core/errors.ts';
import { SCENARIO_STEPS } from '../core/input-limits.ts';
import { centsOf } from '../core/money.ts';
import { isObject, type Values } from '../core/objects.ts';
import {
  faultyFile,
  listOf,
  members,
  notKnown,
  placeIn,
  readYamlFile,
  v,
  type YamlFault,
  type YamlPath,
  type YamlPosition,
} from '../terminal/yaml-file.ts';

export interface Step extends YamlPosition {
  /** Counted from 1. */
  readonly nth: number;
  readonly operation: StepOperation;
  /** In wire form, references as they stand. */
  readonly input: Values;
  readonly as: string | undefined;
  readonly expect: unknown;
  /** Identifier of the error it must be refused with. */
  readonly fails: string | undefined;
}

export type Scenario = ReturnType<typeof readScenario>;

const TEXT = v.pipe(v.string('must be text'), v.nonEmpty('must be text'));
const MOST = SCENARIO_STEPS.toLocaleString('en-US');

const SCENARIO = members({
  scenario: TEXT,
  about: v.optional(TEXT),
  steps: v.pipe(
    // A step is judged by the row of its operation, below.
    listOf(v.looseObject({}, 'a step is a map of an operation and its fields')),
    v.minLength(1, `a scenario has 1 to ${MOST} steps`),
    v.maxLength(SCENARIO_STEPS, `a scenario has 1 to ${MOST} steps`),
  ),
});

/** A definite no: the step did not do what it should. Anything else ends the run as what it is. */
const DEFINITE: readonly ErrorKind[] = ['not_found', 'refused', 'insufficient_funds', 'rate_limited'];

/** What `fails` may name: identifiers of the interface in any spelling, and kinds of a service that gives none. */
const NAMED = [...Object.entries<Refusal>(REFUSALS).flatMap(([name, { also = [] }]) => [name, ...also]), ...DEFINITE];

/** `file` is what the user called it. Throws `usage` with every fault of the file; nothing was sent then. */
export function readScenario(text: string, file: string) {
  const source = { file, hint: 'cardwright help scenarios' };
  const { value, root } = readYamlFile(text, SCENARIO, { ...source, asWritten: false });
  const faults: YamlFault[] = [];
  const fault = (path: YamlPath, what: string, ofKey?: boolean): undefined => {
    faults.push({ ...placeIn(root, path, ofKey), text: what });
  };
  /** Steps whose answers were given a name. */
  const known = new Map<string, StepOperation>();

  /** The fields of a step, held against the row of its operation; what an earlier step will have answered is not known yet. */
  function writtenInput(operation: StepOperation, written: unknown, path: YamlPath): Values {
    const input = written ?? {};
    if (!isObject(input)) {
      fault(path, `the fields of ${operation.name} must be a map; {} for none`);
      return {};
    }
    const fields = fieldsOf(operation);
    checkReferences(input, path);
    const before = faults.length;
    const values = Object.fromEntries(Object.entries(input).filter(([, value]) => !hasReference(value)));
    // One problem at a time is known to the check; each field is asked alone, so that all of them are told.
    for (const [name, field] of Object.entries(fields)) {
      if (Object.hasOwn(input, name) && !Object.hasOwn(values, name)) continue;
      const given = Object.hasOwn(values, name) ? { [name]: values[name] } : {};
      const problem = shapeProblem({ [name]: field }, given);
      if (problem !== undefined) fault([...path, name], `${name} ${problem.text}`);
    }
    for (const name of Object.keys(input).filter(each => !Object.hasOwn(fields, each))) {
      const words = Object.keys(fields).join(', ') || 'nothing';
      fault([...path, name], `${name} is not known to ${operation.name}; known: ${words}`, true);
    }
    // Said of fields that are right one by one.
    const found =
      faults.length === before ? operation.row.together?.({ given: new Set(Object.keys(input)), values }) : undefined;
    if (found !== undefined) fault([...path, ...(found.field === undefined ? [] : [found.field])], found.text);
    return input;
  }

  /** Every reference, however deep it stands, leads to an earlier step and to what that may answer. */
  function checkReferences(value: unknown, path: YamlPath): void {
    if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value))
        checkReferences(inner, [...path, Array.isArray(value) ? Number(name) : name]);
    const reference = referenceOf(value);
    const isMistaken = reference === undefined && typeof value === 'string' && /^\$[^$]/.test(value);
    if (isMistaken) fault(path, `${shown(value)} is no reference; $$ begins a plain $`);
    if (reference === undefined) return;
    const operation = known.get(reference.name);
    if (operation === undefined) fault(path, `no earlier step is called ${shown(reference.name)}`);
    const members = operation && possibleMembers(operation.row, reference.path);
    if (operation !== undefined && members !== undefined)
      fault(path, `${String(value)} is in no answer of ${operation.name}; known: ${members.join(', ') || 'nothing'}`);
  }

  const steps = value.steps.flatMap((step, index): readonly Step[] => {
    const path: YamlPath = ['steps', index];
    const { as: named, expect, fails: refused, note, ...asked } = step as Values;
    const textOf = (word: string, written: unknown) => {
      if (typeof written === 'string' && written !== '') return written;
      return written === undefined ? undefined : fault([...path, word], `${word} must be text`);
    };
    const [as, fails] = [textOf('as', named), textOf('fails', refused)];
    textOf('note', note);
    if (as !== undefined && !/^[a-z][a-z0-9_]*$/.test(as))
      fault([...path, 'as'], 'as must be a word: lower-case letters, digits and _');
    const [name, ...others] = Object.keys(asked);
    for (const other of others) fault([...path, other], `a step has one operation; ${shown(other)} is a second`, true);
    const operation = STEP_OPERATIONS.get(name ?? '');
    if (name === undefined) fault(path, 'the step names no operation');
    else if (operation === undefined)
      fault(
        [...path, name],
        `${shown(name)} is no operation of a scenario; cardwright help scenarios lists them`,
        true,
      );
    if (operation === undefined) return [];
    const input = writtenInput(operation, asked[operation.name], [...path, operation.name]);
    checkReferences(expect, [...path, 'expect']);
    if (fails !== undefined && expect !== undefined)
      fault([...path, 'expect'], 'a step that fails has no answer to expect', true);
    if (fails !== undefined && !NAMED.includes(fails))
      fault([...path, 'fails'], `${shown(fails)} ${notKnown(fails, NAMED)}`);
    if (fails !== undefined && as !== undefined)
      fault([...path, 'as'], 'a step that fails has no answer to name', true);
    if (as !== undefined) known.set(as, operation);
    return [{ nth: index + 1, ...placeIn(root, path), operation, input, as, expect, fails }];
  });
  if (faults.length > 0) throw faultyFile(faults, source);
  return { name: value.scenario, steps };
}

function hasReference(value: unknown): boolean {
  if (referenceOf(value) !== undefined) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasReference);
}

const shown = (value: unknown) => JSON.stringify(value);

// `$card.id` in a scenario: a value of what an earlier step answered, named by its `as`. `$$` begins a plain `$`.

const REFERENCE = /^\$([a-z][a-z0-9_]*)((?:\.[A-Za-z0-9_]+)*)$/;

/** Its `path` are members and places in lists, from the whole answer inwards. */
function referenceOf(value: unknown) {
  const [whole, name = '', path = ''] = (typeof value === 'string' && REFERENCE.exec(value)) || [];
  return whole === undefined ? undefined : { name, path: path.split('.').slice(1) };
}

/** Members of an answer that a path could go on with; undefined when it leads to one, or to where nobody knows. */
function possibleMembers({ returns }: StepOperation['row'], path: readonly string[]): readonly string[] | undefined {
  const inOrder = (known: readonly string[], member: string | undefined) =>
    member === undefined || known.includes(member) ? undefined : known;
  const members = Object.keys(returns.shape);
  if (returns.kind === 'none') return [];
  if (returns.kind === 'raw') return undefined;
  if (returns.kind === 'one') return inOrder(members, path[0]);
  const [part, place, member] = path;
  if (part !== 'data') return inOrder(['data', 'page'], part);
  if (place !== undefined && !/^\d+$/.test(place)) return ['0', '1', '2'];
  return inOrder(members, member);
}

type Captured = ReadonlyMap<string, unknown>;

/** A value with its references replaced, however deep they stand. Throws a `RangeError` naming one that leads nowhere. */
export function resolved(value: unknown, captured: Captured): unknown {
  const reference = referenceOf(value);
  if (reference !== undefined) {
    const members = (of: unknown) => (typeof of === 'object' && of !== null ? Object.entries(of) : []);
    const found = reference.path.reduce<unknown>(
      (of, step) => members(of).find(([name]) => name === step)?.[1],
      captured.get(reference.name),
    );
    if (found === undefined) throw new RangeError(`${String(value)} is not in what that step answered`);
    return found;
  }
  if (typeof value === 'string') return value.startsWith('$$') ? value.slice(1) : value;
  if (Array.isArray(value)) return value.map(entry => resolved(entry, captured));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, resolved(entry, captured)]));
}

// Carrying it out.

export interface StepDone {
  readonly step: number;
  readonly line: number;
  readonly operation: string;
  /** `ok`, or the identifier it was refused with, as expected. */
  readonly outcome: string;
  readonly id: string | null;
}

/** Sends one operation; money of its input is in cents. */
export type ExecuteStep = (operation: StepOperation, input: Values) => Promise<unknown>;

/** Each step once it is done. Throws `check_failed` naming step and line of the first that is not as expected. */
export async function* runScenario(
  { steps }: Scenario,
  { file, execute }: { readonly file: string; readonly execute: ExecuteStep },
): AsyncGenerator<StepDone, void> {
  const captured = new Map<string, unknown>();
  for (const [before, step] of steps.entries()) {
    const { nth, line, column, operation, fails } = step;
    const failed = (what: string) =>
      new CliError('check_failed', {
        message: `step ${nth} (${file}:${line}), ${operation.name}: ${what}`,
        notes: before === 0 ? [] : [`${before} of ${steps.length} steps were as expected before it`],
        faults: [{ file, line, column, text: what }],
        outcome: 'refused',
      });
    let [answer, expected]: unknown[] = [];
    let isRefused = false;
    try {
      expected = resolved(step.expect, captured);
      answer = await execute(operation, inputOf(step, captured));
    } catch (error) {
      if (error instanceof RangeError) throw failed(error.message);
      if (!(error instanceof CliError) || !DEFINITE.includes(error.kind)) throw error;
      const said = error.facts.service?.error ?? error.kind;
      if (said !== fails)
        throw failed(fails === undefined ? error.message : `was refused with ${said}, ${fails} expected`);
      isRefused = true;
    }
    if (fails !== undefined && !isRefused) throw failed(`went through, and should have been refused with ${fails}`);
    const wrong = step.expect === undefined ? [] : differences(expected, answer);
    if (wrong.length > 0) throw failed(wrong.join('; '));
    if (step.as !== undefined) captured.set(step.as, answer);
    yield { step: nth, line, operation: operation.name, outcome: fails ?? 'ok', id: idOf(answer) };
  }
}

/** Throws a `RangeError` for a value that an earlier answer does not have, or has otherwise than the field takes it. */
function inputOf({ operation, input }: Step, captured: Map<string, unknown>): Values {
  const values = resolved(input, captured) as Values;
  const fields = fieldsOf(operation);
  const problem = shapeProblem(fields, values);
  if (problem !== undefined) throw new RangeError(`${problem.field} ${problem.text}`);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const isMoney = fields[name]?.kind === 'money' && typeof value === 'number';
      return [name, isMoney ? centsOf(value) : value];
    }),
  );
}

/** The thing a step is about, for the table. */
function idOf(answer: unknown): string | null {
  if (!isObject(answer)) return null;
  const names = ['id', 'authorization_id', 'transaction_id', 'challenge_id', 'deposit_id', 'card_id'];
  return names.map(name => answer[name]).find(value => typeof value === 'string') ?? null;
}

// What a step must answer: the members that are named, as deep as they are named; the rest is free.

/** What is not as expected, in words; empty when all is. `at` is where it stands, `data.0.status`. */
export function differences(expected: unknown, found: unknown, at = ''): readonly string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(found)) return [different(expected, found, at)];
    if (found.length !== expected.length)
      return [`${at || 'it'} has ${found.length} entries, ${expected.length} expected`];
    return expected.flatMap((entry, nth) => differences(entry, found[nth], inner(at, String(nth))));
  }
  if (isObject(expected)) {
    if (typeof found !== 'object' || found === null) return [different(expected, found, at)];
    const members = found as Values;
    return Object.entries(expected).flatMap(([name, value]) => differences(value, members[name], inner(at, name)));
  }
  return Object.is(expected, found) ? [] : [different(expected, found, at)];
}

function inner(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function different(expected: unknown, found: unknown, at: string): string {
  const is = found === undefined ? 'is missing' : `is ${JSON.stringify(found)}`;
  return `${at || 'it'} ${is}, ${JSON.stringify(expected)} expected`;
}
