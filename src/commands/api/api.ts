/** `api`: a raw request, checked for what must not leave this machine; a change goes as the operation it is. */
import type { Context } from '../../cli/context.ts';
import { pagedListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, local, option, takes } from '../../cli/parsing/flag.ts';
import { quote } from '../../cli/parsing/values.ts';
import { CALLS, type Input, type WriteName } from '../../contract/calls.ts';
import type { Shape } from '../../contract/field.ts';
import { METHODS, type Operation, type RawAnswer } from '../../contract/operation.ts';
import { type Matched, matchOperation, pathProblem, revealsSecret } from '../../contract/overrides.ts';
import { SECRET_NAMES } from '../../contract/resources.ts';
import { HOLDS_SECRET } from '../../contract/violation.ts';
import { containsSecret, isInexact } from '../../core/card-numbers.ts';
import { notSent, usage } from '../../core/errors.ts';
import { RAW_BODY_BYTES, RAW_PATH_CHARACTERS } from '../../core/input-limits.ts';
import { centsOf } from '../../core/money.ts';
import { isObject, jsonOrUndefined, type Values } from '../../core/objects.ts';
import { printableJson } from '../../terminal/printable.ts';
import type { Listing, Row } from '../../terminal/view.ts';
import { NAME_FLAGS, nameOf, withIntent } from '../cards/create.ts';

export const api = command({
  path: 'api',
  summary: 'Send a raw request, with the same guards, journal and retries',
  about: [
    'The path is added to the base address; no other host is contacted. Fields become the JSON body, or the query of a GET. --input is sent byte for byte.',
    'A card that is created carries no marker of the journal unless --marker adds the metadata key cardwright: when its answer is lost, it cannot be looked for, and the outcome is unknown (11).',
    'A change that is an operation of the contract is handled like its own command: confirmed, journaled and retried in the same way. Any other change is treated as moving money: it is journaled, sent once and never repeated. If no trustworthy answer comes, it ends with 11.',
    'With --intent a change that was carried out before is not sent again. Of an unknown operation its answer is not kept, so only the intent is shown.',
    'Card numbers, codes and secrets are removed from every answer. Card details are refused here; use cards details.',
  ],
  operation: 'api.write',
  answers: { any: 'What the service answered; with --paginate {data, page}, with -i {status, headers, body}.' },
  args: {
    method: argument(takes.choice(METHODS, 'HTTP method.')),
    path: argument(takes.text('Path below the base address, /cards for example.')),
  },
  flags: {
    field: option(takes.map('A text field.'), { short: 'f', placeholder: '<key=value>' }),
    typed: option(takes.map('A JSON field: a number, a list, null.'), { short: 'F', placeholder: '<key:=json>' }),
    input: option(local('file', 'File with the JSON body; - for standard input.'), {
      placeholder: '<file>',
      conflicts: ['field', 'typed'],
    }),
    paginate: option(takes.flag('Merge all pages of a list.')),
    include: option(takes.flag('Also print status and headers.'), { short: 'i', conflicts: ['paginate'] }),
    intent: NAME_FLAGS.intent,
    idempotencyKey: NAME_FLAGS.idempotencyKey,
    marker: option(takes.flag('Add the metadata key cardwright to a card that is created, to find it again.')),
  },
  examples: {
    'A list as the service answers it': 'api GET /cards -f status=active',
    'The ids of all pages': "api GET /cards --paginate --jq '.data[].id'",
    'Status and headers too': 'api GET /bins -i',
    'A change, shown before it is sent': 'api POST /cards/card_1/fund -F amount:=25 --dry-run',
  },
  async run(ctx, { field, typed, input: file, paginate, include = false, marker = false, ...asked }) {
    const body = (path: string) => (path === '-' ? ctx.files.stdin.readText(RAW_BODY_BYTES) : ctx.files.readFile(path));
    const input = file === undefined ? undefined : await body(file);
    const { method, path, intent, idempotencyKey } = asked;
    const call = rawCallOf(method, path, input === undefined ? membersOf(field, typed) : objectIn(input), input);
    if (revealsSecret(call.path, await ctx.api.overrides()))
      throw notSent(
        'guarded',
        'card details are not available here: use cards details',
        'cardwright cards details --help',
      );
    if (method !== 'GET') {
      if (paginate) throw usage('--paginate reads a list; it goes with GET');
      return change(ctx, call, { ...nameOf(asked), include, marker });
    }
    if (intent !== undefined) throw usage('--intent is for changes; a GET does not need one');
    if (idempotencyKey !== undefined) throw usage('--idempotency-key is for changes; a GET does not need one');
    if (marker) throw usage(MARKER_USE);
    const whole = `${call.path}${call.query}`;
    if (!paginate)
      return { ...answerOf(ctx, await ctx.api.read('api.read', { method, path: whole }), include), isRead: true };
    const pages = (await ctx.api.reader()).pages('api.pages', { path: whole });
    const listing = pagedListing(pages, { noun: 'row', all: true, sorted: ctx.sorted, progress: ctx.ui.progress });
    return { listing, isRead: true };
  },
  noun: 'answer',
  show: (answer: { readonly isRead?: boolean } & ({ readonly body: unknown } | { readonly listing: Listing })) => ({
    ...(answer.isRead && { changedNothing: true }),
    ...('listing' in answer
      ? { listing: answer.listing }
      : { data: answer.body as Row, prose: printableJson(`${JSON.stringify(answer.body, undefined, 2) ?? ''}\n`) }),
  }),
});

const MARKER_USE = '--marker is for a request that creates a card; no other request can carry it';

type Wishes = ReturnType<typeof nameOf> & { readonly include: boolean; readonly marker: boolean };

/** Sends the bytes that were given; a marker, which cannot be added to them, makes the body anew. */
async function change(ctx: Context, asked: RawCall, { include, marker, ...named }: Wishes) {
  const { method, path, query, body, text } = asked;
  const matched = matchOperation(asked, await ctx.api.overrides());
  if (matched !== undefined && isWriteName(matched.operation)) {
    const { operation } = matched;
    if (query !== '') throw usage(`${operation} takes no query`);
    if (include) throw usage(`-i shows one answer, and ${operation} may take several; remove it`);
    if (marker && operation !== 'cards.create') throw usage(MARKER_USE);
    const intent = `Send ${method} ${path} (${operation})`;
    const options = { intent, ...named, marker, ...(!marker && { body: text }) };
    const { result, intent: used } = await ctx.api.write(operation, inputOf(operation, matched), options);
    // A secret that was sent and comes back is left out.
    const shown = Object.entries(result ?? {}).filter(([name]) => !isSecretName(name));
    return { body: withIntent(Object.fromEntries(shown), used) };
  }
  if (marker) throw usage(MARKER_USE);
  // What the journal keeps must hold none.
  const [secret] = [...membersIn(body)].find(([name]) => isSecretName(name)) ?? [];
  if (secret !== undefined) throw usage(`the field ${JSON.stringify(secret)} is a secret and cannot be journaled`);
  const sent = { method, path: `${path}${query}`, ...(text !== undefined && { body: text }) };
  const options = { intent: `Send ${method} ${path}`, ...named };
  const { result, intent: used } = await ctx.api.write('api.write', sent, options);
  // What was answered then is not kept.
  return used?.repeated ? { body: { intent: used } } : answerOf(ctx, result, include);
}

function answerOf(ctx: Context, { status, headers, body, hidden }: RawAnswer, include: boolean): { body: unknown } {
  if (hidden > 0)
    ctx.ui.notice(
      `${hidden === 1 ? 'a secret value was' : `${hidden} secret values were`} removed; use cards details and 3ds list`,
    );
  return { body: include ? { status, headers, body: body ?? null } : body };
}

/** Whether it changes something. */
function isWriteName(name: Matched['operation']): name is WriteName & Matched['operation'] {
  const { effect } = CALLS[name];
  return effect !== 'read' && effect !== 'reveals-secret';
}

/** Throws `usage` naming the first member that the operation does not take. */
function inputOf<N extends WriteName>(operation: N, { params, body }: Pick<Matched, 'params' | 'body'>): Input<N> {
  const shape = (CALLS[operation] as Operation).body ?? {};
  if (operation === 'webhooks.create' && body['secret'] === undefined) {
    throw usage(
      'the generated secret is shown only once, and api shows no secrets',
      'cardwright webhooks create --help',
    );
  }
  const members = Object.entries(body).map(([name, value]) => [name, memberOf(operation, shape, name, value)]);
  return { ...params, ...Object.fromEntries(members) } as Input<N>;
}

function memberOf(operation: string, shape: Shape, name: string, value: unknown): unknown {
  const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (field === undefined) {
    throw usage(`${operation} takes no ${JSON.stringify(name)}; known: ${Object.keys(shape).join(', ') || 'nothing'}`);
  }
  if (field.kind !== 'money' || value === null) return value;
  const amount = typeof value === 'number' ? centsOf(value) : undefined;
  if (amount === undefined) throw usage(`${name} is not an amount as a JSON number: -F ${name}:=25`);
  return amount;
}

/** Values of a JSON value, however deep; an entry of a list has no name. */
function* membersIn(value: unknown): Generator<readonly [name: string, member: unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield [Array.isArray(value) ? '' : name, member];
    yield* membersIn(member);
  }
}

const isSecretName = (name: string) => SECRET_NAMES.has(name.toLowerCase());

type Texts = Readonly<Record<string, string>>;

interface RawCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** With its question mark; empty without one. */
  readonly query: string;
  readonly body: Values | undefined;
  /** The body as it is sent: what was given, byte for byte; fields as the JSON of them, in the order typed. */
  readonly text: string | undefined;
}

/** Throws `usage`; nothing was sent. Values of a GET are its query; `input` is the text that they were read from. */
function rawCallOf(method: string, typed: string, members: Values, input: string | undefined): RawCall {
  const isRead = method === 'GET';
  if (isRead && input !== undefined) throw usage('a GET has no body; remove --input');
  const { path, query: given } = partsOf(typed);
  for (const [name, member] of membersIn(members)) {
    if (containsSecret(name)) throw usage(`the name of a field ${HOLDS_SECRET}`);
    // A member that is there for a secret may hold one; its name is judged elsewhere.
    if (typeof member === 'string' && containsSecret(member) && !isSecretName(name))
      throw usage(`a field ${HOLDS_SECRET}`);
  }
  const parts = [given, isRead ? queryOf(members) : ''].filter(part => part !== '');
  const query = parts.length === 0 ? '' : `?${parts.join('&')}`;
  const length = path.length + query.length;
  if (length > RAW_PATH_CHARACTERS) {
    const most = RAW_PATH_CHARACTERS.toLocaleString('en-US');
    throw usage(`path and query have ${length.toLocaleString('en-US')} characters, and at most ${most} are sent`);
  }
  const isEmpty = isRead || (input === undefined && Object.keys(members).length === 0);
  const body = isEmpty ? undefined : members;
  return { method, path, query, body, text: input ?? (body && JSON.stringify(body)) };
}

/** Relative to the base address, and without anything that would lead out of it. */
function partsOf(typed: string): { readonly path: string; readonly query: string } {
  const wrong = (why: string) => usage(`the path ${quote(typed)} ${why}`, 'cardwright api --help');
  if (!typed.startsWith('/'))
    throw wrong('does not begin with /: write the part after the base address, such as /cards');
  // Percent-encoding hides nothing from whoever reads the journal.
  const decoded = typed.replace(/(?:%[0-9a-f]{2})+/gi, part => Buffer.from(part.replaceAll('%', ''), 'hex').toString());
  if (containsSecret(decoded)) throw usage(`the path ${HOLDS_SECRET}`);
  if (typed.startsWith('//')) throw wrong('names another host; requests go only to the service of the profile');
  if (!/^[\x21-\x7e]+$/.test(typed) || /[\\#]/.test(typed)) {
    throw wrong('holds a character that must be percent-encoded');
  }
  const at = typed.indexOf('?');
  const path = at < 0 ? typed : typed.slice(0, at);
  const problem = pathProblem(path);
  if (problem !== undefined) throw wrong(problem);
  return { path, query: at < 0 ? '' : typed.slice(at + 1) };
}

/** Of `-f key=value` and `-F key:=json`, keys of the latter with their colon. */
function membersOf(texts: Texts = {}, values: Texts = {}): Values {
  const parsed = Object.entries(values).map(([key, text]) => {
    if (!key.endsWith(':') || key.length < 2) throw usage(`-F ${quote(`${key}=${text}`)} is not key:=json`);
    return [key.slice(0, -1), jsonIn(text, key.slice(0, -1))] as const;
  });
  const all = [...Object.entries(texts), ...parsed];
  for (const [index, [key]] of all.entries()) {
    if (all.findIndex(([other]) => other === key) !== index) throw usage(`the field ${quote(key)} is given twice`);
    if (isSecretName(key)) {
      throw usage(`${quote(key)} is a secret, and other users could see the option in the process list: use --input -`);
    }
  }
  return Object.fromEntries(all);
}

function jsonIn(text: string, key: string): unknown {
  let isExact = true;
  let value: unknown;
  try {
    value = JSON.parse(text, (_, part: unknown) => {
      if (typeof part === 'number' && isInexact(part)) isExact = false;
      return part;
    });
  } catch {
    throw usage(`-F ${key}: ${quote(text)} is not JSON; for a text write -f ${key}=…`);
  }
  if (!isExact)
    throw usage(`-F ${key}: ${quote(text)} has more digits than a number keeps; --input sends them as they are`);
  return value;
}

function objectIn(text: string): Values {
  const value = jsonOrUndefined(text);
  // Not quoted: it may hold a secret.
  if (!isObject(value)) throw usage('--input holds no JSON object');
  // The guards look at the last of them; a service may take the first.
  const named = [...membersIn(value)].filter(([name]) => name !== '').length;
  const colons = text.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  if (colons !== named) throw usage('--input names a member twice');
  return value;
}

function queryOf(members: Values): string {
  const texts = Object.entries(members).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${encodeURIComponent(key)}=${encodeURIComponent(text)}`;
  });
  return texts.join('&');
}
