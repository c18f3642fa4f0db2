/**
 * Copies of ops as they lie on this machine while it works on them. What could not be written to the database stays, and the
 * next command brings it: an outcome that one process alone has seen must not be lost with its connection.
 */
import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { decodeLines, encodeLines } from '../journal/wal/codec.ts';
import type { JournalRecord, StoredRecord } from '../journal/wal/records.ts';
import type { JournalFile } from '../journal/wal/storage.ts';
import type { SharedOps } from './shared-ops.ts';

export interface LocalCopy {
  readonly file: JournalFile;
  /** It is no longer worked on; with `keep` it stays for the next command. */
  end(keep: boolean): Promise<void>;
}

/** A copy of an op in the hands of this process, whose bytes the database has. */
export async function localCopy(
  { disk, spoolFolder }: SharedOps,
  { op, by, bytes }: { readonly op: string; readonly by: string; readonly bytes: Uint8Array },
): Promise<LocalCopy> {
  const path = join(await spoolFolder(), `${op}.${by}`);
  // While it is held no other command takes it for one that was left.
  const release = await disk.hold(`${path}.lock`);
  const file = await disk.create(path);
  await file.append(bytes);
  return {
    file,
    async end(keep) {
      if (!keep) await disk.remove(path);
      await release();
    },
  };
}

/** What became of copies that were left. */
export interface Pushed {
  /** Ops whose rows were brought, each with their number; none where the database had everything. */
  readonly brought: readonly { readonly op: string; readonly rows: number }[];
  /** Ops that the database does not know: it has lost them, or it is another one. */
  readonly missing: readonly string[];
}

const COPY = /^(op_[0-9a-z]{26})\.[0-9a-f]{8}$/;

/** Brings what other processes of this machine have left. Throws where the database cannot be asked. */
export async function pushSpool(shared: SharedOps): Promise<Pushed> {
  const folder = await shared.spoolFolder();
  const brought: { op: string; rows: number }[] = [];
  const missing: string[] = [];
  for (const name of await shared.disk.names(folder)) {
    const [, op] = COPY.exec(name) ?? [];
    if (op === undefined) continue;
    const rows = await pushCopy(shared, { op, path: join(folder, name) });
    if (rows === 'missing') missing.push(op);
    else if (rows !== 'in use' && rows > 0) brought.push({ op, rows });
  }
  return { brought, missing };
}

async function pushCopy(
  shared: SharedOps,
  { op, path }: { readonly op: string; readonly path: string },
): Promise<number | 'in use' | 'missing'> {
  const { disk, statements, account, head } = shared;
  const release = await disk.hold(`${path}.lock`).catch((thrown: unknown) => {
    if (thrown instanceof CliError && thrown.kind === 'guarded') return undefined;
    throw thrown;
  });
  if (release === undefined) return 'in use';
  try {
    const segments = await statements().readOp(account, op, 1);
    if (segments.length === 0) return 'missing';
    const file = await disk.open(path);
    const kept = decodeLines(file === undefined ? new Uint8Array() : await file.readAll(), op).written;
    await file?.close();
    const there = decodeLines(Buffer.concat(segments.map(({ bytes }) => bytes)), op).written;
    let rows = 0;
    for (const [by, lines] of outcomesBeyond(kept, there)) {
      const known = there.filter(each => each.by === by).length;
      const answer = await statements().witness(
        { account, known: head.known(), op, by },
        encodeLines(by, known, lines),
      );
      head.learn(answer.head);
      rows += new Set(lines.map(line => ('row' in line ? line.row : 0))).size;
    }
    await disk.remove(path);
    return rows;
  } finally {
    await release();
  }
}

/** By writer: what a row came to that it has sent, of what it wrote behind the last line that the database has. */
function outcomesBeyond(
  kept: readonly StoredRecord[],
  there: readonly StoredRecord[],
): ReadonlyMap<string, readonly JournalRecord[]> {
  const beyond = new Map<string, JournalRecord[]>();
  for (const by of new Set(kept.map(each => each.by))) {
    const known = there.filter(each => each.by === by);
    const sent = new Set(known.flatMap(({ record }) => (record.t === 'SENT' ? record.row : [])));
    const lines = kept.filter(each => each.by === by).slice(known.length);
    const outcomes = lines.map(({ record }) => record).filter(record => isOutcome(record) && sent.has(record.row));
    if (outcomes.length > 0) beyond.set(by, outcomes);
  }
  return beyond;
}

function isOutcome(record: JournalRecord): record is Extract<JournalRecord, { readonly t: 'DONE' | 'FAILED' | 'ACK' }> {
  return record.t === 'DONE' || record.t === 'FAILED' || record.t === 'ACK';
}
