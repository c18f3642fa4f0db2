/** What went wrong as an error that a person can act on: what failed, and the next command. */
import { type RefusalName, refusalNamed } from '../contract/refusals.ts';
import type { Attempt } from '../contract/service.ts';
import { CliError, type ErrorKind, type ServiceRefusal } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import { lookHint } from '../core/row-words.ts';
import { isWrite, overrideOf, type Target } from './encode.ts';
import { seconds } from './wire.ts';

export interface Failure {
  readonly class: Exclude<Attempt['class'], 'done'>;
  readonly kind: ErrorKind;
  /** A clause: what went wrong on the way or with the answer. */
  readonly why: string;
  readonly status?: number | undefined;
  /** The service's own words. */
  readonly service?: ServiceRefusal | undefined;
  readonly refusal?: RefusalName | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The service has no such route, as far as can be told. */
  readonly routeMissing?: boolean;
  /** The answer is a web page, so the address is probably wrong. */
  readonly webPage?: boolean;
  /** Nobody listens at the address. */
  readonly nobody?: boolean | undefined;
  readonly cause?: unknown;
}

/** What was asked, as far as an error tells it. */
export interface RequestFacts {
  readonly target: Target;
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | undefined;
  readonly origin?: string | undefined;
  /** Variables of the environment that name address and key. */
  readonly variables?: readonly string[] | undefined;
}

/** What is known of the effect of a change, by the class of what came of it. */
const OUTCOMES = { not_sent: 'not_sent', refused: 'refused', throttled: 'refused', ambiguous: 'unknown' } as const;

/** The error of a failure, with everything that scripts and support need. */
export function errorOf(failure: Failure, request: RequestFacts): CliError {
  const { status, service, retryAfterMs, cause } = failure;
  const { target, idempotencyKey, origin, variables = [] } = request;
  // A sandbox that was stopped leaves its address in the shell.
  const isLeft = failure.nobody === true && origin?.startsWith('http:') === true && variables.length > 0;
  const why = isLeft ? `${failure.why}; ${variables[0]} sets that address` : failure.why;
  const hint = isLeft ? `unset ${variables.join(' ')}` : hintFor(failure, request);
  const isKnown = failure.class !== 'ambiguous' || isWrite(target.row);
  return new CliError(failure.kind, {
    message: messageFor({ ...failure, why }, request),
    operation: target.name,
    ...(hint !== undefined && { hint }),
    ...(isKnown && { outcome: OUTCOMES[failure.class] }),
    ...(status !== undefined && { httpStatus: status }),
    ...(service !== undefined && { service }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(cause !== undefined && { cause }),
  });
}

function messageFor(failure: Failure, { target, input }: RequestFacts): string {
  const { kind, why, retryAfterMs, routeMissing } = failure;
  const name = target.row.raw ? `${input['method'] ?? target.row.method} ${input['path']}` : target.name;
  switch (failure.class) {
    case 'not_sent':
      return `${name} was not sent: ${why}`;
    case 'throttled': {
      const wait = retryAfterMs === undefined ? '' : `; it asks for a pause of ${seconds(retryAfterMs)}`;
      return `${name} was refused because of a rate limit (${why})${wait}`;
    }
    case 'ambiguous':
      if (kind === 'unreachable') return `${name} failed: ${why}`;
      if (kind === 'contract_mismatch') return `${name}: the answer cannot be used: ${why}`;
      return `${name} was sent, but no trustworthy answer came back: ${why}. It may or may not have happened`;
    case 'refused':
      if (kind === 'internal')
        return `${name}: the idempotency key was used for another request (${why}); this is a bug`;
      if (kind === 'not_authenticated')
        return isOfSandbox(target)
          ? `${name}: the sandbox does not accept the admin token (${why})`
          : `${name}: the service does not accept the API key (${why})`;
      if (!routeMissing) return `${name} was refused: ${why}`;
      return isOfSandbox(target)
        ? `${name}: no control surface of a sandbox is served there (${why}); a server of many accounts serves it with --admin`
        : `${name}: the service has no such route (${why})`;
  }
}

/** An operation of the sandbox's control surface, which takes a token in place of a key. */
const isOfSandbox = ({ row }: Target) => row.section === 'sandbox';

/** The next command to run. */
function hintFor(failure: Failure, { target, input }: RequestFacts): string | undefined {
  const { kind, refusal, routeMissing, webPage, status, service } = failure;
  if (kind === 'outcome_unknown') return lookHint(target.name, input);
  if (webPage) return 'a proxy or a wrong base URL? cardwright whoami';
  if (routeMissing) return routeHint(target);
  switch (kind) {
    case 'not_authenticated':
      return isOfSandbox(target) ? 'cardwright help environment' : 'cardwright whoami';
    case 'not_found':
      return refusal === 'bin_not_found'
        ? 'cardwright bins list'
        : LISTED_BY[Object.keys(target.row.params ?? {})[0] ?? 'card_id'];
    case 'insufficient_funds':
      return 'cardwright wallet';
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

// What an error answer says, in whatever form (interface 2.7; reading rule 9).

/** The members of an error body, under the names of 2.7; of another body its request id, undefined where it has none. */
export function readErrorBody(value: unknown): ServiceRefusal | undefined {
  if (!isObject(value)) return undefined;
  const { error } = value;
  const [first] = Array.isArray(value['errors']) ? value['errors'] : [];
  const inner = [error, first].find(isObject);
  // `{type, code}`: the one that is known; else the code, which is the narrower of the two.
  const words = [text(inner?.['code']), text(inner?.['type'])].filter(word => word !== undefined);
  const identifier =
    text(error) ?? words.find(refusalNamed) ?? words[0] ?? text(value['code']) ?? problemType(value) ?? undefined;
  const requestId = text(value['request_id']) ?? text(value['requestId']) ?? text(inner?.['request_id']);
  const id = requestId !== undefined && { request_id: requestId };
  if (identifier === undefined && inner === undefined) return id || undefined;
  const message =
    text(value['message']) ?? text(inner?.['message']) ?? text(value['detail']) ?? text(value['title']) ?? undefined;
  const code = [value['code'], inner?.['code'], value['status']].find(each => Number.isSafeInteger(each));
  return {
    ...(identifier !== undefined && { error: identifier }),
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code: code as number }),
    ...id,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** problem+json: the last part of its type, or its title. */
function problemType(value: Readonly<Record<string, unknown>>): string | undefined {
  const [type, title] = [text(value['type']), text(value['title'])];
  if (type === undefined || title === undefined) return undefined;
  return type === 'about:blank' ? title : type.split(/[/#:]/).at(-1);
}
