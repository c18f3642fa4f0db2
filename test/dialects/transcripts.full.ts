/** Every story under every dialect, but for the one that needs overrides. */
import { describe, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { expectSame, transcripts } from './transcripts.ts';

const names = await transcripts();

describe.each(DIALECT_NAMES.filter(dialect => dialect !== 'default' && dialect !== 'paths-other'))('%s', dialect => {
  it.each(names)('%s', name => expectSame(name, dialect));
});
