/** One writer: waiting records share a sync, a failure is for good, a foreign record is noticed. */
import { expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { decodeLines } from '../../src/journal/wal/codec.ts';
import type { JournalRecord } from '../../src/journal/wal/records.ts';
import type { JournalFile } from '../../src/journal/wal/storage.ts';
import { openLog } from '../../src/journal/wal/writer.ts';

const sent = (row: number): JournalRecord => ({ t: 'SENT', row, attempt: 1, at: 0 });

function memoryFile() {
  let bytes = Buffer.alloc(0);
  const calls: string[] = [];
  const file: JournalFile & { failing?: string; slip(text: string): void } = {
    readAll: async () => bytes,
    readAt: (at, length) => bytes.subarray(at, at + length),
    async append(more) {
      calls.push('append');
      if (file.failing === 'append') throw new CliError('guarded', { message: 'ENOSPC' });
      bytes = Buffer.concat([bytes, more]);
    },
    async sync() {
      calls.push('sync');
      await new Promise(resolve => setImmediate(resolve));
      if (file.failing === 'sync') throw new CliError('guarded', { message: 'EIO' });
    },
    size: async () => bytes.length,
    truncate: async size => {
      bytes = bytes.subarray(0, size);
    },
    close: async () => void calls.push('close'),
    slip: text => {
      bytes = Buffer.concat([bytes, Buffer.from(text)]);
    },
  };
  return { file, calls, log: openLog(file, { op: 'op', by: 'aaaaaaaa', seq: 0, size: 0 }) };
}

test('records that wait together share one write and one sync', async () => {
  const { log, calls, file } = memoryFile();
  await Promise.all([1, 2, 3, 4, 5, 6].map(row => log.append(sent(row))));
  expect(calls).toEqual(['append', 'sync']);
  expect(decodeLines(await file.readAll(), 'op').written).toHaveLength(6);
});

test('records that come during a sync wait for the next one', async () => {
  const { log, calls } = memoryFile();
  const first = log.append(sent(1));
  await Promise.resolve();
  await Promise.resolve();
  const rest = [log.append(sent(2)), log.append(sent(3))];
  await Promise.all([first, ...rest]);
  expect(calls).toEqual(['append', 'sync', 'append', 'sync']);
});

test.each(['append', 'sync'])('after a failed %s nothing is written any more', async failing => {
  const { log, file, calls } = memoryFile();
  await log.append(sent(1));
  file.failing = failing;
  await expect(log.append(sent(2))).rejects.toMatchObject({ kind: 'guarded' });
  delete file.failing;
  const soFar = calls.length;
  await expect(log.append(sent(3))).rejects.toMatchObject({ kind: 'guarded' });
  expect(calls).toHaveLength(soFar);
});

test('a record of another process behind ours stops this one', async () => {
  const { log, file } = memoryFile();
  await log.append(sent(1));
  file.slip('anything');
  await expect(log.append(sent(2))).rejects.toThrow(/taken over/);
});
