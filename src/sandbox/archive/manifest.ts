/** What a snapshot says about itself: which store it was, and the sum of every file. One line of JSON, with its own sum. */
import { createHash } from 'node:crypto';
import { type SNAPSHOT_FILE, SNAPSHOT_MARK } from '../../contract/sandbox/snapshots.ts';
import type { ClockRow } from '../clock/clock.ts';
import type { IdForm } from '../store/meta.ts';

export interface TableFacts {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 of the file, hexadecimal. */
  readonly sha256: string;
}

export interface Manifest {
  readonly format: typeof SNAPSHOT_FILE.format;
  readonly version: 1;
  /** Number of the schema it was taken from. */
  readonly schema: number;
  /** When, on the clock of the sandbox; ISO 8601. */
  readonly made_at: string;
  readonly clock: ClockRow;
  readonly seed: number;
  readonly ids: IdForm;
  readonly data_set: string;
  readonly tables: readonly TableFacts[];
}

export const MANIFEST_FILE = 'manifest.json';

/** A snapshot that is not as it was written; the message says which part of it. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

export const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** The one line of a manifest, its line end included. */
export function manifestLine(manifest: Manifest): string {
  const text = JSON.stringify(manifest);
  return `${text.slice(0, -1)},"sha256":"${sha256(text)}"}\n`;
}

/** Throws `Damaged` unless the line is exactly one that `manifestLine` makes. */
export function readManifest(line: string): Manifest {
  if (!line.startsWith(SNAPSHOT_MARK)) throw new Damaged(`${MANIFEST_FILE} is not that of a snapshot`);
  try {
    const { sha256: _sum, ...manifest } = JSON.parse(line) as Manifest & { readonly sha256: string };
    // Written anew it must be the same text: no byte can have changed, in the sum neither.
    if (manifestLine(manifest) === line) return manifest;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Damaged(`${MANIFEST_FILE} is damaged`);
}
