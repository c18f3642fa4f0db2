/** Classes of outcomes as errors a person can act on: what failed, and the next command. */
import { type RefusalName, type RefusalRule, refusalNamed } from '../contract/refusals.ts';
import { CliError, type ErrorKind, type Outcome, type ServiceRefusal } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import { overrideOf, type Target } from './encode.ts';
import { seconds } from './failure.ts';

export type OutcomeClass =
  | 'done'
  | 'unverified'
  | 'not_sent'
  | 'refused'
  | 'throttled'
  | 'in_progress'
  | 'ambiguous'
  | 'read_failed'
  | 'unreadable';

export type FailureClass = Exclude<OutcomeClass, 'done' | 'unverified'>;

export interface Classified {
  readonly class: FailureClass;
  readonly kind: ErrorKind;
  readonly outcome?: Outcome;
  /** Asking the very same again may help and can do no harm. */
  readonly again: boolean;
  /** The service has no such route, as far as can be told. */
  readonly routeMissing?: true;
  readonly refusal?: RefusalName;
  /** Of a write that is `refused`: what that proves, where nothing of it was sent before. */
  readonly rule?: RefusalRule;
}

export interface Happened {
  readonly target: Target;
  readonly input: Readonly<Record<string, unknown>>;
  /** A clause: what went wrong on the way or with the answer. */
  readonly why: string;
  readonly status?: number | undefined;
  /** The service's own words. */
  readonly service?: ServiceRefusal | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The answer is a web page, so the address is probably wrong. */
  readonly webPage?: boolean;
  readonly cause?: unknown;
  /** Nobody listens at the address. */
  readonly nobody?: boolean | undefined;
  readonly origin?: string;
  /** Variables of the environment that name address and key. */
  readonly variables?: readonly string[] | undefined;
}

/** The error of a class, with everything scripts and support need. */
export function errorOf(classified: Classified, facts: Happened): CliError {
  const { target, status, service, idempotencyKey, retryAfterMs } = facts;
  const unset = leftBehind(facts);
  const why = unset === undefined ? facts.why : `${facts.why}; ${facts.variables?.[0]} sets that address`;
  const happened = { ...facts, why };
  const hint = unset ?? hintFor(classified, happened);
  return new CliError(classified.kind, {
    message: messageFor(classified, happened),
    operation: target.name,
    ...(hint !== undefined && { hint }),
    ...(classified.outcome !== undefined && { outcome: classified.outcome }),
    ...(status !== undefined && { httpStatus: status }),
    ...(service !== undefined && { service }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(happened.cause !== undefined && { cause: happened.cause }),
  });
}

/** An address of this machine that a sandbox left in the shell when it was stopped: how to be rid of it. */
function leftBehind({ nobody, origin, variables = [] }: Happened): string | undefined {
  return nobody === true && origin?.startsWith('http:') && variables.length > 0
    ? `unset ${variables.join(' ')}`
    : undefined;
}

function messageFor(classified: Classified, { target, input, why, retryAfterMs }: Happened): string {
  const name = target.row.raw ? `${input['method'] ?? target.row.method} ${input['path']}` : target.name;
  switch (classified.class) {
    case 'not_sent':
      return `${name} was not sent: ${why}`;
    case 'throttled': {
      const wait = retryAfterMs === undefined ? '' : `; it asks for a pause of ${seconds(retryAfterMs)}`;
      return `${name} was refused because of a rate limit (${why})${wait}`;
    }
    case 'in_progress':
      return `${name} with this key is still in progress (${why})`;
    case 'ambiguous':
      return `${name} was sent, but no trustworthy answer came back: ${why}. It may or may not have happened`;
    case 'read_failed':
      return `${name} failed: ${why}`;
    case 'unreadable':
      return `${name}: the answer cannot be used: ${why}`;
    case 'refused':
      return refusedMessage(classified, name, why, isOfSandbox(target));
  }
}

function refusedMessage({ kind, routeMissing }: Classified, name: string, why: string, isOfSandbox: boolean): string {
  if (kind === 'internal') return `${name}: the idempotency key was used for another request (${why}); this is a bug`;
  if (kind === 'not_authenticated' && isOfSandbox)
    return `${name}: the sandbox does not accept the admin token (${why})`;
  if (kind === 'not_authenticated') return `${name}: the service does not accept the API key (${why})`;
  if (routeMissing && isOfSandbox)
    return `${name}: no control surface of a sandbox is served there (${why}); a server of many accounts serves it with --admin`;
  if (routeMissing) return `${name}: the service has no such route (${why})`;
  return `${name} was refused: ${why}`;
}

/** An operation of the sandbox's control surface, which takes a token in place of a key. */
const isOfSandbox = ({ row }: Target) => row.section === 'sandbox';

/** The next command to run. */
function hintFor(classified: Classified, { target, input, webPage, status, service }: Happened): string | undefined {
  if (webPage) return 'a proxy or a wrong base URL? cardwright whoami';
  if (classified.routeMissing) return routeHint(target);
  switch (classified.kind) {
    case 'not_authenticated':
      return isOfSandbox(target) ? 'cardwright help environment' : 'cardwright whoami';
    case 'not_found':
      return listHint(target, classified.refusal);
    case 'insufficient_funds':
      return 'cardwright wallet';
    case 'outcome_unknown':
      return lookHint(target.name, input);
    case 'unreachable':
      // It was reached, and said what it cannot do now: nothing of this machine is wrong.
      return status === 503 && service !== undefined ? undefined : 'cardwright doctor';
    case 'contract_mismatch':
      return 'cardwright contract check';
    case 'refused':
      return typeof input['card_id'] === 'string' ? lookHint(target.name, input) : undefined;
    default:
      return undefined;
  }
}

/** Where the route is only assumed, an override can say what it really is; a stated one speaks for a wrong address. */
function routeHint(target: Target): string {
  if (isOfSandbox(target)) return 'cardwright sandbox start --help';
  if (target.row.raw) return 'cardwright contract show';
  if (target.row.basis.assumed === undefined) return 'cardwright whoami';
  const { method = target.row.method, path = target.row.path } = overrideOf(target);
  return `set operations -> ${target.name} (now ${method} ${path}) in an override file: --contract <file>`;
}

/** Where the ids of a path parameter are listed; deposits are listed nowhere. */
const LISTED_BY: Readonly<Record<string, string>> = {
  card_id: 'cardwright cards list',
  webhook_id: 'cardwright webhooks list',
  authorization_id: 'cardwright tx list --type authorization',
  challenge_id: 'cardwright 3ds list',
  delivery_id: 'cardwright sandbox deliveries list',
  fault_id: 'cardwright sandbox faults list',
  transaction_id: 'cardwright tx list',
  request_id: 'cardwright sandbox requests',
  name: 'cardwright sandbox snapshot list',
};

function listHint({ row }: Target, refusal: RefusalName | undefined): string | undefined {
  if (refusal === 'bin_not_found') return 'cardwright bins list';
  const [parameter = 'card_id'] = Object.keys(row.params ?? {});
  return LISTED_BY[parameter];
}

/** How to see whether it happened. Ids are copied into a command only when a shell has nothing to read into them. */
function lookHint(name: string, input: Readonly<Record<string, unknown>>): string {
  const card = input['card_id'];
  if (typeof card === 'string' && /^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$/.test(card))
    return `cardwright cards get ${card}`;
  if (name.startsWith('cards.')) return 'cardwright cards list';
  return name.startsWith('webhooks.') ? 'cardwright webhooks list' : 'cardwright sandbox status';
}

// What an error answer says, in whatever form (interface 2.7; reading rule 9).

type Source = Readonly<Record<string, unknown>>;

/** The members of an error body, under the names of 2.7; undefined when it is none that an API would send. */
export function readErrorBody(value: unknown): ServiceRefusal | undefined {
  if (!isObject(value)) return undefined;
  const { error } = value;
  const inner = isObject(error) ? error : firstOf(value['errors']);
  const identifier = text(error) ?? identifierOf(inner) ?? text(value['code']) ?? problemType(value);
  if (identifier === undefined && inner === undefined) return undefined;
  const message =
    text(value['message']) ?? text(inner?.['message']) ?? text(value['detail']) ?? text(value['title']) ?? undefined;
  const code = [value['code'], inner?.['code'], value['status']].find(each => Number.isSafeInteger(each));
  const requestId = text(value['request_id']) ?? text(value['requestId']) ?? text(inner?.['request_id']);
  return {
    ...(identifier !== undefined && { error: identifier }),
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code: code as number }),
    ...(requestId !== undefined && { request_id: requestId }),
  };
}

/** A 2xx answer of a read whose body says that it failed; of a write, see `contract/answer-words.ts`. */
export function isErrorAnswer(value: unknown): boolean {
  if (!isObject(value)) return false;
  return text(value['error']) !== undefined || isObject(value['error']) || value['success'] === false;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function firstOf(value: unknown): Source | undefined {
  const [first] = Array.isArray(value) ? value : [];
  return isObject(first) ? first : undefined;
}

/** `{type, code}`: the one we know; else the code, which is the narrower of the two. */
function identifierOf(inner: Source | undefined): string | undefined {
  const words = [text(inner?.['code']), text(inner?.['type'])].filter(word => word !== undefined);
  return words.find(word => refusalNamed(word)) ?? words[0];
}

/** problem+json: the last part of its type, or its title. */
function problemType(value: Source): string | undefined {
  const type = text(value['type']);
  if (type === undefined || text(value['title']) === undefined) return undefined;
  return type === 'about:blank' ? text(value['title']) : type.split(/[/#:]/).at(-1);
}
