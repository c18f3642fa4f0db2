/** One call of a tool: its command runs in this process, and its answer or error becomes a result. */
import type { ToolHost } from '../../cli/context.ts';
import { shapeSchema } from '../../contract/json-schema.ts';
import { withoutCardNumbers } from '../../core/card-numbers.ts';
import { type Cents, cents, centsOf, dollars } from '../../core/money.ts';
import { isObject, jsonOrUndefined } from '../../core/objects.ts';
import { withoutPatterns } from '../../core/redaction.ts';
import { inputFault, type Tool, type ToolInput, type ToolWishes, toolsFor } from './tools.ts';

export interface ToolServerWishes extends ToolWishes {
  readonly maxTotal: Cents | undefined;
}

/** A result as the protocol has it. */
export interface ToolResult {
  readonly [member: string]: unknown;
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: boolean;
}

/** The members of an error line that a result reports. */
interface ReportedError {
  readonly kind: string;
  readonly message: string;
  readonly outcome?: string;
  readonly hint?: string;
  readonly notes?: readonly string[];
  readonly op?: string;
  readonly retryable?: boolean;
  readonly approval?: { readonly render: readonly (readonly [string, string])[]; readonly expires_at: string };
}

export type ToolServer = ReturnType<typeof toolServer>;

export function toolServer(run: ToolHost['run'], wishes: ToolServerWishes) {
  const tools = toolsFor(wishes);
  const bound = new RunBound(wishes.maxTotal);
  const { intentPrefix } = wishes;

  async function executed(tool: Tool, input: ToolInput): Promise<{ result: ToolResult; isNothing: boolean }> {
    const { words, stdin } = tool.command(input);
    const { code, out, err } = await run(words, { stdin });
    // Exit codes that are cardwright's own have a line on standard error, and the program was not run then.
    if (tool.effect === 'uses' && err === '') return { result: resultOf({ exit_code: code }), isNothing: false };
    if (tool.effect === 'uses') return { result: errorResult(errorOf(err, code)), isNothing: false };
    if (code === 0) return { result: resultOf(answerOf(out)), isNothing: false };
    const error = errorOf(err, code);
    const isNothing =
      error.kind !== 'pending_approval' && (error.outcome === 'not_sent' || error.outcome === 'refused');
    return { result: errorResult(error), isNothing };
  }

  return {
    tools: [...tools.values()].map(tool => ({
      name: tool.name,
      description: tool.description,
      inputSchema: { ...shapeSchema(tool.members, 'request'), type: 'object' as const, additionalProperties: false },
    })),
    /** Undefined for a name that is no tool of this server. Never rejects for what a command refuses. */
    async call(name: string, given: Readonly<Record<string, unknown>>): Promise<ToolResult | undefined> {
      const tool = tools.get(name);
      if (tool === undefined) return undefined;
      const fault = inputFault(tool, given);
      if (fault !== undefined) return refused(`${name}: ${fault}`);
      const input = given as ToolInput;
      if (tool.effect !== 'spends') return (await executed(tool, input)).result;
      const intent = String(input['intent']);
      if (!intent.startsWith(intentPrefix)) return refused(`intent begins with ${intentPrefix} in this server`);
      const amount = centsOf(Number(input['amount']));
      if (amount === undefined) return refused('amount is USD with at most two decimals');
      const spent = await bound.spend(intent, amount, () => executed(tool, input));
      if ('result' in spent) return spent.result;
      // What an earlier server has done spends nothing now. A dry run tells, and writes nothing.
      const { words, stdin } = tool.command(input);
      const { code, out, err } = await run(['--dry-run', ...words], { stdin });
      if (code !== 0) return errorResult(errorOf(err, code));
      const answer = answerOf(out);
      if (answer['dry_run'] !== true) return resultOf(answer);
      return errorResult({ kind: 'guarded', message: spent.refused, outcome: 'not_sent' });
    },
  };
}

const refused = (message: string) => errorResult({ kind: 'usage', message, outcome: 'not_sent' });

function answerOf(out: string): Record<string, unknown> {
  const answer: unknown = JSON.parse(out);
  return isObject(answer) ? (answer as Record<string, unknown>) : { data: answer };
}

function errorOf(err: string, code: number): ReportedError {
  const line = jsonOrUndefined(err.trim().split('\n').at(-1) ?? '');
  // Not said is not known.
  const notSaid = { kind: 'internal', message: `it ended with ${code} and did not say why`, outcome: 'unknown' };
  return isObject(line) ? (line['error'] as ReportedError) : notSaid;
}

/** They say nothing of what is under way. */
const MUTE: readonly string[] = ['interrupted', 'terminated', 'internal'];

const NEVER_ANEW =
  'It may have happened. Do not repeat it with another intent: call again with the same intent, which looks what came of it.';

function errorResult(error: ReportedError): ToolResult {
  const { kind, message, hint, notes = [], op, approval } = error;
  if (kind === 'pending_approval' && approval !== undefined) return pendingResult(error, approval);
  const { outcome = MUTE.includes(kind) ? 'unknown' : 'not_sent' } = error;
  const isUnknown = outcome === 'unknown' || kind === 'outcome_unknown';
  const next = isUnknown ? NEVER_ANEW : hint;
  return {
    ...resultOf({
      error: {
        kind,
        outcome,
        message,
        ...(op !== undefined && { op }),
        ...(notes.length > 0 && { notes }),
        ...(next !== undefined && { next }),
      },
    }),
    isError: true,
  };
}

/** What waits for a person, with a card of text for a chat. */
function pendingResult(
  { op = '', hint }: ReportedError,
  { render, expires_at }: NonNullable<ReportedError['approval']>,
): ToolResult {
  const approve = hint ?? `cardwright ops approve ${op}`;
  const card = [
    `Approval needed: ${op}`,
    ...render.filter(([name]) => name !== 'Operation').map(([name, words]) => `${name}: ${words}`),
    `A person approves it at a terminal: ${approve}`,
  ].join('\n');
  const next =
    'A person runs approve at a terminal. Then call again with the same intent; nothing you answer here counts.';
  return resultOf({ status: 'pending', op, approve, expires_at, card, next });
}

/** A result of members. Texts lose what looks like a card number, wherever it came from. */
function resultOf(members: Record<string, unknown>): ToolResult {
  const clean = cleaned(members) as Record<string, unknown>;
  return { content: [{ type: 'text', text: JSON.stringify(clean) }], structuredContent: clean };
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return withoutPatterns(withoutCardNumbers(value));
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isObject(value)) return value;
  // One id in ten would be taken for the number of a card. What the client has read of a service was looked at before.
  const isId = (name: string) => name === 'op' || name === 'id' || name.endsWith('_id');
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isId(name) ? member : cleaned(member)]),
  );
}

// The bound of one server, under all other limits. What a call may spend is reserved before its command runs, so that calls beside
// each other never pass the bound together, and given back only when nothing was spent for certain.

/** What came of a call; `isNothing`: for certain it spent nothing, and nothing of it waits. */
interface Spent<Result> {
  readonly result: Result;
  readonly isNothing: boolean;
}

export class RunBound {
  readonly #most: Cents | undefined;
  /** What each intent may have spent, or may spend when it is approved. */
  readonly #reserved = new Map<string, Cents>();
  /** Calls with one intent come one after the other: only then it is clear what each of them left. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(most: Cents | undefined) {
    this.#most = most;
  }

  /** Runs a call in its turn. Resolves to a refusal in words where the bound does not allow it. */
  spend<Result>(
    intent: string,
    amount: Cents,
    call: () => Promise<Spent<Result>>,
  ): Promise<{ readonly result: Result } | { readonly refused: string }> {
    const turn = (this.#turns.get(intent) ?? Promise.resolve()).then(async () => {
      const before = this.#reserved.get(intent);
      const used = [...this.#reserved.values()].reduce((sum, each) => sum + each, 0);
      // An intent is one purchase: it spends what it has reserved, and nothing more.
      if (before !== undefined && amount > before)
        return {
          refused: `the intent ${intent} was asked for ${dollars(before)} before; another purchase needs another intent`,
        };
      if (before === undefined && this.#most !== undefined && used + amount > this.#most) {
        const state = `${dollars(cents(used))} of it are used, and ${dollars(amount)} asked`;
        return { refused: `--max-total of this server is ${dollars(this.#most)}; ${state}` };
      }
      if (before === undefined) this.#reserved.set(intent, amount);
      const { result, isNothing } = await call();
      if (isNothing && before === undefined) this.#reserved.delete(intent);
      return { result };
    });
    this.#turns.set(
      intent,
      turn.catch(() => undefined),
    );
    return turn;
  }
}
