/** Which file systems are shared over a network, by what Linux says of them. */
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { networkFileSystem } from '../../src/files/network-file-system.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { bench, createRow, planOf } from '../journal/bench.ts';
import { random, realClock } from '../support/clocks.ts';

const at = (type: number, mounts = '') => ({ type: async () => type, mounts: async () => mounts });
const mount = (place: string, type: string) => `36 35 0:42 / ${place} rw,relatime shared:1 - ${type} source rw\n`;

test.each([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42 | 0, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x00c36400, 'ceph'],
  [0xef53, undefined],
  [0x01021994, undefined],
  [0x794c7630, undefined],
])('%i is %s', async (type, name) => {
  expect(await networkFileSystem(tmpdir(), 'linux', at(type))).toBe(name);
});

test('behind FUSE the mount tells, the nearest one above', async () => {
  const fuse = 0x65735546;
  const shared = mount('/', 'ext4') + mount(tmpdir(), 'fuse.sshfs');
  expect(await networkFileSystem(tmpdir(), 'linux', at(fuse, shared))).toBe('fuse.sshfs');
  const overlay = mount('/', 'fuse.sshfs') + mount(tmpdir(), 'fuse.fuse-overlayfs');
  expect(await networkFileSystem(tmpdir(), 'linux', at(fuse, overlay))).toBeUndefined();
  expect(await networkFileSystem(tmpdir(), 'darwin', at(0x6969))).toBeUndefined();
});

test('money is not moved with the journal on one, begun or resumed: 14, and nothing was sent', async () => {
  await using b = await bench();
  const first = await b.journal.begin(planOf([createRow(b.bin)]));
  await first[Symbol.asyncDispose]();
  const lock = { pid: process.pid, clock: realClock, random };
  const around = { platform: 'linux', random, warn: () => undefined, lock, fileSystems: at(0x6969) } as const;
  const shared = b.another({ disk: () => createDisk(around) });
  const refused = { kind: 'guarded', exitCode: 14, message: expect.stringContaining('network file system (nfs)') };
  await expect(shared.begin(planOf([createRow(b.bin, 1)], { digest: 'other' }))).rejects.toMatchObject(refused);
  await expect(shared.resume(first.op)).rejects.toMatchObject(refused);
  expect(b.proxy.posts()).toHaveLength(0);
});
