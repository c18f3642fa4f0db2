/** A test that needs a program is skipped aloud where it is missing, and fails where CI has installed it. */
import { expect, it } from 'vitest';
import { requires } from '../support/programs.ts';

const without = (missing: string, ci: boolean, platform: NodeJS.Platform) => ({
  ci,
  platform,
  isThere: (name: string) => name !== missing,
});

it('says what is missing on a machine of a user', () => {
  expect(requires(['strace', 'zsh'], without('zsh', false, 'linux'))).toBe('zsh is not here');
  expect(requires(['strace', 'zsh'], without('fish', false, 'linux'))).toBeUndefined();
});

it('fails in CI on Linux, for every program that is installed there', () => {
  for (const name of ['strace', 'zsh', 'fish', 'tmux']) {
    expect(() => requires(name, without(name, true, 'linux'))).toThrow(`${name} is not here, and CI must have it`);
  }
});

it('fails in CI neither elsewhere nor for what Debian has not', () => {
  expect(requires('strace', without('strace', true, 'darwin'))).toBe('strace is not here');
  expect(requires('pwsh', without('pwsh', true, 'linux'))).toBe('pwsh is not here');
});
