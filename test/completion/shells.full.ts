/** All there is to complete, typed in every shell that is installed; and bash with its own package. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FEW, HOSTILE_CARDS, MORE } from './cases.ts';
import { missing, openShell, SHELLS } from './shell-session.ts';

describe.each(SHELLS)('TAB in a real %s', shell => {
  const why = missing(shell);

  it('makes of each line what it should', async ({ skip }) => {
    if (why !== undefined) return skip(why);
    await using session = await openShell(shell, HOSTILE_CARDS);
    for (const [typed, words] of [...FEW, ...MORE]) expect.soft(await session.words(typed), typed).toEqual(words);
    expect((await session.files()).toSorted()).toEqual(['my file.json', 'other.json']);
  });
});

it('bash with its completion package finds the script by itself', async ({ skip }) => {
  const places = ['/usr/share', '/usr/local/share', '/opt/homebrew/share'];
  const found = places.map(place => `${place}/bash-completion/bash_completion`).find(path => existsSync(path));
  const why =
    missing('bash') ?? (found ? undefined : 'the package bash-completion is not installed here: not tested with it');
  if (why !== undefined) return skip(why);
  await using session = await openShell('bash', HOSTILE_CARDS, `. ${found}\n`);
  for (const [typed, words] of FEW) expect(await session.words(typed), typed).toEqual(words);
});
