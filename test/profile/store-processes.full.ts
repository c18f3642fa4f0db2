import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openProfileStore } from '../../src/profile/store.ts';
import { freshFolder, hostIn } from './dependencies.ts';
import { writerIn } from './writer.ts';

test('16 processes with 50 writes each keep 800 of 800', async () => {
  await using fresh = await freshFolder();
  const config = join(fresh.path, 'config');
  const writer = await writerIn(fresh.path);
  await Promise.all(Array.from({ length: 16 }, (_, n) => writer(config, '077', String(n), '50')));
  const store = await openProfileStore(hostIn(fresh.path), () => {});
  expect(store.list()).toHaveLength(800);
  expect(await readdir(config)).toEqual(['config.json']);
});
