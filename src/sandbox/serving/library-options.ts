/**
 * The options of `startSandbox()`, looked at: a misspelled one would be left out in silence where no types are checked,
 * and a test suite would run in another sandbox than it says.
 */
import { shapeProblem } from '../../contract/check.ts';
import { type AnyField, choice, flag, integer, money, must, type Shape, text, time } from '../../contract/field.ts';
import { CREATE_WEBHOOK } from '../../contract/resources.ts';
import { described } from '../../contract/sandbox/basis.ts';
import { DIALECT_NAMES } from '../../contract/sandbox/faults.ts';
import { violation } from '../../contract/violation.ts';
import { CliError } from '../../core/errors.ts';
import type { SandboxOptions } from './library-types.ts';

const word = (...words: readonly string[]) => choice(words, described('One of them.'));

const FIELDS = {
  store: text(described('memory, or the path of a file.')),
  listen: word('tcp', 'socket'),
  port: integer({ ...described('Port.'), min: 0, max: 65_535 }),
  ipv6: flag(described('Whether.')),
  seed: integer({ ...described('Seed.'), min: 0 }),
  ids: word('derived', 'counted'),
  data: word('empty', 'demo'),
  wallet: money({ ...described('USD.'), min: 0 }),
  dialect: word(...DIALECT_NAMES),
  rateLimits: flag(described('Whether.')),
  timers: word('live', 'on-request'),
  deliveries: word('live', 'on-deliver'),
  allowRemoteWebhooks: flag(described('Whether.')),
  webhookSecret: { ...CREATE_WEBHOOK.secret, ...described('Secret.') },
} as const satisfies Shape;

const REAL = { mode: must(word('real')) } as const;
const FROZEN = { mode: must(word('frozen')), at: must(time(described('Where it stands.'))) } as const;
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
