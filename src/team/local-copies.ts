/**
 * Copies of ops on this machine: written while it works on one, and kept for a week when the database has all of it
 * (docs/design/team.md, section 5).
 */
import { basename, join } from 'node:path';
import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import { keepOpen } from '../files/keep-open.ts';
import { decodeLines } from '../journal/wal/codec.ts';
import type { StoredRecord } from '../journal/wal/records.ts';
import type { JournalDisk, JournalFile } from '../journal/wal/storage.ts';
import type { SharedOps } from './shared-ops.ts';

export interface LocalCopy {
  readonly file: JournalFile;
  /** The database has so many lines of this process, SENT of a row among them: by that a backup is known that lacks them. */
  confirm(lines: number): Promise<void>;
  /** It is no longer worked on. See `CopyEnd`. */
  end(how: CopyEnd): Promise<void>;
}

/**
 * `left`: the database does not have all of it, or has not let its lease go, and the next command sees to that. `shown`: the
 * same of one whose end stands there and was shown, so that the next command finishes it. `finished` and
 * `open`: it has everything, and the copy is kept for a week, in case it loses what was written last; of a `finished` one
 * somebody was told, too.
 * `gone`: nobody needs it.
 */
export type CopyEnd = 'left' | 'shown' | 'finished' | 'open' | 'gone';

/** A file beside a copy that was left: whoever asked for it was shown its end. */
const SHOWN = '.shown';

/** A file beside a copy: how many lines of its process the database has had. What stands there last counts. */
const CONFIRMED = '.confirmed';

/** Below the folder of copies: a folder for each day. */
const KEPT = 'kept';

export const KEPT_DAYS = 7;

/** A copy of an op in the hands of this process, whose bytes the database has. */
export async function localCopy(
  { disk, spoolFolder, clock }: SharedOps,
  { op, by, bytes }: { readonly op: string; readonly by: string; readonly bytes: Uint8Array },
): Promise<LocalCopy> {
  const folder = await spoolFolder();
  const path = join(folder, `${op}.${by}`);
  // While it is held no other command takes it for one that was left.
  const release = await disk.hold(`${path}.lock`);
  const file = await copied(disk, path, bytes).catch(async (thrown: unknown) => {
    await release();
    throw thrown;
  });
  let confirmed: JournalFile | undefined;
  return {
    file,
    async confirm(lines) {
      confirmed ??= await disk.create(path + CONFIRMED);
      await confirmed.append(Buffer.from(`${lines}\n`));
    },
    async end(how) {
      await confirmed?.close();
      if (how === 'gone') await removeCopy(disk, path);
      else if (how === 'shown') await disk.replace(path + SHOWN, '');
      else if (how !== 'left') await keepCopy({ disk, clock, folder }, { op, path, how });
      await release();
    },
  };
}

/** With what was confirmed of it. */
export async function removeCopy(disk: JournalDisk, path: string): Promise<void> {
  await disk.remove(path);
  await disk.remove(path + CONFIRMED);
  if (await wasShown(disk, path)) await disk.remove(path + SHOWN);
}

/** See `CopyEnd`. */
export async function wasShown(disk: JournalDisk, path: string): Promise<boolean> {
  return (await disk.read(path + SHOWN)) !== undefined;
}

/** How many lines of its process the database has had; 0 where nothing tells. A torn last line was not confirmed. */
export async function linesConfirmed(disk: JournalDisk, path: string): Promise<number> {
  const text = (await disk.read(path + CONFIRMED)) ?? '';
  return Number(/(?:^|\n)(\d{1,9})\n[^\n]*$/.exec(text)?.[1] ?? 0);
}

/** For a week, in the folder of the day. */
export async function keepCopy(
  { disk, clock, folder }: Pick<SharedOps, 'disk' | 'clock'> & { readonly folder: string },
  { op, path, how }: { readonly op: string; readonly path: string; readonly how: 'finished' | 'open' },
): Promise<void> {
  const day = join(folder, KEPT, dayOf(clock.now()));
  await disk.prepareFolder(join(folder, KEPT));
  await disk.prepareFolder(day);
  const target = join(day, `${op}.${how}`);
  const earlier = await bytesAt(disk, target);
  // Another process of this machine has gone on with the op since this copy was left.
  if (earlier.length > 0 && earlier.length > (await bytesAt(disk, path)).length) return removeCopy(disk, path);
  await disk.remove(target + CONFIRMED);
  await disk.rename(path, target);
  if (await wasShown(disk, path)) await disk.remove(path + SHOWN);
  if ((await disk.read(path + CONFIRMED)) !== undefined) await disk.rename(path + CONFIRMED, target + CONFIRMED);
}

async function copied(disk: JournalDisk, path: string, bytes: Uint8Array): Promise<JournalFile> {
  const file = await disk.create(path);
  await keepOpen(file, () => file.append(bytes));
  return file;
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

export interface KeptCopy {
  readonly op: string;
  readonly path: string;
  readonly finished: boolean;
}

/** Copies of what the database had, oldest first; those of more than a week ago are removed. */
export async function keptCopies({ disk, spoolFolder, clock }: SharedOps): Promise<readonly KeptCopy[]> {
  const root = join(await spoolFolder(), KEPT);
  const oldest = dayOf(clock.now() - KEPT_DAYS * DAY);
  const kept: KeptCopy[] = [];
  for (const day of [...(await disk.folders(root))].sort()) {
    if (day < oldest) await disk.remove(join(root, day));
    else for (const name of await disk.names(join(root, day))) kept.push(...keptNamed(join(root, day), name));
  }
  return kept;
}

/** What came of an op was shown on this machine: its copies are `finished` from now on. */
export async function keepShown(shared: SharedOps, op: string): Promise<void> {
  const { disk } = shared;
  for (const { path, finished } of (await keptCopies(shared)).filter(copy => copy.op === op)) {
    const target = path.replace(/open$/, 'finished');
    // One that is there knows as much or more.
    if (finished || (await disk.read(target)) !== undefined) continue;
    await disk.rename(path, target);
    if ((await disk.read(path + CONFIRMED)) !== undefined) await disk.rename(path + CONFIRMED, target + CONFIRMED);
  }
}

function keptNamed(folder: string, name: string): readonly KeptCopy[] {
  const [, op, how] = /^(op_[0-9a-z]{26})\.(finished|open)$/.exec(name) ?? [];
  return op === undefined ? [] : [{ op, path: join(folder, name), finished: how === 'finished' }];
}

const COPY = /^(op_[0-9a-z]{26})\.[0-9a-f]{8}$/;

/** Copies that were left, as they lie there; one that a process works on is among them. */
export async function leftCopies({ disk, spoolFolder }: SharedOps): Promise<readonly KeptCopy[]> {
  return leftIn(disk, await spoolFolder());
}

async function leftIn(disk: JournalDisk, folder: string): Promise<readonly KeptCopy[]> {
  return (await disk.names(folder)).flatMap(name => {
    const [, op] = COPY.exec(name) ?? [];
    return op === undefined ? [] : [{ op, path: join(folder, name), finished: false }];
  });
}

/** Copies of any shared journal that were left, and are still to be brought. */
export async function waitingCopies(disk: JournalDisk, stateFolder: string): Promise<readonly KeptCopy[]> {
  return (await copiesOnDisk(disk, stateFolder)).filter(({ path }) => COPY.test(basename(path)));
}

/** Everything that this machine has of ops in shared journals, without asking any of them; of one op several perhaps. */
export async function copiesOnDisk(disk: JournalDisk, stateFolder: string): Promise<readonly KeptCopy[]> {
  const root = join(stateFolder, 'team');
  const found: KeptCopy[] = [];
  for (const journal of await disk.folders(root)) {
    // Files stand beside the folders of accounts; some were left by commands that were killed.
    for (const account of await disk.folders(join(root, journal))) {
      const folder = join(root, journal, account);
      found.push(...(await leftIn(disk, folder)));
      for (const day of await disk.folders(join(folder, KEPT))) {
        const names = await disk.names(join(folder, KEPT, day));
        found.push(...names.flatMap(name => keptNamed(join(folder, KEPT, day), name)));
      }
    }
  }
  return found;
}

/** The process that has written it: eight hexadecimal digits behind the op. */
export function writerOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** Lines of a copy. Throws `check_failed` with the way to put a damaged one aside: no other command reads it. */
export function linesOf(bytes: Uint8Array, copy: Pick<KeptCopy, 'op' | 'path'>): readonly StoredRecord[] {
  try {
    return decodeLines(bytes, copy.op).written;
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind === 'check_failed') throw damagedCopy(copy, 'is damaged');
    throw thrown;
  }
}

export function damagedCopy({ op, path }: Pick<KeptCopy, 'op' | 'path'>, what: string): CliError {
  return new CliError('check_failed', {
    message: `the copy that this machine has of ${op} ${what}: ${path}. Nothing was brought and nothing was sent`,
    notes: [
      'It may hold what came of a row, which the shared journal does not know. The hint puts it aside; nothing is deleted.',
      `Then its rows are looked for at the service: cardwright ops resume ${op}`,
    ],
    hint: `mv ${shellWord(path)} ${shellWord(`${path}.damaged`)}`,
    outcome: 'not_sent',
    op,
  });
}

/** Undefined while another process works on it. */
export async function lockCopy(disk: JournalDisk, path: string): Promise<(() => Promise<void>) | undefined> {
  return disk.hold(`${path}.lock`).catch((thrown: unknown) => {
    if (thrown instanceof CliError && thrown.kind === 'guarded') return undefined;
    throw thrown;
  });
}

export async function bytesAt(disk: JournalDisk, path: string): Promise<Uint8Array> {
  return (await copyAt(disk, path)) ?? new Uint8Array();
}

/** Undefined where it is not there. */
export async function copyAt(disk: JournalDisk, path: string): Promise<Uint8Array | undefined> {
  const file = await disk.open(path);
  if (file === undefined) return undefined;
  try {
    return await file.readAll();
  } finally {
    await file.close();
  }
}
