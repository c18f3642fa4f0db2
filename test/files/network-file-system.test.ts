/** Which file systems are shared over a network, by what Linux says of them. */
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { networkFileSystem } from '../../src/files/file-system.ts';

const mount = (place: string, type: string) => `36 35 0:42 / ${place} rw,relatime shared:1 - ${type} source rw\n`;

test.each([
  ['nfs', true],
  ['nfs4', true],
  ['cifs', true],
  ['ceph', true],
  ['fuse.sshfs', true],
  ['fuse.fuse-overlayfs', false],
  ['ext4', false],
  ['tmpfs', false],
])('the nearest mount above tells: %s', async (type, isShared) => {
  const mounts = async () =>
    mount('/', isShared ? 'ext4' : 'nfs4') + mount(tmpdir(), type) + mount('/elsewhere', 'nfs');
  expect(await networkFileSystem(tmpdir(), 'linux', mounts)).toBe(isShared ? type : undefined);
  expect(await networkFileSystem(tmpdir(), 'darwin', mounts)).toBeUndefined();
});
