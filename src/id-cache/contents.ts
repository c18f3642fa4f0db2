/**
 * What this machine has seen of a service, for completion alone (docs/design/terminal.md, "Completion"): ids with what
 * tells them apart. No key, no card number, no code; never the truth about anything.
 */
import { DAY } from '../core/durations.ts';

/** What ids are of; a field that `names` one of these is completed from here. */
export const SECTIONS = ['card', 'bin', 'webhook'] as const;
export type SectionName = (typeof SECTIONS)[number];

export interface CachedId {
  readonly id: string;
  /** `visa 4242`, `credit, 98% accepted`, a host. */
  readonly about: string;
  readonly status?: string | undefined;
  readonly label?: string | undefined;
  /** ms UTC. */
  readonly seen: number;
}

export interface Section {
  /** When the newest page of everything was read, ms UTC; 0 for never, or when that counts for nothing any more. */
  readonly listed: number;
  /** When completion last had somebody look, ms UTC. */
  readonly asked: number;
  readonly rows: readonly CachedId[];
}

export type Sections = Readonly<Record<SectionName, Section>>;

export interface IdCache {
  /** Whose: rows of another address, key or way of speaking are not ours. */
  readonly place: string;
  readonly sections: Sections;
}

/** More than anybody looks through; the file stays below 100 KB. */
export const MOST_ROWS = 500;
/** ms; what nobody has seen for so long is not offered any more. */
export const KEPT_MS = 30 * DAY;
const LONGEST_TEXT = 80;
/** What may stand on a command line without quotes. */
const ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/;

const EMPTY: Section = { listed: 0, asked: 0, rows: [] };

export function emptyIdCache(place: string): IdCache {
  return { place, sections: { card: EMPTY, bin: EMPTY, webhook: EMPTY } };
}

/** The file's text. */
export function idCacheText(known: IdCache): string {
  return `${JSON.stringify(known)}\n`;
}

/** Nothing where the text is damaged, of an older form or of another place; rows that are too old are left out. */
export function parseIdCache(text: string | undefined, place: string, now: number): IdCache {
  const nothing = emptyIdCache(place);
  const read = text === undefined ? undefined : asObject(parsed(text));
  const sections = asObject(read?.['sections']);
  if (read?.['place'] !== place || sections === undefined) return nothing;
  const made = SECTIONS.map(name => [name, shelfFrom(asObject(sections[name]), now)]);
  return { place, sections: Object.fromEntries(made) as Sections };
}

/** The row as it is kept; undefined for an id that could act in a shell, or where a secret stands in its place. */
export function keptRow(row: CachedId, clean: (text: string) => string): CachedId | undefined {
  const { id, about, status, label, seen } = row;
  if (!ID.test(id) || clean(id) !== id) return undefined;
  const short = (text: string) => [...clean(text)].slice(0, LONGEST_TEXT).join('');
  return {
    id,
    about: short(about),
    ...(status === undefined ? {} : { status: short(status) }),
    ...(label ? { label: short(label) } : {}),
    seen,
  };
}

function shelfFrom(section: Readonly<Record<string, unknown>> | undefined, now: number): Section {
  const time = (value: unknown) => (typeof value === 'number' && value <= now ? value : 0);
  const rows = Array.isArray(section?.['rows']) ? section['rows'] : [];
  return {
    listed: time(section?.['listed']),
    asked: time(section?.['asked']),
    rows: rows.filter(isRow).filter(({ seen }) => now - seen < KEPT_MS),
  };
}

function isRow(value: unknown): value is CachedId {
  const row = asObject(value);
  if (row === undefined) return false;
  const { id, about, status, label, seen } = row;
  const text = (part: unknown) => part === undefined || typeof part === 'string';
  return (
    typeof id === 'string' && ID.test(id) && text(about) && text(status) && text(label) && typeof seen === 'number'
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
