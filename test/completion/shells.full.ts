/** All there is to complete, typed in every shell that is installed. */
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
