/** A raw request as it was typed: path, query and body, checked for what must not leave this machine. */
import { quote, usage } from '../../cli/parsing/values.ts';
import { pathProblem } from '../../contract/route.ts';
import { SECRET_NAMES } from '../../contract/secret-names.ts';
import { HOLDS_SECRET } from '../../contract/violation.ts';
import { containsSecret } from '../../core/card-numbers.ts';
import { RAW_PATH_CHARACTERS } from '../../core/input-limits.ts';

export type Members = Readonly<Record<string, unknown>>;

export interface Typed {
  readonly method: string;
  readonly path: string;
  /** `-f key=value`. */
  readonly texts: Readonly<Record<string, string>>;
  /** `-F key:=json`, keys with their colon. */
  readonly values: Readonly<Record<string, string>>;
  /** Text of `--input`. */
  readonly input: string | undefined;
}

export interface RawCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** With its question mark; empty without one. */
  readonly query: string;
  readonly body: Members | undefined;
  /** The body as it is sent: what was given, byte for byte; fields as the JSON of them, in the order typed. */
  readonly text: string | undefined;
}

/** Throws `usage`; nothing was sent. Members of a GET are its query. */
export function rawCallFrom(typed: Typed): RawCall {
  const call = checkedCall(typed);
  const length = call.path.length + call.query.length;
  if (length <= RAW_PATH_CHARACTERS) return call;
  const most = RAW_PATH_CHARACTERS.toLocaleString('en-US');
  throw usage(`path and query have ${length.toLocaleString('en-US')} characters, and at most ${most} are sent`);
}

function checkedCall(typed: Typed): RawCall {
  const { method, input } = typed;
  const { path, query } = partsOf(typed.path);
  const members = membersOf(typed);
  if (method === 'GET') {
    if (input !== undefined) throw usage('a GET has no body; remove --input');
    refuseSecrets(members);
    const whole = [query, queryOf(members)].filter(part => part !== '').join('&');
    return { method, path, query: whole === '' ? '' : `?${whole}`, body: undefined, text: undefined };
  }
  const asked = { method, path, query: query === '' ? '' : `?${query}` };
  if (input === undefined) {
    refuseSecrets(members);
    const body = Object.keys(members).length > 0 ? members : undefined;
    return { ...asked, body, text: body && JSON.stringify(body) };
  }
  if (Object.keys(members).length > 0) throw usage('--input is the whole body; -f and -F cannot be used with it');
  const body = objectIn(input);
  refuseSecrets(body);
  return { ...asked, body, text: input };
}

/** A member that is there for a secret may hold one; its name is judged elsewhere. */
function refuseSecrets(value: unknown): void {
  if (typeof value === 'string' && containsSecret(value)) throw usage(`a field ${HOLDS_SECRET}`);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (containsSecret(name)) throw usage(`the name of a field ${HOLDS_SECRET}`);
    if (typeof member !== 'string' || !SECRET_NAMES.has(name.toLowerCase())) refuseSecrets(member);
  }
}

/** Percent-encoding hides nothing from whoever reads the journal. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, part => Buffer.from(part.replaceAll('%', ''), 'hex').toString());
}

/** Relative to the base address, and without anything that would lead out of it. */
function partsOf(typed: string): { readonly path: string; readonly query: string } {
  const wrong = (why: string) => usage(`the path ${quote(typed)} ${why}`, 'cardwright api --help');
  if (!typed.startsWith('/'))
    throw wrong('does not begin with /: write the part after the base address, such as /cards');
  if (containsSecret(decoded(typed))) throw usage(`the path ${HOLDS_SECRET}`);
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

function membersOf({ texts, values }: Typed): Members {
  const parsed = Object.entries(values).map(([key, text]) => {
    if (!key.endsWith(':') || key.length < 2) throw usage(`--typed ${quote(`${key}=${text}`)} is not key:=json`);
    return [key.slice(0, -1), jsonIn(text, key.slice(0, -1))] as const;
  });
  const all = [...Object.entries(texts), ...parsed];
  for (const [index, [key]] of all.entries()) {
    if (all.findIndex(([other]) => other === key) !== index) throw usage(`the field ${quote(key)} is given twice`);
    if (SECRET_NAMES.has(key.toLowerCase())) {
      throw usage(`${quote(key)} is a secret, and other users could see the option in the process list: use --input -`);
    }
  }
  return Object.fromEntries(all);
}

function jsonIn(text: string, key: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usage(`--typed ${key}: ${quote(text)} is not JSON; for a text write -f ${key}=…`);
  }
}

function objectIn(text: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not quoted: it may hold a secret.
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw usage('--input holds no JSON object');
  // The guards look at the last of them; a service may take the first.
  if (membersWritten(text) !== membersRead(value)) throw usage('--input names a member twice');
  return value as Members;
}

/** Members in valid JSON text: each has a colon outside of texts. */
function membersWritten(json: string): number {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
}

function membersRead(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, part) => sum + membersRead(part), own);
}

function queryOf(members: Members): string {
  const texts = Object.entries(members).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${encodeURIComponent(key)}=${encodeURIComponent(text)}`;
  });
  return texts.join('&');
}
