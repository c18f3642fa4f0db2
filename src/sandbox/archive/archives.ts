/**
 * Snapshots. Each is one file: a line of JSON that says what is in it, with its own sum, and behind it the store as SQLite
 * copies it (`vacuum into`). An export is the same file. They are kept by name in a folder of ours; what is not ours is left alone.
 */
import { createHash, hash } from 'node:crypto';
// What of it gives promises is loaded when it is first asked for: most commands keep no snapshot.
import { createReadStream, createWriteStream, promises } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SNAPSHOT_FILE, SNAPSHOT_MARK, SNAPSHOT_NAME } from '../../contract/sandbox/snapshots.ts';
import { DAY } from '../../core/durations.ts';
import { jsonOrUndefined } from '../../core/objects.ts';
import type { Connection } from '../../engine/connection.ts';
import { connectTo } from '../../engine/open.ts';
import { privateFolder, statIfThere, syncFolder, systemCode } from '../../files/private-files.ts';
import type { Host } from '../../platform/host.ts';
import { Refused } from '../calls/handler.ts';
import { type ClockRow, REAL_CLOCK, shownTime } from '../clock/clock.ts';
import { isoTime } from '../rules/dates.ts';
import type { Meta } from '../store/open.ts';
import type { Store } from '../store/queue.ts';
import { SCHEMA } from '../store/schema.ts';

/** What a snapshot holds, and length and SHA-256, hexadecimal, of what follows its line. */
export type Manifest = ReturnType<typeof factsOf> & { readonly bytes: number; readonly store: string };

/** A snapshot that is not as it was written; the message says which part of it. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

/** The line of a manifest, its line end included. */
export function manifestLine(manifest: Manifest): string {
  const text = JSON.stringify(manifest);
  return `${text.slice(0, -1)},"sha256":"${hash('sha256', text, 'hex')}"}\n`;
}

/** Undefined unless the line is exactly one that `manifestLine` makes. */
export function manifestIn(line: string): Manifest | undefined {
  const { sha256: _sum, ...manifest } = (jsonOrUndefined(line) ?? {}) as Manifest & { readonly sha256: string };
  // Written anew it must be the same text: no byte can have changed, in the sum neither.
  return manifestLine(manifest) === line ? manifest : undefined;
}

/**
 * Of this process, not of what it holds: how often somebody asked, who moves the clock, how long an answer took, by which key it
 * was asked for. Two sandboxes of one seed that did the same hold the same without it.
 */
const NOT_KEPT = `pragma journal_mode = off; pragma secure_delete = on; delete from rate_hits; delete from advances;
  update requests set took = null, key_last4 = null`;

/** Writes a snapshot into a new file, synced. `real` is real time, ms UTC. */
export async function writeSnapshot(store: Store, path: string, real: number): Promise<Manifest> {
  const place = `${path}.db`;
  let facts: ReturnType<typeof factsOf>;
  try {
    await store.copyTo(place);
    const copy = connectTo(place);
    try {
      copy.exec(NOT_KEPT);
      facts = factsOf(copy, real);
    } finally {
      copy.close();
    }
    const sum = createHash('sha256');
    let bytes = 0;
    for await (const piece of createReadStream(place) as AsyncIterable<Uint8Array>) {
      sum.update(piece);
      bytes += piece.length;
    }
    const manifest: Manifest = { ...facts, bytes, store: sum.digest('hex') };
    const pieces = async function* () {
      yield manifestLine(manifest);
      yield* createReadStream(place);
    };
    await pipeline(pieces, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
    return manifest;
  } finally {
    await promises.rm(place, { force: true });
  }
}

/** `schema`: number of the one it was taken from; `made_at`: when, on the clock of the sandbox, ISO 8601; `webhooks`: subscriptions. */
function factsOf(copy: Connection, real: number) {
  const facts = copy
    .prepare(`select seed, ids, (select data_set from wallets) as data_set,
      (select count(*) from cards) as cards, (select count(*) from transactions) as transactions,
      (select count(*) from webhooks) as webhooks from meta`)
    .get() as Readonly<Pick<Meta, 'seed' | 'ids'> & { data_set: string } & Record<Counted, number>>;
  const clock = (copy.prepare('select * from clock').get() as ClockRow | undefined) ?? REAL_CLOCK;
  const made_at = isoTime(shownTime(clock, real));
  return {
    format: SNAPSHOT_FILE.format,
    version: 2,
    schema: SCHEMA as number,
    made_at,
    clock: clock.mode,
    ...facts,
  } as const;
}

type Counted = 'cards' | 'transactions' | 'webhooks';

const LONGEST_MANIFEST = 65_536;

/**
 * Takes a snapshot apart as it comes: the store goes into the new file `copy`. Throws `Damaged` for anything that is not as it was
 * written, as soon as it is seen.
 */
export async function unpack(pieces: AsyncIterable<Uint8Array>, copy: string): Promise<Manifest> {
  const sum = createHash('sha256');
  let [head, bytes] = [Buffer.alloc(0), 0];
  let manifest: Manifest | undefined;
  const file = await promises.open(copy, 'wx', 0o600);
  try {
    for await (const piece of pieces) {
      let rest = piece;
      if (manifest === undefined) {
        head = Buffer.concat([head, piece]);
        const end = head.indexOf(10) + 1;
        if (end === 0 && head.length <= LONGEST_MANIFEST) continue;
        const line = head.toString('utf8', 0, end);
        if (!line.startsWith(SNAPSHOT_MARK)) throw new Damaged('it is no snapshot of a sandbox');
        manifest = manifestIn(line);
        if (manifest === undefined) throw new Damaged('its first line is damaged');
        if (manifest.version !== 2 || manifest.schema !== SCHEMA)
          throw new Damaged('it was made by another build of cardwright');
        rest = head.subarray(end);
      }
      bytes += rest.length;
      if (bytes > manifest.bytes) throw new Damaged('there is more in the file than was written');
      sum.update(rest);
      for (let at = 0; at < rest.length; ) at += (await file.write(rest, at)).bytesWritten;
    }
  } catch (error) {
    throw systemCode(error) === undefined ? error : new Damaged(`it cannot be read: ${systemCode(error)}`);
  } finally {
    await file.close();
  }
  if (manifest === undefined) throw new Damaged('it is no snapshot of a sandbox');
  if (bytes < manifest.bytes) throw new Damaged('the file ends too early');
  if (sum.digest('hex') !== manifest.store) throw new Damaged('its store is damaged');
  return manifest;
}

interface ArchivesParts extends Pick<Host, 'clock' | 'random' | 'platform'> {
  /** Where they are kept; a temporary folder that goes with this object when left out. */
  readonly folder?: string | undefined;
}

export interface Snapshot {
  readonly name: string;
  /** Undefined when its first line is not as it was written. */
  readonly manifest: Manifest | undefined;
  /** The file has its length. */
  readonly isComplete: boolean;
}

const END = '.snapshot';

export class Archives {
  readonly #parts: ArchivesParts;
  #folder: Promise<string> | undefined;
  /** How often this process saved or removed one. */
  changes = 0;

  constructor(parts: ArchivesParts) {
    this.#parts = parts;
  }

  async list(): Promise<readonly Snapshot[]> {
    const folder = await this.#place();
    const found: Snapshot[] = [];
    for (const file of (await promises.readdir(folder)).filter(name => name.endsWith(END)).sort()) {
      const line = await lineOf(join(folder, file));
      const name = basename(file, END);
      if (line === undefined || !SNAPSHOT_NAME.test(name)) continue;
      const manifest = manifestIn(line);
      const whole = manifest && Buffer.byteLength(line) + manifest.bytes;
      found.push({ name, manifest, isComplete: (await promises.lstat(join(folder, file))).size === whole });
    }
    return found;
  }

  /** Saves under a name; a snapshot of that name is replaced in one step, anything else of that name refused. */
  async save(name: string, store: Store): Promise<Manifest> {
    const target = await this.#named(name);
    if ((await statIfThere(target)) !== undefined) await refuseForeign(target);
    const manifest = await this.temporarily(async fresh => {
      const written = await writeSnapshot(store, fresh, this.#parts.clock.now());
      await promises.rename(fresh, target);
      return written;
    });
    await syncFolder(dirname(target), this.#parts.platform);
    this.changes += 1;
    return manifest;
  }

  /** Throws `not_found` for a name nobody saved under; what is there may be damaged all the same. */
  async fileOf(name: string): Promise<string> {
    const target = await this.#named(name);
    if ((await statIfThere(target)) !== undefined) return target;
    throw new Refused('not_found', `no snapshot ${name}`);
  }

  async remove(name: string): Promise<void> {
    const file = await this.fileOf(name);
    await refuseForeign(file);
    await promises.rm(file);
    this.changes += 1;
  }

  /** Work on a file that does not exist yet and is gone afterwards. */
  async temporarily<T>(work: (path: string) => Promise<T>): Promise<T> {
    const path = await this.unfinished();
    try {
      return await work(path);
    } finally {
      await promises.rm(path, { force: true });
    }
  }

  /** A file that does not exist yet, for what is not finished; it begins as no name of a snapshot does. */
  async unfinished(): Promise<string> {
    return join(await this.#place(), `.new-${Buffer.from(this.#parts.random.bytes(8)).toString('hex')}`);
  }

  /** Takes the folder away where it was made for this object alone. */
  async close(): Promise<void> {
    if (this.#folder === undefined || this.#parts.folder !== undefined) return;
    await promises.rm(await this.#folder, { recursive: true, force: true });
  }

  /** Rows take no other names than those of snapshots. */
  async #named(name: string): Promise<string> {
    return join(await this.#place(), name + END);
  }

  #place(): Promise<string> {
    this.#folder ??= this.#made();
    return this.#folder;
  }

  async #made(): Promise<string> {
    const { folder, platform, clock } = this.#parts;
    if (folder !== undefined) {
      privateFolder(folder, platform);
      // After a process that died: what it never finished goes after a day.
      for (const name of (await promises.readdir(folder)).filter(each => each.startsWith('.new-'))) {
        const found = await statIfThere(join(folder, name));
        const isLeft = found !== undefined && clock.now() - found.mtimeMs > DAY;
        if (isLeft) await promises.rm(join(folder, name), { force: true });
      }
      return folder;
    }
    return promises.mkdtemp(join(tmpdir(), 'cardwright-snapshots-'));
  }
}

async function refuseForeign(path: string): Promise<void> {
  if ((await lineOf(path)) !== undefined) return;
  throw new Refused('invalid_request', `${path} exists and is not a snapshot; it was not changed`, 409);
}

/** The first line of a file of ours, be it damaged further on; undefined for anything else. */
async function lineOf(path: string): Promise<string | undefined> {
  if (!(await promises.lstat(path)).isFile()) return undefined;
  const file = await promises.open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_MANIFEST), 0, LONGEST_MANIFEST, 0);
    const line = buffer.toString('utf8', 0, Math.max(0, buffer.subarray(0, bytesRead).indexOf(10) + 1));
    return line.startsWith(SNAPSHOT_MARK) ? line : undefined;
  } finally {
    await file.close();
  }
}
