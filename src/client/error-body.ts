/** What an error answer says, in whatever form (interface 2.7; reading rule 9). */

import { refusalNamed } from '../contract/refusals.ts';
import type { ServiceRefusal } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';

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
