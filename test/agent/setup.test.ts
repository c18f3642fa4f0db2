/** What `agent setup` writes for each host, what it says of the tools, and that everything goes again. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

test('writes the skill for every host that is here, tells how to add the tools, and takes the skill away again', async () => {
  await using here = await world();
  expect((await here.run('agent setup --yes')).code).toBe(2);
  for (const folder of ['.claude', '.codex', '.cursor', '.gemini']) await mkdir(join(here.folder, folder));
  const words = '-- --max-total 100 --intent-prefix agent7/';
  const dry = JSON.parse((await here.run(`agent setup --dry-run --json ${words}`)).out);
  const args = ['--sandbox', 'mcp', '--max-total', '100', '--intent-prefix', 'agent7/'];
  expect(dry).toMatchObject({ changed: false, hosts: ['claude', 'codex', 'cursor', 'gemini'] });
  expect(dry.entry).toEqual({ command: 'cardwright', args });
  expect(await readdir(join(here.folder, '.claude'))).toEqual([]);
  // Nobody to ask.
  expect((await here.run(`agent setup ${words}`)).code).toBe(3);
  expect((await here.run(`agent setup --yes ${words}`)).code).toBe(0);
  for (const skills of ['.claude/skills', '.agents/skills', '.cursor/skills', '.gemini/skills'])
    expect(await readdir(join(here.folder, skills, 'cardwright', 'references'))).toHaveLength(3);
  expect(await readdir(join(here.folder, '.codex'))).toEqual([]);
  const page = join(here.folder, '.claude/skills/cardwright/SKILL.md');
  const text = await readFile(page, 'utf8');
  await writeFile(page, `${text.slice(0, 100)} of an earlier version`);
  expect((await here.run(`agent setup --yes ${words}`)).code).toBe(0);
  expect(await readFile(page, 'utf8')).toBe(text);
  await writeFile(page, 'of somebody else');
  expect((await here.run(`agent setup --yes ${words}`)).code).toBe(14);
  expect((await here.run('agent setup --remove --yes')).code).toBe(14);
  expect(await readFile(page, 'utf8')).toBe('of somebody else');
  await writeFile(page, text);
  expect((await here.run('agent setup --remove --yes')).code).toBe(0);
  expect(await readdir(join(here.folder, '.claude', 'skills'))).toEqual([]);
});

test('writes into a project, and refuses what is no option of the tools', async () => {
  await using here = await world();
  const made = await here.run('agent setup --host claude --project --yes --json');
  expect(JSON.parse(made.out).entry.args).toEqual(['--sandbox', 'mcp', '--read-only']);
  expect(await readdir(join(here.folder, '.claude/skills/cardwright'))).toContain('SKILL.md');
  expect((await here.run('agent setup --host claude --project --remove --yes')).code).toBe(0);
  expect(await readdir(join(here.folder, '.claude', 'skills'))).toEqual([]);
  for (const odd of ['rm -rf', '--max-totl 100', '-p sandbox'])
    expect([odd, (await here.run(`agent setup --host claude --yes -- ${odd}`)).code]).toEqual([odd, 2]);
});
