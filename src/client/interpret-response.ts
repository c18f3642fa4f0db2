/** One received answer to the class of its outcome (docs/design/reliability.md, sections 1 and 4). */

import { answerWord } from '../contract/answer-words.ts';
import { HEADERS } from '../contract/envelopes.ts';
import type { Evidence } from '../contract/evidence.ts';
import { refusalNamed } from '../contract/refusals.ts';
import type { CliError, ServiceRefusal } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import { type Decoded, decodeAnswer } from './answer.ts';
import { type Body, readBody } from './body.ts';
import { type Classified, classifyError, classifySilence, classifyUnusable } from './classify.ts';
import { unshown } from './effect.ts';
import { isWrite } from './encode.ts';
import { isErrorAnswer, readErrorBody } from './error-body.ts';
import { errorOf, type Happened } from './error-messages.ts';
import { dateOf, headerText, retryAfterMs } from './headers.ts';
import type { Ambiguity, Answered, Interpretation, Judged, Received } from './interpretation.ts';
import { decodeRaw, withoutSecrets } from './raw-answer.ts';
import type { Redactor } from './redact.ts';
import type { Exchange } from './transport.ts';

/**
 * Judges how one attempt ended. Never throws. Whatever an error, and with it the journal and every message, will repeat
 * of the answer has passed the redactor here, wherever in the answer it stood.
 */
export function interpretResponse(exchange: Exchange, judged: Judged): Interpretation {
  return withoutSecretsSaid(interpretationOf(exchange, judged), judged.redactor);
}

function withoutSecretsSaid(verdict: Interpretation, { text: clean }: Redactor): Interpretation {
  const { requestId } = verdict;
  const cleaned = requestId === undefined ? verdict : { ...verdict, requestId: clean(requestId) };
  if (cleaned.class === 'done') return cleaned;
  const error = cleanError(cleaned.error, clean);
  return cleaned.class === 'unverified' ? { ...cleaned, error } : { ...cleaned, error, said: clean(cleaned.said) };
}

function cleanError(error: CliError, clean: Redactor['text']): CliError {
  const { message, hint, service } = error.facts;
  const said = Object.entries(service ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? clean(value) : value,
  ]);
  return error.with({
    message: clean(message),
    ...(hint !== undefined && { hint: clean(hint) }),
    ...(service !== undefined && { service: Object.fromEntries(said) as ServiceRefusal }),
  });
}

function interpretationOf(exchange: Exchange, judged: Judged): Interpretation {
  if (exchange.status === undefined) {
    const classified = classifySilence(judged.target.row, exchange.sent);
    const { text: why, cause, nobody } = exchange.failure;
    return failed(classified, judged, { why, cause, nobody });
  }
  const body = readBody(exchange);
  return exchange.status >= 300 ? judgeError(exchange, body, judged) : judgeSuccess(exchange, body, judged);
}

type Extra = Omit<Happened, 'target' | 'input' | 'idempotencyKey'>;

function failed(classified: Classified, judged: Judged, extra: Extra): Interpretation {
  const error = errorOf(classified, { ...judged, ...extra });
  const requestId = extra.service?.request_id;
  return {
    class: classified.class,
    again: classified.again,
    refusal: classified.refusal,
    rule: classified.rule,
    said: extra.why,
    error,
    ...(extra.status !== undefined && { status: extra.status, requestId }),
  };
}

function judgeSuccess(exchange: Answered, body: Body, judged: Judged): Interpretation {
  const service = serviceOf(exchange, body, judged);
  const { status } = exchange;
  const extra = service === undefined ? { status } : { status, service };
  const received: Received = { status, requestId: service?.request_id };
  const succeeded: Succeeded = { exchange, body, judged, extra, received };
  return isWrite(judged.target.row) ? judgeWritten(succeeded) : judgeReadAnswer(succeeded);
}

/** A 2xx answer with what every verdict about it says. */
interface Succeeded {
  readonly exchange: Answered;
  readonly body: Body;
  readonly judged: Judged;
  readonly extra: Pick<Extra, 'status' | 'service'>;
  readonly received: Received;
}

function judgeReadAnswer({ exchange, body, judged, extra, received }: Succeeded): Interpretation {
  const { row } = judged.target;
  if (body.kind === 'json' && isErrorAnswer(body.value)) {
    return failed(classifyUnusable(row, false), judged, {
      ...extra,
      why: `an error came with status ${exchange.status}`,
    });
  }
  const unusable = unusableText(body);
  if (unusable === undefined) return judgeDecoded(decode(exchange, body, judged), received, judged);
  const cut = body.kind === 'damaged' && body.cut;
  return failed(classifyUnusable(row, cut), judged, { ...extra, why: unusable, webPage: body.kind === 'html' });
}

/** The answer of a write is believed when it shows the effect; else the resource must be read. */
function judgeWritten({ exchange, body, judged, extra, received }: Succeeded): Interpretation {
  const { row } = judged.target;
  const { status } = exchange;
  const evidence = judged.evidence && atServiceTime(judged.evidence, exchange, judged.answeredAt);
  const doubted = (doubt: Ambiguity, why: string, partial = {}): Interpretation => {
    const error = errorOf(classifyUnusable(row, false), { ...judged, ...extra, why });
    return { ...received, class: 'unverified', doubt, partial, error, evidence };
  };
  const raw = row.returns.kind === 'raw';
  const word = body.kind === 'json' ? answerWord(body.value, name => row.returns.shape[name]?.choices) : undefined;
  if (word?.says === 'no') {
    const why = `the answer says that it failed (${status}, ${word.text})`;
    return failed(classifyUnusable(row, false), judged, { ...extra, why });
  }
  if (status === 202) return doubted('pending', 'the service accepted it but has not finished (202)');
  // What a resource of a kind nobody knows is waiting for may be its ordinary life.
  if (word !== undefined && !raw) return doubted('pending', `the service has not finished (${status}, ${word.text})`);
  const unusable = unusableText(body);
  const contentless = status === 204 || saysNothingElse(body);
  const none = raw || row.returns.kind === 'none';
  if (none && body.kind === 'empty') return { ...received, class: 'done', decoded: decode(exchange, body, judged) };
  if (contentless && !none) return doubted('no_content', 'the answer holds only a word of success');
  if (unusable !== undefined) return doubted('worthless', unusable);
  if (body.kind === 'json' && !raw && !isObject(body.value)) return doubted('worthless', 'the answer is not an object');
  const decoded = decode(exchange, body, judged);
  const [problem] = decoded.problems;
  const partial = isObject(decoded.result) ? decoded.result : {};
  if (decoded.contradicts) return doubted('worthless', problemText(decoded), partial);
  if (problem) return doubted('lacking', problemText(decoded), partial);
  const missing = none ? undefined : unshown(judged, partial, evidence);
  if (missing !== undefined) return doubted('lacking', missing, partial);
  return { class: 'done', status, requestId: received.requestId, decoded, evidence };
}

/**
 * The plan's time by the clock of the service: clocks of sandboxes are set at will. Best it was told when the write was
 * sent first; else this answer tells it.
 */
function atServiceTime(evidence: Evidence, { headers }: Answered, answeredAt: number): Evidence {
  if (evidence.serviceAt !== undefined) return { ...evidence, plannedAt: evidence.serviceAt, byServiceClock: true };
  const date = dateOf(headers);
  if (date === undefined) return evidence;
  return { ...evidence, plannedAt: evidence.plannedAt + (date - answeredAt), byServiceClock: true };
}

function decode(exchange: Answered, body: Body, judged: Judged): Decoded {
  const { target, redactor } = judged;
  const came = body.kind === 'json' ? body.value : undefined;
  if (target.row.returns.kind === 'raw') return decodeRaw(exchange, came, redactor);
  return decodeAnswer(judged, target.row.raw ? withoutSecrets(came, redactor).value : came, exchange.headers);
}

function judgeDecoded(decoded: Decoded, received: Received, judged: Judged): Interpretation {
  if (decoded.problems.length === 0) return { ...received, class: 'done', decoded };
  const { status, requestId } = received;
  const service = requestId === undefined ? {} : { service: { request_id: requestId } };
  return failed(classifyUnusable(judged.target.row, false), judged, { status, why: problemText(decoded), ...service });
}

function problemText({ problems }: Decoded): string {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return `${first?.path} ${first?.text}${more}`;
}

function unusableText(body: Body): string | undefined {
  switch (body.kind) {
    case 'json':
      return undefined;
    case 'empty':
      return 'the answer is empty';
    case 'html':
      return notTheApi(body.title);
    case 'text':
      return 'the answer is not JSON';
    case 'damaged':
      return body.text;
  }
}

const notTheApi = (title: string | undefined) => `the answer is a web page, not the API${title ? `: "${title}"` : ''}`;

/** `{"success": true}`, and what a delete answers: `{"id", "deleted": true}`. */
function saysNothingElse(body: Body): boolean {
  if (body.kind !== 'json' || !isObject(body.value)) return false;
  const { success, deleted } = body.value;
  const others = Object.keys(body.value).filter(
    key => !['success', 'deleted', 'id', 'message', 'object'].includes(key),
  );
  return (success === true || deleted === true) && deleted !== false && others.length === 0;
}

function judgeError(exchange: Answered, body: Body, judged: Judged): Interpretation {
  const { status, headers } = exchange;
  const { row, overrides } = judged.target;
  const service = serviceOf(exchange, body, judged);
  const refusal = refusalNamed(service?.error);
  const fromApi = service?.error !== undefined || (body.kind === 'json' && readErrorBody(body.value) !== undefined);
  const classified = classifyError({
    row,
    status,
    identifier: service?.error,
    refusal,
    fromApi,
    isJson: /^[^;]*\bjson\b/i.test(headerText(headers, 'content-type') ?? ''),
    keyOfCaller: judged.keyOfCaller,
  });
  return failed(classified, judged, {
    status,
    why: errorText(exchange, body, { service, origin: judged.origin, path: judged.path }),
    webPage: body.kind === 'html',
    retryAfterMs: retryAfterMs(headers, overrides.headers.retry_after ?? HEADERS.retry_after.name),
    ...(service && { service }),
  });
}

interface Said {
  readonly service: ServiceRefusal | undefined;
  readonly origin: string;
  readonly path: string;
}

function errorText({ status, headers }: Answered, body: Body, { service, origin, path }: Said): string {
  if (status < 400) {
    const location = headerText(headers, 'location') ?? '';
    const to = URL.canParse(location, `${origin}${path}`) ? new URL(location, `${origin}${path}`) : undefined;
    const [from, target] =
      to?.origin === origin ? [path.split('?')[0], to.pathname] : [origin, to?.origin ?? 'an unnamed address'];
    return `${from} redirects to ${target} (${status}); redirects are not followed, set the base URL to the right one`;
  }
  if (body.kind === 'html') return `${notTheApi(body.title)} (${status} from ${origin})`;
  if (service?.error === undefined) return `status ${status}`;
  return service.message
    ? `${service.error}, "${service.message.slice(0, 300)}" (${status})`
    : `${service.error} (${status})`;
}

/** The service's error verbatim; with a request id in a header alone, just that. */
function serviceOf({ headers }: Answered, body: Body, judged: Judged): ServiceRefusal | undefined {
  const said = body.kind === 'json' ? (readErrorBody(body.value) ?? idOnly(body.value)) : undefined;
  const name = judged.target.overrides.headers.request_id ?? HEADERS.request_id.name;
  const requestId = said?.request_id ?? headerText(headers, name);
  if (said === undefined && requestId === undefined) return undefined;
  return { ...said, ...(requestId !== undefined && { request_id: requestId }) };
}

function idOnly(value: unknown): ServiceRefusal | undefined {
  const id = isObject(value) ? value['request_id'] : undefined;
  return typeof id === 'string' ? { request_id: id } : undefined;
}
