import { expect, it } from 'vitest';
import { walkHostile } from './hostile-walk.ts';

const LEAST_STRINGS = 100_000;

it(`no control character of ${LEAST_STRINGS} hostile strings arrives, in any view of any command`, async () => {
  expect((await walkHostile(LEAST_STRINGS)).strings).toBeGreaterThanOrEqual(LEAST_STRINGS);
});
