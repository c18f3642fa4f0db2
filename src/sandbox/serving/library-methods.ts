/** The control surface as methods of `startSandbox()`, made from its rows; their types are contract/sandbox/typescript.ts. */
import { shapeProblem } from '../../contract/check.ts';
import type { Shape } from '../../contract/field.ts';
import type { Operation } from '../../contract/operation.ts';
import { type AdminMethod, adminMethodsByGroup } from '../../contract/sandbox/methods.ts';
import { mismatches } from '../../contract/sandbox/together.ts';
import { CliError } from '../../core/errors.ts';
import type { SandboxAdmin } from './library-types.ts';

type Values = Readonly<Record<string, unknown>>;
type Method = (input?: Values) => Promise<unknown>;
type Methods = Readonly<Record<string, Method>>;

/** `{ simulate: { authorize }, clock: { advance }, reset, … }`. */
export function sandboxMethods(admin: SandboxAdmin): Readonly<Record<string, Method | Methods>> {
  const entries = [...adminMethodsByGroup()].flatMap(([group, methods]): [string, Method | Methods][] => {
    const made = methods.map((each): [string, Method] => [each.name, methodOf(each, admin)]);
    return group === undefined ? made : [[group, Object.fromEntries(made)]];
  });
  return Object.fromEntries(entries);
}

function methodOf({ operation, row, group, name }: AdminMethod, admin: SandboxAdmin): Method {
  const called = `sandbox.${group === undefined ? name : `${group}.${name}`}`;
  return async (input = {}) => {
    const { method, params = {}, query = {}, body } = row as Operation;
    const problem = problemOf(operation, { ...params, ...query, ...body }, input);
    if (problem !== undefined) {
      throw new CliError('usage', { message: `${called}: ${problem}`, outcome: 'not_sent', operation });
    }
    const path = withParams(row.path, input) + queryText(query, input);
    return admin.request(method as 'GET', path, body === undefined ? undefined : partOf(body, input));
  };
}

/** What is wrong with an input, so that nothing is sent. */
function problemOf(operation: string, shape: Shape, input: Values): string | undefined {
  const problem = shapeProblem(shape, input);
  if (problem !== undefined) return `${problem.field} ${problem.text}`;
  const given = new Set(Object.keys(input).filter(name => input[name] !== undefined));
  return mismatches(operation, { given, values: input })[0]?.text;
}

function withParams(path: string, input: Values): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
}

function queryText(query: Values, input: Values): string {
  const given = Object.entries(partOf(query, input)).map(([name, value]): [string, string] => [name, String(value)]);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** What of the input belongs to a part of the row; what is undefined is left out. */
function partOf(part: Values, input: Values): Values {
  return Object.fromEntries(Object.entries(input).filter(([name, value]) => name in part && value !== undefined));
}
