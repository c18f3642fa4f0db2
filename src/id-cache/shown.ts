/**
 * Ids that were shown last on this machine, for completion alone (docs/design/terminal.md, "Completion"): one file a profile in
 * the cache folder, 0600, replaced by renaming. No key, no card number, no code; never the truth about anything.
 */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CALLS } from '../contract/calls.ts';
import type { AnyField, Shape } from '../contract/field.ts';
import type { ListPage, Operation } from '../contract/operation.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { isObject, jsonOrUndefined, type Values } from '../core/objects.ts';
import { withoutPatterns } from '../core/redaction.ts';
import { preparePrivateFolder, readPrivate, replaceFile } from '../files/private-files.ts';
import type { Host, Randomness } from '../platform/host.ts';
import { idCacheFile } from './path.ts';

/** What ids are of; a field that `names` one of these is completed from here. */
const SHOWN_KINDS = ['card', 'bin', 'webhook'] as const;
export type ShownKind = (typeof SHOWN_KINDS)[number];

export interface ShownId {
  readonly id: string;
  /** `visa 4242`, `credit, 98% accepted`, a host. */
  readonly about: string;
  readonly status?: string;
  readonly label?: string;
}

export type ShownIds = Readonly<Record<ShownKind, readonly ShownId[]>>;

/** What an answer showed: rows, newest first, and ids that are no more. */
interface AnswerIds {
  readonly kind: ShownKind;
  readonly rows: readonly Values[];
  readonly gone: readonly string[];
}

export interface ShownHost extends Pick<Host, 'folders' | 'platform'> {
  readonly noise: Randomness;
}

/** Whose ids they are: the profile names the file; ids of another address, key or contract do not count (`place`). */
export interface Whose {
  readonly profile: string;
  readonly place: string;
}

/** More than anybody looks through; the file stays below 100 KB. */
export const MOST_SHOWN = 500;
const LONGEST_TEXT = 80;
/** What may stand on a command line without quotes. */
const ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/;
const ENDED = 'terminated';
const NOTHING: ShownIds = { card: [], bin: [], webhook: [] };

/** What the answer of an operation shows; undefined where it holds no such ids, or secrets. */
export function idsIn(operation: string, input: Values, result: unknown): AnswerIds | undefined {
  const row: Operation | undefined = CALLS[operation as keyof typeof CALLS];
  if (row === undefined || row.effect === 'reveals-secret') return undefined;
  const kind = kindOf((row.returns.shape as Shape)['id']);
  if (kind !== undefined) {
    const rows = Array.isArray((result as ListPage<Values>).data)
      ? (result as ListPage<Values>).data
      : [result as Values];
    const ended = rows.filter(({ status }) => status === ENDED).map(({ id }) => String(id));
    return { kind, rows: rows.slice(0, MOST_SHOWN), gone: ended };
  }
  const [name, field] = Object.entries(row.params ?? {})[0] ?? [];
  const removed = row.returns.kind === 'none' ? kindOf(field) : undefined;
  return name === undefined || removed === undefined
    ? undefined
    : { kind: removed, rows: [], gone: [String(input[name])] };
}

const kindOf = (field: AnyField | undefined) => SHOWN_KINDS.find(kind => kind === field?.names);

/** Puts them before what was shown earlier. Never rejects: without a cache everything else works. */
export async function rememberShown(host: ShownHost, whose: Whose, seen: readonly AnswerIds[]): Promise<void> {
  const path = idCacheFile(host.folders.cache, whose.profile);
  try {
    const shown = seen.reduce(added, await readShown(host, whose));
    await preparePrivateFolder(host.folders.cache, around(host));
    await preparePrivateFolder(dirname(path), around(host));
    const how = { random: host.noise, platform: host.platform, mode: 0o600, mayBeLost: true };
    await replaceFile(path, how, file => file.writeFile(`${JSON.stringify({ place: whose.place, shown })}\n`));
  } catch {
    // Nothing of it is left, and the old one is whole.
  }
}

function added(shown: ShownIds, { kind, rows, gone }: AnswerIds): ShownIds {
  const made = rows.map(row => shownId(kind, row)).filter(row => row !== undefined);
  const newer = new Set([...made.map(({ id }) => id), ...gone]);
  const all = [...made.filter(({ id }) => !gone.includes(id)), ...shown[kind].filter(({ id }) => !newer.has(id))];
  return { ...shown, [kind]: all.slice(0, MOST_SHOWN) };
}

const clean = (text: string) => withoutCardNumbers(withoutPatterns(text));
const short = (value: unknown) => (typeof value === 'string' ? [...clean(value)].slice(0, LONGEST_TEXT).join('') : '');

/** Undefined for an id that could act in a shell, or where a secret stands in its place. */
function shownId(kind: ShownKind, row: Values): ShownId | undefined {
  const { id, status, label } = row;
  if (typeof id !== 'string' || !ID.test(id) || clean(id) !== id) return undefined;
  return {
    id,
    about: short(ABOUT[kind](row)),
    ...(typeof status === 'string' && status !== '' && { status: short(status) }),
    ...(typeof label === 'string' && label !== '' && { label: short(label) }),
  };
}

const words = (...parts: readonly unknown[]) => parts.filter(part => typeof part === 'string' && part !== '').join(' ');

const ABOUT: Readonly<Record<ShownKind, (row: Values) => string>> = {
  card: ({ network, last4 }) => words(network, last4),
  bin: ({ network, type, acceptance_rate: rate, best_for: tags }) =>
    [words(network, type), typeof rate === 'number' && `${rate}% accepted`, Array.isArray(tags) && words(...tags)]
      .filter(Boolean)
      .join(', '),
  // The path and query of an address may be all that keeps others from posting there.
  webhook: ({ url }) => (URL.canParse(String(url)) ? new URL(String(url)).host : ''),
};

/** Never rejects: what is damaged, of another place, or open to others, shows nothing. */
export async function readShown(host: ShownHost, { profile, place }: Whose): Promise<ShownIds> {
  const text = await readPrivate(idCacheFile(host.folders.cache, profile), around(host)).catch(() => undefined);
  const read = text === undefined ? undefined : jsonOrUndefined(text);
  if (!isObject(read) || read['place'] !== place || !isObject(read['shown'])) return NOTHING;
  const { shown } = read;
  return Object.fromEntries(
    SHOWN_KINDS.map(kind => [kind, [shown[kind]].flat().filter(isShownId)]),
  ) as unknown as ShownIds;
}

function isShownId(value: unknown): value is ShownId {
  if (!isObject(value)) return false;
  const { id, about, status = '', label = '' } = value;
  return typeof id === 'string' && ID.test(id) && [about, status, label].every(text => typeof text === 'string');
}

/** Nothing is known of the profile any more. Never rejects. */
export async function forgetShown(cacheFolder: string, profile: string): Promise<void> {
  await rm(idCacheFile(cacheFolder, profile), { force: true }).catch(() => undefined);
}

// TAB is no place for a warning; `doctor` tells of folders that are open to others.
const around = ({ platform, noise }: ShownHost) => ({ platform, random: noise, warn: () => undefined });
