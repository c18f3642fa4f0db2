import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openEmbedded } from '../../src/sandbox/serving/start.ts';
import { type World, world } from '../support/world.ts';

/** A world whose sandbox is the one of the data folder, as a person has it. */
const atHome = () => world({ openSandbox: host => openEmbedded(host, { version: '0.0.0-test' }) });

async function storeFile(here: World): Promise<string> {
  const found = await readdir(here.folder, { recursive: true });
  const name = found.find(path => path.endsWith('.db') || path.endsWith('.sqlite') || path.endsWith('.sqlite3'));
  if (name === undefined) throw new Error(`no store among ${found.join(', ')}`);
  return join(here.folder, name);
}

describe('the store in the data folder', () => {
  test('damaged: refused with the way out, kept, and moved aside by reset --hard', async () => {
    await using here = await atHome();
    expect((await here.run('wallet')).code).toBe(0);
    const path = await storeFile(here);
    const damaged = 'this is no database, and it was never meant to be one'.repeat(100);
    await writeFile(path, damaged);
    const { code, out, err } = await here.run('wallet');
    expect({ code, out }).toEqual({ code: 15, out: '' });
    expect(err).toContain('cardwright sandbox reset --hard');
    expect(await readFile(path, 'utf8')).toBe(damaged);

    expect((await here.run('sandbox reset --hard')).code).toBe(3);
    expect(await readFile(path, 'utf8')).toBe(damaged);
    const reset = await here.run('sandbox reset --hard --yes --json');
    expect(reset).toMatchObject({ code: 0, err: '' });
    const { moved_aside } = JSON.parse(reset.out) as { moved_aside: string[] };
    const kept = await Promise.all(moved_aside.map(file => readFile(file, 'utf8')));
    expect(kept).toContain(damaged);
    expect((await here.run('wallet')).code).toBe(0);
  });
});
