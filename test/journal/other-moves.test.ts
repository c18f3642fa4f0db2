/** An unknown change of card and wallet beside others: nothing is concluded where another choice of theirs explains it too. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Change, explained, type TimedMove } from '../../src/journal/execution/other-moves.ts';

const WANTED: Change = { card: 500, wallet: -500 };
const move = (timing: TimedMove['timing'], card: number, wallet: number, op = 'op_b'): TimedMove => ({
  op,
  timing,
  onCard: card !== 0,
  change: { card, wallet },
});
const found = (card: number, wallet: number, ...moves: readonly TimedMove[]) =>
  explained({ card, wallet }, WANTED, moves).found;

describe('beside others', () => {
  it('what is certain is taken off, in both directions', () => {
    expect(found(500, -500)).toBe('it');
    expect(found(0, 0)).toBe('nothing');
    expect(found(500, -1200, move('between', 0, -700))).toBe('it');
    expect(found(0, -700, move('between', 0, -700))).toBe('nothing');
    expect(found(500, -500, move('between', 500, -500))).toBe('nothing');
    expect(found(0, 0, move('between', -500, 500))).toBe('it');
    expect(found(500, -500, move('before', 500, -500))).toBe('it');
    expect(found(500, -600, move('between', 0, -700))).toBe('unclear');
  });

  it('names those that explain it, and not all that may', () => {
    const others = [
      move('between', 1600, -1600, 'op_b'),
      move('perhaps', 0, -5000, 'op_c'),
      move('perhaps', 0, -2000, 'op_d'),
    ];
    const ops = (card: number, wallet: number) => explained({ card, wallet }, WANTED, others).ops;
    expect(ops(2100, -2100)).toEqual(['op_b']);
    expect(ops(2100, -4100)).toEqual(['op_b', 'op_d']);
    expect(ops(2100, -2300)).toEqual(['op_b', 'op_c', 'op_d']);
  });

  it('what is not certain may be there or not, and both must say the same', () => {
    expect(found(500, -1200, move('perhaps', 0, -700))).toBe('it');
    expect(found(0, -700, move('perhaps', 0, -700))).toBe('nothing');
    expect(found(500, -500, move('perhaps', 500, -500))).toBe('unclear');
    expect(found(0, 0, move('perhaps', -500, 500))).toBe('unclear');
  });

  it('what the journal does not know leaves a card as it is that nobody else may have changed', () => {
    const untold = (onCard: boolean): TimedMove => ({ op: 'op_b', timing: 'perhaps', onCard, change: undefined });
    expect(found(0, 0, untold(false))).toBe('nothing');
    expect(found(0, 0, untold(true))).toBe('unclear');
    // Nobody else has put money on the card.
    expect(found(500, -500, untold(false))).toBe('it');
    expect(found(500, -700, untold(false))).toBe('it');
    expect(found(500, -500, untold(true))).toBe('unclear');
    expect(explained({ card: -500, wallet: 700 }, { card: -500, wallet: 500 }, [untold(false)]).found).toBe('unclear');
    expect(explained({ card: 0, wallet: 0 }, { card: 0, wallet: -500 }, [untold(false)]).found).toBe('unclear');
  });

  it('never says the opposite of what happened, whatever others have done', () => {
    const places = fc.constantFrom<TimedMove['timing']>('before', 'between', 'perhaps');
    const others = fc.array(
      fc.record({
        place: places,
        cents: fc.constantFrom(100, 200, 500, -500),
        same: fc.boolean(),
        there: fc.boolean(),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(fc.boolean(), others, (isDone, made) => {
        const moves = made.map(({ place, cents, same }, index) => move(place, same ? cents : 0, -cents, `op_${index}`));
        let [card, wallet] = isDone ? [WANTED.card, WANTED.wallet] : [0, 0];
        made.forEach(({ place, there }, index) => {
          if (place === 'before' || (place === 'perhaps' && !there)) return;
          card += moves[index]?.change?.card ?? 0;
          wallet += moves[index]?.change?.wallet ?? 0;
        });
        expect(found(card, wallet, ...moves)).not.toBe(isDone ? 'nothing' : 'it');
      }),
    );
  });
});
