import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/core/nearest.ts';

const VERBS = ['create', 'list', 'get', 'details', 'fund', 'withdraw', 'freeze', 'unfreeze', 'terminate'];

describe('nearest', () => {
  it.each([
    ['lst', 'list'],
    ['lits', 'list'],
    ['creat', 'create'],
    ['terminat', 'terminate'],
    ['funds', 'fund'],
    ['gte', 'get'],
    ['xyz', undefined],
    ['laen', undefined],
    ['frod', 'fund'],
    ['', undefined],
    ['freeeeeze', undefined],
  ])('%s -> %s', (word, expected) => {
    expect(nearest(word, VERBS)).toBe(expected);
  });

  it.each([
    ['--stat', ['--sort', '--status'], '--status'],
    ['--sta', ['--live', '--status-code', '--status'], '--status'],
    ['--s', ['--sort', '--status'], undefined],
    ['web', ['wait', 'webhooks'], 'webhooks'],
    ['--sorted', ['--status', '--sort'], '--sort'],
  ])('%s of %j is the beginning of a word before it is a mistyped one', (typed, known, expected) => {
    expect(nearest(typed, known)).toBe(expected);
  });
});
