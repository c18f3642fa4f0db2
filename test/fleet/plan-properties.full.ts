/** The same over many more fleets and accounts. */
import fc from 'fast-check';
import { test } from 'vitest';
import { appliedIsEmpty, CASES, orderIsNothing, staysWithin, twiceIsOnce } from './plan-properties.ts';

const RUNS = { numRuns: 50_000 };
const HOUR = 3_600_000;

test(
  'a plan that was carried out whole leaves nothing to do',
  () => fc.assert(fc.property(CASES, appliedIsEmpty), RUNS),
  HOUR,
);
test('no stranger is touched, no cap is passed', () => fc.assert(fc.property(CASES, staysWithin), RUNS), HOUR);
test('the order changes nothing', () => fc.assert(fc.property(CASES, fc.nat(), orderIsNothing), RUNS), HOUR);
test('sent twice under its keys it is done once', () => fc.assert(fc.property(CASES, twiceIsOnce), RUNS), HOUR);
