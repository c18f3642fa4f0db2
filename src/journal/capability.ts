/** What the idempotency key is worth, per origin and operation (RELIABILITY, section 3). */
import { join } from 'node:path';
import type { WriteName } from '../contract/calls.ts';
import { KEY_RETENTION } from '../contract/spans.ts';
import { CliError } from '../errors.ts';
import { type FileSurroundings, preparePrivateFolder, readPrivate, writePrivate } from '../files/private-files.ts';

export type Capability =
  | { readonly key: 'unknown' }
  | { readonly key: 'honoured'; readonly ttl_ms: number | null; readonly at: number }
  | { readonly key: 'ignored'; readonly at: number };

export const UNKNOWN: Capability = { key: 'unknown' };
/** The embedded sandbox remembers keys as it says. */
export const SANDBOX: Capability = { key: 'honoured', ttl_ms: KEY_RETENTION, at: 0 };

/** The same for one that may speak a dialect which ignores keys. */
export async function sandboxCapability(honoursKeys: (() => Promise<boolean>) | undefined): Promise<Capability> {
  return honoursKeys === undefined || (await honoursKeys()) ? SANDBOX : { key: 'ignored', at: 0 };
}

export interface Capabilities {
  of(origin: string, operation: WriteName): Promise<Capability>;
  /** Remembers what a probe has found. */
  remember(origin: string, found: Partial<Record<WriteName, Capability>>): Promise<void>;
}

interface Kept {
  readonly version: 1;
  readonly origins: Readonly<Record<string, Partial<Record<WriteName, Capability>>>>;
}

/** Kept in `capabilities.json` of the state folder. Throws `check_failed` when that cannot be understood. */
export function capabilitiesIn(stateFolder: string, around: FileSurroundings): Capabilities {
  const path = join(stateFolder, 'capabilities.json');
  async function read(): Promise<Kept> {
    const text = await readPrivate(path, around);
    return text === undefined ? { version: 1, origins: {} } : parse(text, path);
  }
  return {
    async of(origin, operation) {
      const { origins } = await read();
      return (Object.hasOwn(origins, origin) ? origins[origin]?.[operation] : undefined) ?? UNKNOWN;
    },
    async remember(origin, found) {
      await preparePrivateFolder(stateFolder, around);
      const { origins } = await read();
      const known = Object.hasOwn(origins, origin) ? origins[origin] : {};
      const kept: Kept = { version: 1, origins: { ...origins, [origin]: { ...known, ...found } } };
      await writePrivate(path, `${JSON.stringify(kept, undefined, 2)}\n`, around);
    },
  };
}

function parse(text: string, path: string): Kept {
  try {
    const kept = JSON.parse(text) as Kept;
    if (kept.version === 1 && typeof kept.origins === 'object') return kept;
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw unreadable(path, undefined);
}

function unreadable(path: string, cause: unknown): CliError {
  return new CliError('check_failed', {
    message: `${path} cannot be understood; remove it and probe again`,
    hint: 'cardwright contract check --probe-idempotency',
    outcome: 'not_sent',
    cause,
  });
}
