/**
 * Reads the text of a file of contract overrides (docs/design/cli.md), and refuses what would make an operation another
 * one.
 */
import { CliError } from '../core/errors.ts';
import { notJson } from '../core/json-position.ts';
import { HEADERS } from './envelopes.ts';
import type { Method } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { overrideProblem } from './override-rules.ts';
import { FIELD_GROUPS, type OperationOverride, type Overrides } from './overrides.ts';
import { pathProblem } from './route.ts';

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Headers that say who asks, where a message ends and where it goes. */
const OF_HTTP =
  /^(?:host|authorization|proxy-.*|cookie|connection|keep-alive|content-.*|transfer-encoding|accept.*|te|trailer|upgrade|expect)$/i;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Reads the JSON text of an override file. Throws `usage` naming the file and the entry that is wrong. */
export function readOverrides(json: string, file: string): Overrides {
  const wrong = (what: string) =>
    new CliError('usage', { message: `contract overrides in ${file}: ${what}`, outcome: 'not_sent' });
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw wrong(notJson(json));
  }
  const top = record(parsed, wrong, 'the file');
  for (const key of Object.keys(top)) {
    if (!['operations', 'fields', 'headers'].includes(key)) throw wrong(`unknown key ${JSON.stringify(key)}`);
  }
  const operations = Object.entries(record(top['operations'] ?? {}, wrong, 'operations'));
  const fields = Object.entries(record(top['fields'] ?? {}, wrong, 'fields'));
  const headers = Object.entries(record(top['headers'] ?? {}, wrong, 'headers'));
  const overrides: Overrides = {
    operations: Object.fromEntries(operations.map(([name, row]) => [name, operationOverride(name, row, wrong)])),
    fields: Object.fromEntries(fields.map(([name, to]) => [name, fieldOverride(name, to, wrong)])),
    headers: Object.fromEntries(headers.map(([name, to]) => [name, headerOverride(name, to, wrong)])),
  };
  const problem = overrideProblem(overrides);
  if (problem !== undefined) throw wrong(problem);
  return overrides;
}

type Wrong = (what: string) => CliError;

function record(value: unknown, wrong: Wrong, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(`${where} must be an object`);
  return value as Record<string, unknown>;
}

function operationOverride(name: string, value: unknown, wrong: Wrong): OperationOverride {
  if (!Object.hasOwn(OPERATIONS, name)) {
    throw wrong(`unknown operation ${JSON.stringify(name)}; known: ${Object.keys(OPERATIONS).join(' ')}`);
  }
  const row = record(value, wrong, name);
  for (const key of Object.keys(row)) {
    if (!['method', 'path', 'body'].includes(key)) throw wrong(`${name} has an unknown key ${JSON.stringify(key)}`);
  }
  const { method, path, body } = row;
  if (method !== undefined && !(typeof method === 'string' && METHODS.includes(method))) {
    throw wrong(`${name}.method must be one of ${METHODS.join(', ')}`);
  }
  if (path !== undefined && typeof path !== 'string') throw wrong(`${name}.path must begin with / and hold no query`);
  const problem = path === undefined ? undefined : pathProblem(path);
  if (problem !== undefined) throw wrong(`${name}.path ${problem}`);
  const unknown = [...String(path ?? '').matchAll(/\{(\w*)\}/g)].find(([, param]) => !knownParam(name, param ?? ''));
  if (unknown) throw wrong(`${name}.path has the unknown parameter ${unknown[0]}`);
  return {
    ...(method === undefined ? {} : { method: method as Method }),
    ...(path === undefined ? {} : { path: path as `/${string}` }),
    ...(body === undefined ? {} : { body: record(body, wrong, `${name}.body`) }),
  };
}

/** Parameters of the row, and those of its query: `/cards/{card_id}/transactions` is a known other form. */
function knownParam(name: string, param: string): boolean {
  const row = OPERATIONS[name as keyof typeof OPERATIONS] as { params?: object; query?: object };
  return Object.hasOwn(row.params ?? {}, param) || Object.hasOwn(row.query ?? {}, param);
}

function fieldOverride(name: string, value: unknown, wrong: Wrong): string {
  const [group = '', slot] = name.split('.');
  if (!(FIELD_GROUPS as readonly string[]).includes(group) || !slot) {
    throw wrong(`unknown field ${JSON.stringify(name)}; write <resource>.<field> with ${FIELD_GROUPS.join(', ')}`);
  }
  if (typeof value !== 'string' || value === '') throw wrong(`${name} must be the name on the wire`);
  return value;
}

function headerOverride(name: string, value: unknown, wrong: Wrong): string {
  if (!Object.hasOwn(HEADERS, name))
    throw wrong(`unknown header ${JSON.stringify(name)}; known: ${Object.keys(HEADERS).join(' ')}`);
  if (typeof value !== 'string' || !HEADER_NAME.test(value)) throw wrong(`${name} must be a header name`);
  if (name === 'idempotency_key' && OF_HTTP.test(value))
    throw wrong(`${name} cannot be ${value}: that header has a meaning of its own`);
  return value;
}
