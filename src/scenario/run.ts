/** Carries a scenario out, step by step, until one is not as it was expected. */

import { fieldsOf, type StepOperation } from '../contract/sandbox/methods.ts';
import { shapeProblem } from '../contract/violation.ts';
import { CliError } from '../core/errors.ts';
import { centsOf } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { DEFINITE, resolved, type Scenario, type Step } from './read.ts';

export interface StepDone {
  readonly step: number;
  readonly line: number;
  readonly operation: string;
  /** `ok`, or the identifier it was refused with, as expected. */
  readonly outcome: string;
  readonly id: string | null;
}

/** Sends one operation; money of its input is in cents. */
export type ExecuteStep = (operation: StepOperation, input: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** Each step once it is done. Throws `check_failed` naming step and line of the first that is not as expected. */
export async function* runScenario(
  { steps }: Scenario,
  { file, execute }: { readonly file: string; readonly execute: ExecuteStep },
): AsyncGenerator<StepDone, void> {
  const captured = new Map<string, unknown>();
  for (const [before, step] of steps.entries()) {
    const { line, column } = step;
    const failed = (what: string) =>
      new CliError('check_failed', {
        message: `step ${step.nth} (${file}:${line}), ${step.operation.name}: ${what}`,
        notes: before === 0 ? [] : [`${before} of ${steps.length} steps were as expected before it`],
        faults: [{ file, line, column, text: what }],
        outcome: 'refused',
      });
    const answer = await executed(step, captured, execute, failed);
    if (step.as !== undefined) captured.set(step.as, answer);
    const { nth, operation, fails = 'ok' } = step;
    yield { step: nth, line, operation: operation.name, outcome: fails, id: idOf(answer) };
  }
}

async function executed(
  step: Step,
  captured: Map<string, unknown>,
  execute: ExecuteStep,
  failed: (what: string) => CliError,
): Promise<unknown> {
  const { operation, fails } = step;
  let [answer, expected]: unknown[] = [];
  try {
    expected = resolved(step.expect, captured);
    answer = await execute(operation, inputOf(step, captured));
  } catch (error) {
    if (error instanceof RangeError) throw failed(error.message);
    if (!(error instanceof CliError) || !DEFINITE.includes(error.kind)) throw error;
    const said = error.facts.service?.error ?? error.kind;
    if (said === fails) return undefined;
    throw failed(fails === undefined ? error.message : `was refused with ${said}, ${fails} expected`);
  }
  if (fails !== undefined) throw failed(`went through, and should have been refused with ${fails}`);
  const wrong = step.expect === undefined ? [] : differences(expected, answer);
  if (wrong.length > 0) throw failed(wrong.join('; '));
  return answer;
}

/** Throws a `RangeError` for a value that an earlier answer does not have, or has otherwise than the field takes it. */
function inputOf({ operation, input }: Step, captured: Map<string, unknown>): Readonly<Record<string, unknown>> {
  const values = resolved(input, captured) as Readonly<Record<string, unknown>>;
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
    const members = found as Readonly<Record<string, unknown>>;
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
