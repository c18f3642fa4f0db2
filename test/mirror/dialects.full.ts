import { it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { expectTrueCopy } from './dialects.ts';

// Other paths need overrides, which any command takes alike.
it.each(DIALECT_NAMES.filter(name => name !== 'paths-other'))('copies a service that speaks %s', expectTrueCopy);
