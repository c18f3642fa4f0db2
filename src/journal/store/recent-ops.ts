/** Operations of this machine for completion: names and what they were, from the first lines alone. Changes nothing. */
import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { NO_WAITING } from '../../files/private-files.ts';
import { decodeLines } from '../wal/codec.ts';
import { isOp } from '../wal/op-id.ts';
import { type Places, placesIn } from './paths.ts';

export interface RecentOp {
  readonly op: string;
  readonly command: string | undefined;
  /** Of an apply: the fleet whose markers its cards carry. */
  readonly fleet: string | undefined;
  /** Of its last record, ms UTC. */
  readonly at: number;
}

/** More files than anybody keeps; a key press must not look at each of them. */
const MOST_LOOKED_AT = 1_000;
const HEAD_BYTES = 4_096;

/** The newest first; only those that have not ended when asked so. None where the folder cannot be read. */
export async function recentOps(stateFolder: string, wish: { unfinished: boolean; most: number }): Promise<RecentOp[]> {
  const places = placesIn(stateFolder);
  const names = await readdir(wish.unfinished ? places.unfinished : places.root).catch(() => []);
  const ops = names.filter(isOp).slice(0, MOST_LOOKED_AT);
  const dated = await Promise.all(ops.map(async op => ({ op, at: await changed(places, op) })));
  const newest = dated.sort((one, other) => other.at - one.at).slice(0, wish.most);
  return Promise.all(newest.map(async ({ op, at }) => ({ op, at, ...(await plannedAs(places, op)) })));
}

function changed(places: Places, op: string): Promise<number> {
  return stat(places.journal(op)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

type Planned = Pick<RecentOp, 'command' | 'fleet'>;

/** By the plan, which is the first line; nothing when that is not whole, or too long to be read here. */
async function plannedAs(places: Places, op: string): Promise<Planned> {
  const nothing = { command: undefined, fleet: undefined };
  try {
    const file = await open(places.journal(op), constants.O_RDONLY | NO_WAITING);
    try {
      const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
      const line = buffer.subarray(0, buffer.subarray(0, bytesRead).indexOf(0x0a) + 1);
      const [first] = decodeLines(line, op).written;
      if (first?.record.t !== 'PLAN') return nothing;
      const { command, marker_prefix: prefix } = first.record;
      return { command, fleet: /^fleet\/([^/]+)\/$/.exec(prefix ?? '')?.[1] };
    } finally {
      await file.close();
    }
  } catch {
    return nothing;
  }
}
