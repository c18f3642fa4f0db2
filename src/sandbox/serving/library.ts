/**
 * The options of `startSandbox()`, looked at: a misspelled one would be left out in silence where no types are checked,
 * and a test suite would run in another sandbox than it says.
 */

import type { CompleteOf, Shape } from '../../contract/field.ts';
import type { Operation } from '../../contract/operation.ts';
import type { ERROR_BODY } from '../../contract/resources.ts';
import { START_OPTIONS } from '../../contract/sandbox/admin.ts';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { type AdminMethod, adminMethodsByGroup } from '../../contract/sandbox/methods.ts';
import { shapeProblem } from '../../contract/violation.ts';
import { CliError, notSent } from '../../core/errors.ts';
import { type Values, withoutUndefined } from '../../core/objects.ts';
import type * as Public from './library-types.ts';
import type { SandboxAdmin } from './library-types.ts';
import { askLocally, type RunningSandbox, type SandboxOptions, startSandbox as start } from './start.ts';

/** Throws `usage` naming the first option that is unknown or has a value it cannot have. Undefined is left out. */
export function checkOptions({ onFault: _onFault, ...options }: Values): void {
  const given: Values = withoutUndefined(options);
  const { clock, data, wallet } = given;
  const problem = shapeProblem(START_OPTIONS, given);
  if (problem !== undefined) throw wrongOption(problem.field, problem.text);
  const { mode, at } = (clock ?? { mode: 'real' }) as Values;
  if ((mode === 'frozen') !== (at !== undefined))
    throw wrongOption('clock', 'at is for a frozen clock, which needs it');
  if (wallet !== undefined && data === 'demo') throw wrongOption('wallet', 'for the data set empty; demo has its own');
}

const wrongOption = (name: string, problem: string) =>
  notSent('usage', `the option ${name} of startSandbox: ${problem}`);

// The control surface as methods of `startSandbox()`, made from its rows; their types are contract/openapi/typescript.ts.

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
  const { method, params = {}, query = {}, body, together } = row as Operation;
  return async (given = {}) => {
    const input = withoutUndefined(given);
    const problem = shapeProblem({ ...params, ...query, ...body }, input);
    const mismatch = together?.({ given: new Set(Object.keys(input)), values: input });
    if (problem !== undefined || mismatch !== undefined) {
      const message = `${called}: ${problem === undefined ? mismatch?.text : `${problem.field} ${problem.text}`}`;
      throw new CliError('usage', { message, outcome: 'not_sent', operation });
    }
    const partOf = (part: Shape) => Object.fromEntries(Object.entries(input).filter(([field]) => field in part));
    const place = row.path.replace(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(String(input[param])));
    const asked = `${new URLSearchParams(partOf(query) as Record<string, string>)}`;
    return admin.request(method as 'GET', asked === '' ? place : `${place}?${asked}`, body && partOf(body));
  };
}

// `cardwright/sandbox`: the sandbox for test suites and other programs. Its types stand in library-types.ts, which imports nothing, because the build ships that file as it is.

declare const CARDWRIGHT_VERSION: string;

type Failed = ConstructorParameters<typeof Public.SandboxRefusal>[0];

/** The refusal of a request; its members are described in library-types.ts. */
export class SandboxRefusal extends Error implements Public.SandboxRefusal {
  override readonly name = 'SandboxRefusal';
  readonly status: number;
  readonly error: string;
  readonly requestId: string;

  constructor({ status, error, message, requestId }: Failed) {
    super(message);
    this.status = status;
    this.error = error;
    this.requestId = requestId;
  }
}

/** Starts a sandbox in this process; options and methods are described in library-types.ts. */
export const startSandbox = async (options: SandboxOptions = {}): ReturnType<typeof Public.startSandbox> => {
  checkOptions(options as Values);
  const running = await start({ timers: 'live', ...options, version: CARDWRIGHT_VERSION });
  const admin = adminOf(running);
  const methods = sandboxMethods(admin);
  return {
    // Their types are made from the rows by the build.
    ...methods,
    url: running.url,
    ...(running.socketPath !== undefined && { socketPath: running.socketPath }),
    key: running.key.expose(),
    admin,
    async advance(by) {
      const { advance } = methods['clock'] as { advance(input: object): Promise<{ fired: Public.SandboxFired[] }> };
      return (await advance({ by })).fired;
    },
    deliver: async () => void (await running.deliver({ kind: 'idle' })),
    async check() {
      const { faults } = await admin.request<{ faults: string[] }>('POST', '/ledger/check');
      return faults;
    },
    stop: () => running.stop(),
    [Symbol.asyncDispose]: () => running.stop(),
  };
};

function adminOf({ url, socketPath, adminToken: token }: RunningSandbox): Public.SandboxAdmin {
  const base = new URL(url).origin + ADMIN_PATH;
  return {
    url: base,
    token: token.expose(),
    async request(method, path, input) {
      const body = input === undefined ? undefined : JSON.stringify(input);
      const { status, text } = await askLocally({ url: base + path, method, token, socketPath, body });
      const value: unknown = text === '' ? undefined : JSON.parse(text);
      if (status >= 200 && status < 300) return value as never;
      const { error = 'unknown', message = `answered ${status}`, request_id } = (value ?? {}) as Partial<ErrorBody>;
      throw new SandboxRefusal({ status, error, message, requestId: request_id ?? '' });
    },
  };
}

type ErrorBody = CompleteOf<typeof ERROR_BODY>;
