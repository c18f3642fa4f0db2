/** Which file systems are shared over a network, by what Linux says of them. */
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { networkFileSystem } from '../../src/files/file-system.ts';

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
