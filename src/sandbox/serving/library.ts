/**
 * The options of `startSandbox()`, looked at: a misspelled one would be left out in silence where no types are checked,
 * and a test suite would run in another sandbox than it says.
 */

import { type AnyField, must, type Shape } from '../../contract/field.ts';
import type { Operation } from '../../contract/operation.ts';
import { choice, flag, integer, money, text, time } from '../../contract/own-field.ts';
import { CREATE_WEBHOOK } from '../../contract/resources.ts';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { DIALECT_NAMES } from '../../contract/sandbox/faults.ts';
import { type AdminMethod, adminMethodsByGroup } from '../../contract/sandbox/methods.ts';
import { mismatches } from '../../contract/sandbox/together.ts';
import { shapeProblem, violation } from '../../contract/violation.ts';
import { CliError } from '../../core/errors.ts';
import type * as Public from './library-types.ts';
import type { SandboxAdmin, SandboxOptions } from './library-types.ts';
import { askLocally, type RunningSandbox, startSandbox as start } from './start.ts';

const word = (...words: readonly string[]) => choice(words, 'One of them.');

const FIELDS = {
  store: text('memory, or the path of a file.'),
  listen: word('tcp', 'socket'),
  port: integer('Port.', { min: 0, max: 65_535 }),
  ipv6: flag('Whether.'),
  seed: integer('Seed.', { min: 0 }),
  ids: word('derived', 'counted'),
  data: word('empty', 'demo'),
  wallet: money('USD.', { min: 0 }),
  dialect: word(...DIALECT_NAMES),
  rateLimits: flag('Whether.'),
  timers: word('live', 'on-request'),
  deliveries: word('live', 'on-deliver'),
  allowRemoteWebhooks: flag('Whether.'),
  webhookSecret: { ...CREATE_WEBHOOK.secret, basis: {} },
} as const satisfies Shape;

const REAL = { mode: must(word('real')) } as const;
const FROZEN = { mode: must(word('frozen')), at: must(time('Where it stands.')) } as const;
const MODES = { mode: must(word('real', 'frozen')) } as const;

/** Of no kind of field. */
const OTHERS = ['clock', 'onFault'] as const;

// A new option is one of the two, or this does not compile.
type Known = keyof typeof FIELDS | (typeof OTHERS)[number];
const NAMES: Readonly<Record<Known, true>> & Readonly<Record<keyof SandboxOptions, true>> = {
  ...(Object.fromEntries(Object.keys(FIELDS).map(name => [name, true])) as Record<keyof typeof FIELDS, true>),
  clock: true,
  onFault: true,
};

/** Throws `usage` naming the first option that is unknown or has a value it cannot have. Undefined is left out. */
export function checkOptions(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(NAMES, name)) {
      throw wrong(`startSandbox has no option ${JSON.stringify(name)}; there are ${Object.keys(NAMES).join(', ')}`);
    }
    const field: AnyField | undefined = (FIELDS as Shape)[name];
    const problem = field === undefined || value === undefined ? undefined : violation(field, value);
    if (problem !== undefined) throw wrongOption(name, problem);
  }
  const { clock, data, wallet } = options as { clock?: unknown; data?: string; wallet?: number };
  const problem = clock === undefined ? undefined : clockProblem(clock);
  if (problem !== undefined) throw wrongOption('clock', problem);
  if (wallet !== undefined && data === 'demo') throw wrongOption('wallet', 'for the data set empty; demo has its own');
}

function clockProblem(clock: unknown): string | undefined {
  if (typeof clock !== 'object' || clock === null) return 'must be an object {mode: real} or {mode: frozen, at}';
  const values = clock as Readonly<Record<string, unknown>>;
  const { mode } = values;
  const problem = shapeProblem(MODES, { mode }) ?? shapeProblem(mode === 'real' ? REAL : FROZEN, values);
  return problem && `${problem.field} ${problem.text}`;
}

const wrongOption = (name: string, problem: string) => wrong(`the option ${name} of startSandbox: ${problem}`);

const wrong = (message: string) => new CliError('usage', { message, outcome: 'not_sent' });

// The control surface as methods of `startSandbox()`, made from its rows; their types are contract/sandbox/typescript.ts.

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
export const startSandbox: typeof Public.startSandbox = async (options = {}) => {
  checkOptions(options);
  const { timers = 'live', deliveries = 'live', allowRemoteWebhooks = false, dialect, ...same } = options;
  const running = await start({
    ...same,
    dialect,
    liveTimers: timers === 'live',
    deliveries: deliveries === 'live' ? 'sent' : 'queued',
    delivery: { allowRemote: allowRemoteWebhooks },
    version: CARDWRIGHT_VERSION,
  });
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
      throw refusalOf(status, value);
    },
  };
}

function refusalOf(status: number, value: unknown): Error {
  const {
    error = 'unknown',
    message = `answered ${status}`,
    request_id: requestId = '',
  } = (value ?? {}) as {
    error?: string;
    message?: string;
    request_id?: string;
  };
  return new SandboxRefusal({ status, error, message, requestId });
}
