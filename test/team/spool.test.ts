/** Copies of ops that other processes of this machine work on while they are looked at. */
import { expect, it } from 'vitest';
import type { JournalDisk } from '../../src/journal/wal/storage.ts';
import type { SharedOps } from '../../src/team/shared-ops.ts';
import { pushSpool } from '../../src/team/spool.ts';
import { linesOf, sent } from './test-account.ts';

const [OP, BY] = ['op_00000000000000000000000001', '97c7d7d0'];

/** A spool whose one copy is ended by its process once it is listed: it is not there when the lock is had. */
function endedMeanwhile(): SharedOps {
  const bytes = linesOf(BY, { t: 'RUN', pid: 1, start: '1', boot: 'b', at: 1 }, sent(1));
  const disk: Partial<JournalDisk> = {
    names: async () => [`${OP}.${BY}`],
    hold: async () => async () => undefined,
    open: async () => undefined,
  };
  const statements = { readOp: async () => [{ n: 1, bytes }] };
  const shared = { disk, statements: () => statements, spoolFolder: async () => '/spool', account: 'main' };
  return shared as unknown as SharedOps;
}

it('a copy that is ended after it was listed is nobody’s, and no damage', async () => {
  expect(await pushSpool(endedMeanwhile())).toEqual({ brought: [], missing: [] });
});
