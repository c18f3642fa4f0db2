/** The commands under every dialect; `paths-other` is reached with overrides. */
import { beforeAll, describe, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { type Told, told } from './commands.ts';
import { differing } from './compare.ts';

let usual: readonly Told[] = [];
beforeAll(async () => {
  usual = await told('default');
});

describe.each(DIALECT_NAMES)('%s', dialect => {
  it('tells a script the same', async () => differing(dialect, usual, await told(dialect)));
});
