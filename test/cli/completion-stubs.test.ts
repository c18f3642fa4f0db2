import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPLETION_FILES, COMPLETION_SHELLS, completionStub } from '../../src/cli/completion/scripts.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { runWords } from './line.ts';

const completions = join(import.meta.dirname, '..', '..', 'completions');

describe.each(COMPLETION_SHELLS)('the %s script', shell => {
  it('is what the command prints', async () => {
    const text = await readFile(join(completions, COMPLETION_FILES[shell]), 'utf8');
    expect(await runWords(['completion', shell])).toEqual({ code: 0, out: text, err: '' });
  });

  it('is thin: no name of a command, no eval', () => {
    const text = completionStub(shell);
    expect(text.split('\n').length).toBeLessThan(30);
    expect(text).not.toMatch(/\beval\b/);
    for (const { name } of REGISTRY.filter(group => group.name !== 'completion' && group.name !== '3ds')) {
      expect(text).not.toMatch(new RegExp(`(?<![_-])\\b${name}\\b`));
    }
  });
});
