/** As many cards as a run may be expected to make at once. */
import { test } from 'vitest';
import { expectEachRowOnce } from './many-cards.ts';

test('500 cards: one a row, in order, the wallet exact, and a second time sends nothing', () => expectEachRowOnce(500));
