/** TAB in real shells; all lines in the whole run. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { home, ROOT } from '../package/built.ts';
import { requires } from '../support/programs.ts';
import { isWhole } from '../support/whole.ts';
import { FEW, HOSTILE_CARDS, MORE } from './cases.ts';
import { missing, openShell, plain, programIn, SHELLS } from './shell-session.ts';

describe.each(SHELLS)('TAB in a real %s', shell => {
  const why = missing(shell);

  it('completes commands, flags, choices, cards and files; labels are inert, and no secret is offered', async ({
    skip,
  }) => {
    if (why !== undefined) return skip(why);
    await using session = await openShell(shell, HOSTILE_CARDS);
    for (const [typed, words] of isWhole ? [...FEW, ...MORE] : FEW)
      expect.soft(await session.words(typed), typed).toEqual(words);
    const seen = await session.shown('cardwright cards get card_\t\t', /card_three/);
    if (shell !== 'bash') {
      expect(plain(seen)).toContain('visa 4242, active');
      expect(plain(seen)).toContain('$(touch ran)');
      expect(seen).not.toMatch(/\x1b\[31mred|\x1b\]0;title|\x9b|[\u202e\u2066\u200b]/);
    }
    expect(seen).not.toMatch(/4242424242424242|card_ 4|card_\$/);
    // The word under the cursor is another matter: zsh itself expands it at TAB, whatever the command.
    const ran = '$(touch ran) `touch ran` "$(touch ran)"';
    await session.shown(`cardwright cards freeze ${ran} card_t\t\t`, /card_three/);
    expect((await session.files()).toSorted()).toEqual(['my file.json', 'other.json']);
  });
});

it.runIf(isWhole)('PowerShell takes the script, and offers what the program answers', async ({ skip }) => {
  const pwsh = ['pwsh', 'powershell'].find(name => requires(name) === undefined);
  if (pwsh === undefined) return skip('PowerShell is not installed here: its script was not tested');
  await using place = await home();
  const bin = join(place.folder, 'bin');
  await programIn(bin);
  const complete = (line: string) => {
    const script = `. '${join(ROOT, 'completions', 'cardwright.ps1')}'
      (TabExpansion2 -inputScript '${line}' -cursorColumn ${line.length}).CompletionMatches | ForEach-Object CompletionText`;
    const env = { ...process.env, CARDWRIGHT_CONFIG_DIR: place.folder, PATH: `${bin}:${process.env['PATH']}` };
    const { stdout, stderr } = spawnSync(pwsh, ['-NoProfile', '-Command', script], { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.split(/\r?\n/).filter(text => text !== '');
  };
  expect(complete('cardwright cards unf')).toEqual(['unfreeze']);
  expect(complete('cardwright cards list --status ')).toEqual(['active', 'frozen', 'terminated']);
  expect(complete('cardwright cards list --status=fr')).toEqual(['--status=frozen']);
  expect(complete('cardwright bins pick --need 3ds,apple')).toEqual(["'apple_pay'"]);
});

it.runIf(isWhole)('bash with its completion package finds the script by itself', async ({ skip }) => {
  const places = ['/usr/share', '/usr/local/share', '/opt/homebrew/share'];
  const found = places.map(place => `${place}/bash-completion/bash_completion`).find(path => existsSync(path));
  const why =
    missing('bash') ?? (found ? undefined : 'the package bash-completion is not installed here: not tested with it');
  if (why !== undefined) return skip(why);
  await using session = await openShell('bash', HOSTILE_CARDS, `. ${found}\n`);
  for (const [typed, words] of FEW) expect(await session.words(typed), typed).toEqual(words);
});
