/** The queue of `order.test.ts`, ten times as long. */
import { it } from 'vitest';
import { expectEmptied } from './emptied.ts';

it('empties a queue of 1,000', () => expectEmptied(1_000));
