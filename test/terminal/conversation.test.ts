import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitted } from '../../src/terminal/fold.ts';

describe('a line of conversation', () => {
  it('keeps every word, whole, and breaks no command', () => {
    const word = fc.stringMatching(/^[a-z]{1,14}$/);
    const sentence = fc.array(word, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(sentence, sentence, fc.integer({ min: 24, max: 100 }), (told, typed, cells) => {
        const command = `cardwright ${typed.join(' ')}`;
        const lines = fitted(`error: ${told.join(' ')}: ${command}`, cells);
        expect(lines.join(' ').split(/ +/).filter(Boolean)).toEqual([
          'error:',
          ...`${told.join(' ')}: ${command}`.split(' '),
        ]);
        expect(lines.filter(line => line.includes(command))).toHaveLength(1);
        // Only what is one piece may be wider than the screen.
        for (const line of lines) {
          if (line.length > cells) expect(line.endsWith(command) || !line.trim().includes(' ')).toBe(true);
        }
      }),
    );
  });
});
