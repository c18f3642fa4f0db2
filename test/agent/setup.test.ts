/** What `agent setup` writes for each host, what it leaves alone, and that everything goes again. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { hasEntry } from '../../src/commands/agent/hosts.ts';
import { world } from '../support/world.ts';

const BEFORE: Readonly<Record<string, string>> = {
  '.claude.json':
    '{\n    "theme": "dark",\n    "mcpServers": { "other": { "command": "x", "args": [] } },\n    "n": 1\n}\n',
  '.codex/config.toml': '# mine\nmodel = "o3"\n\n[mcp_servers.other]\ncommand = "x"\n',
  '.cursor/mcp.json': '{"mcpServers":{}}',
  '.gemini/settings.json': '{}',
};

async function withHosts(folder: string): Promise<void> {
  for (const [path, text] of Object.entries(BEFORE)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await mkdir(join(folder, '.claude'), { recursive: true });
}

test('writes skill and entry for every host that is here, and takes them away again', async () => {
  await using here = await world();
  const textOf = (path: string) => readFile(join(here.folder, path), 'utf8');
  expect((await here.run('agent setup --yes')).code).toBe(2);
  await withHosts(here.folder);
  const words = '-- --max-total 100 --intent-prefix agent7/';
  const dry = JSON.parse((await here.run(`agent setup --dry-run --json ${words}`)).out);
  expect(dry).toMatchObject({ changed: false, hosts: ['claude', 'codex', 'cursor', 'gemini'] });
  expect(await textOf('.claude.json')).toBe(BEFORE['.claude.json']);
  // Nobody to ask.
  expect((await here.run(`agent setup ${words}`)).code).toBe(3);
  expect((await here.run(`agent setup --yes ${words}`)).code).toBe(0);
  const args = ['--sandbox', 'mcp', '--max-total', '100', '--intent-prefix', 'agent7/'];
  const claude = JSON.parse(await textOf('.claude.json'));
  expect(claude).toMatchObject({ theme: 'dark', n: 1, mcpServers: { other: { command: 'x' } } });
  expect(claude.mcpServers.cardwright).toEqual({ command: 'cardwright', args });
  expect(await textOf('.claude.json')).toContain('\n    "theme"');
  expect(await textOf('.codex/config.toml')).toContain(BEFORE['.codex/config.toml']);
  expect(await textOf('.codex/config.toml')).toContain(
    `[mcp_servers.cardwright]\ncommand = "cardwright"\nargs = [${args.map(each => JSON.stringify(each)).join(', ')}]\n`,
  );
  for (const skills of ['.claude/skills', '.agents/skills', '.cursor/skills', '.gemini/skills'])
    expect(await readdir(join(here.folder, skills, 'cardwright', 'references'))).toHaveLength(3);
  const status = async () => JSON.parse((await here.run('agent status --json')).out).data;
  const ofUser = (await status()).filter(({ scope }: { scope: string }) => scope === 'user');
  for (const row of ofUser) expect(row).toMatchObject({ skill: 'current', tools: true });
  await writeFile(join(here.folder, '.claude/skills/cardwright/SKILL.md'), 'of an earlier version');
  expect((await status())[0]).toMatchObject({ host: 'claude', skill: 'other' });
  expect((await here.run(`agent setup --yes ${words}`)).code).toBe(0);
  expect(JSON.parse((await here.run(`agent setup --yes --json ${words}`)).out).changed).toBe(false);
  expect((await here.run('agent setup --remove --yes')).code).toBe(0);
  expect(JSON.parse(await textOf('.claude.json'))).toEqual(JSON.parse(BEFORE['.claude.json'] ?? ''));
  expect(await textOf('.codex/config.toml')).toBe(BEFORE['.codex/config.toml']);
  expect(await readdir(join(here.folder, '.claude', 'skills'))).toEqual([]);
  for (const row of await status()) expect(row).toMatchObject({ skill: 'none', tools: false });
});

test('leaves a file alone that is not of its documented form, and then writes nothing at all', async () => {
  await using here = await world();
  await withHosts(here.folder);
  const odd: readonly (readonly [string, string])[] = [
    ['.claude.json', '{ // a comment\n}'],
    ['.claude.json', '[]'],
    ['.claude.json', '{"mcpServers": 7}'],
    ['.claude.json', '{"mcpServers":{"cardwright":{"command":"mine","args":[]}}}'],
    ['.codex/config.toml', '[mcp_servers.cardwright]\ncommand = "mine"\n'],
  ];
  for (const [path, text] of odd) {
    await writeFile(join(here.folder, path), text);
    const ran = await here.run('agent setup --host claude --host codex --yes');
    expect({ text, code: ran.code }).toEqual({ text, code: 14 });
    expect(await readFile(join(here.folder, path), 'utf8')).toBe(text);
    expect(await readdir(join(here.folder, '.claude'))).toEqual([]);
    await writeFile(join(here.folder, path), BEFORE[path] ?? '');
  }
});

test('writes into a project, and names a server only where there is one', async () => {
  await using here = await world();
  expect((await here.run('agent setup --host claude --project --yes')).code).toBe(0);
  const config = JSON.parse(await readFile(join(here.folder, '.mcp.json'), 'utf8'));
  expect(config).toEqual({
    mcpServers: { cardwright: { command: 'cardwright', args: ['--sandbox', 'mcp', '--read-only'] } },
  });
  expect((await here.run('agent setup --host claude --project --remove --yes')).code).toBe(0);
  expect(await readdir(here.folder)).not.toContain('.mcp.json');
  expect(hasEntry('{"mcpServers":{"cardwrights":{}}}', 'claude')).toBe(false);
  expect(hasEntry('[mcp_servers."cardwright"]', 'codex')).toBe(true);
  for (const odd of ['rm -rf', '--max-totl 100', '-p sandbox'])
    expect([odd, (await here.run(`agent setup --host claude --yes -- ${odd}`)).code]).toEqual([odd, 2]);
});

test('leaves a file alone of which more than the entry would become other, and one without an entry byte for byte', async () => {
  await using here = await world();
  const path = join(here.folder, '.cursor', 'mcp.json');
  await mkdir(dirname(path), { recursive: true });
  for (const text of ['{"id": 12345678901234567890}', '{"a": 1, "a": 2}', '{"n": 1.0}', '{"e": "\\u00e9"}']) {
    await writeFile(path, text);
    const { code, err } = await here.run('agent setup --host cursor --yes');
    expect([text, code]).toEqual([text, 14]);
    expect(err).toContain(path);
    expect(await readFile(path, 'utf8')).toBe(text);
  }
  const marked = '\ufeff{ "n": 1 }';
  await writeFile(path, marked);
  expect((await here.run('agent setup --host cursor --remove --yes')).code).toBe(0);
  expect(await readFile(path, 'utf8')).toBe(marked);
});
