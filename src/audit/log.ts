/**
 * The local record of writes and reveals: `<state>/audit.jsonl`, 0600, one hash-chained line each, appended under a
 * lock and synced before the request leaves. Beside it `audit.head` names the last line, so that a tail cut off shows.
 * Whoever may write as this user can rewrite both; against that, export it elsewhere.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { type IsRunning, withLock } from '../files/lock.ts';
import {
  type FileDependencies,
  inOurWords,
  keepOpen,
  NO_WAITING,
  preparePrivateFolder,
  readPrivate,
  unsafe,
} from '../files/private-files.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import {
  type AuditEntry,
  type AuditFacts,
  auditLine,
  BEGINNING,
  type ChainHead,
  followChain,
  type LineRead,
  readLine,
} from './entry.ts';
import { beginAgain, type Flaw } from './flaw.ts';

export interface AuditLog {
  readonly path: string;
  /**
   * Appends one line and syncs it; resolves to its number. Throws `guarded` when it cannot be written and
   * `check_failed` when the last line is not whole.
   */
  append(facts: AuditFacts): Promise<number>;
  /** Appends several lines with one sync, in their order; throws as `append`. */
  appendAll(facts: readonly AuditFacts[]): Promise<void>;
  /** All lines up to the first flaw, oldest first. */
  read(): Promise<{ readonly entries: readonly AuditEntry[]; readonly flaw?: Flaw }>;
  /** The file as it is, undefined when nothing was recorded yet. */
  text(): Promise<string | undefined>;
}

export interface AuditDependencies {
  readonly stateFolder: string;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly pid: number;
  /** Name of the operating system's user, and of this machine. */
  readonly user: string;
  readonly host: string;
  readonly platform: NodeJS.Platform;
  readonly warn: (text: string) => void;
  readonly isRunning?: IsRunning;
}

const LOCK_PATIENCE_MS = 10_000;
/** Longer than any line. */
const TAIL_BYTES = 8192;
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const HEAD = /^(\d{12}) ([0-9a-f]{64})\n$/;

/** Nothing is opened or made before the first call. */
export function auditLog(around: AuditDependencies): AuditLog {
  const path = join(around.stateFolder, 'audit.jsonl');
  const headPath = join(around.stateFolder, 'audit.head');
  const files: FileDependencies = { platform: around.platform, random: around.random, warn: around.warn };

  async function append(facts: readonly AuditFacts[]): Promise<number> {
    await preparePrivateFolder(around.stateFolder, files);
    const { pid, clock, random, isRunning } = around;
    const lock = { pid, clock, random, timeoutMs: LOCK_PATIENCE_MS, ...(isRunning && { isRunning }) };
    return withLock(`${path}.lock`, lock, async () => {
      // Repairs modes and refuses links before the file is opened for writing.
      await inOurWords(path, () => checked(path, files));
      return inOurWords(path, () => appendLines(facts));
    });
  }

  async function appendLines(facts: readonly AuditFacts[]): Promise<number> {
    const file = await openPrivate(path);
    try {
      const { size, last, torn } = await tailOf(file, path);
      const head = await readPrivate(headPath, files);
      if (!mayFollow(last, head)) throw damaged(path, `${headPath} names a different last line`);
      // A torn last line was promised to nobody.
      if (torn) await file.truncate(size);
      // A head that could not be written falls behind by one write at most: the next one brings it here first.
      if (last.seq > 0 && head !== headText(last)) await writeHead(last);
      const at = new Date(around.clock.now()).toISOString();
      const { pid, user, host } = around;
      const batch = facts.length > 1 ? last.seq + 1 : undefined;
      let after: ChainHead = last;
      let text = '';
      for (const each of facts) {
        const line = auditLine(each, { after, at, pid, user, host, batch });
        after = line;
        text += `${line.text}\n`;
      }
      await writeLines(file, text, size);
      await writeHead(after);
      return after.seq;
    } finally {
      await file.close();
    }
  }

  async function writeHead(last: ChainHead): Promise<void> {
    const head = await openPrivate(headPath);
    try {
      await writeWhole(head, headText(last), 0);
      await head.datasync();
    } finally {
      await head.close();
    }
  }

  const text = () => readPrivate(path, files);

  async function read() {
    const [whole = '', head] = await Promise.all([text(), readPrivate(headPath, files)]);
    const lines = whole.split('\n');
    // What follows the last newline was never acknowledged: the process died while writing it.
    const torn = lines.pop() ?? '';
    const followed = followChain(lines);
    const flaw = followed.flaw ?? headFlaw(followed.entries, { head, torn: torn !== '' });
    return { entries: followed.entries, ...(flaw && { flaw }) };
  }

  return { path, append: facts => append([facts]), appendAll: async facts => void (await append(facts)), read, text };
}

function headText({ seq, hash }: ChainHead): string {
  return `${String(seq).padStart(12, '0')} ${hash}\n`;
}

/** Writes and syncs lines at the end, or leaves the file as it was: what they announce will not be sent then. */
async function writeLines(file: FileHandle, text: string, size: number): Promise<void> {
  try {
    await writeWhole(file, text, size);
    await file.datasync();
  } catch (error) {
    // Where even that fails, the tail is torn and the next write cuts it off.
    await file.truncate(size).catch(() => undefined);
    throw error;
  }
}

/** A disk that becomes full takes a part and says so by the number alone; only the next write fails. */
async function writeWhole(file: FileHandle, text: string, position: number): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
  }
}

/** The head is written after its lines: it may be behind by those of one write, and is never ahead. */
function headFlaw(
  entries: readonly AuditEntry[],
  { head, torn }: { readonly head: string | undefined; readonly torn: boolean },
): Flaw | undefined {
  const last = entries.length;
  if (head === undefined || head === '') {
    return last <= 1 || entries.at(-1)?.batch === 1
      ? undefined
      : { line: last, why: 'the file audit.head, which names the last line, is missing' };
  }
  const [, seq, hash] = HEAD.exec(head) ?? [];
  if (seq === undefined) return { line: last, why: 'the file audit.head is damaged' };
  const named = entries[Number(seq) - 1];
  if (named === undefined) {
    const cut = torn ? 'it is cut in the middle; a full disk can cause that' : 'it is missing';
    return { line: last + 1, why: `${cut}: ${Number(seq)} lines were written` };
  }
  if (named.hash !== hash) return { line: named.seq, why: 'it is not the line that audit.head names' };
  const behind = last - Number(seq);
  const [unnamed] = entries.slice(-1);
  const together = (unnamed?.batch ?? last) === Number(seq) + 1;
  if (behind > 0 && (!together || (torn && unnamed?.batch === undefined)))
    return { line: Number(seq) + 1, why: 'it was not written by cardwright' };
  return undefined;
}

/**
 * Whether a line may be written after `last`. A tail that was cut off must stay visible, and the next line would hide
 * it. The head is written after its lines: a crash in between leaves it behind by what was written together.
 */
function mayFollow(last: Tail['last'], head: string | undefined): boolean {
  if (head === undefined || head === '') return last.batch <= 1;
  const [, seq, hash] = HEAD.exec(head) ?? [];
  if (seq === undefined) return false;
  if (Number(seq) === last.seq) return hash === last.hash;
  // Of lines written together the last one does not follow the head itself.
  return Number(seq) === last.batch - 1 && (last.batch < last.seq || hash === last.prev);
}

async function checked(path: string, files: FileDependencies): Promise<void> {
  const { lstat } = await import('node:fs/promises');
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  // Reading a file of megabytes for its mode alone would be a waste: only what looks wrong goes through the check.
  if (found !== undefined && (!found.isFile() || (found.mode & 0o077) !== 0)) await readPrivate(path, files);
}

async function openPrivate(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | NO_FOLLOW | NO_WAITING, 0o600);
  return keepOpen(file, async () => {
    if ((await file.stat()).isFile()) return file;
    throw unsafe(path, 'is not an ordinary file');
  });
}

interface Tail {
  /** Where the next line goes. */
  readonly size: number;
  readonly last: LineRead;
  /** Something follows the last whole line. */
  readonly torn: boolean;
}

/** Where the next line goes and what it follows. */
async function tailOf(file: FileHandle, path: string): Promise<Tail> {
  const { size } = await file.stat();
  const from = Math.max(0, size - TAIL_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  const tail = buffer.subarray(0, bytesRead);
  const end = tail.lastIndexOf(0x0a) + 1;
  const torn = end < tail.length;
  if (end === 0) {
    if (from === 0) return { size: 0, last: { seq: 0, hash: BEGINNING, prev: '', batch: 0 }, torn };
    throw damaged(path, LAST_LINE);
  }
  const begin = tail.lastIndexOf(0x0a, end - 2) + 1;
  const last = readLine(tail.subarray(begin, end - 1).toString('utf8'));
  if (last === undefined) throw damaged(path, LAST_LINE);
  return { size: from + end, last, torn };
}

const LAST_LINE = 'its last line is damaged';

function damaged(path: string, why: string): CliError {
  return new CliError('check_failed', {
    message: `the audit log ${path} is damaged: ${why}`,
    notes: [beginAgain(path)],
    hint: 'cardwright audit verify',
  });
}
