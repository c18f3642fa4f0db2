import { describe, expect, it } from 'vitest';
import { runWords } from './line.ts';

describe('an error before the options are parsed', () => {
  it.each([
    [['cardz', '--json'], {}],
    [['-o', 'json', 'cardz'], {}],
    [['-ojson', 'cardz'], {}],
    [['-qojson', 'cards', 'list', '--bogus'], {}],
    [['--output=json', 'cards', 'lst'], {}],
    [['--output', 'ndjson', 'cards', 'list', '--bogus'], {}],
    [['cards', 'list', '-o', 'ndjson', '--color', 'red'], {}],
    [['cards', 'fund', 'card_1'], { CARDWRIGHT_OUTPUT: 'json' }],
    [['cardz'], { CARDWRIGHT_OUTPUT: 'json' }],
  ])('is one JSON line when JSON was asked for: %j %j', async (argv, env) => {
    const { code, out, err } = await runWords(argv, { env });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.split('\n').length).toBe(2);
    expect(JSON.parse(err)).toMatchObject({ error: { kind: 'usage', exit_code: 2, outcome: 'not_sent' } });
  });

  it.each([[['cardz']], [['cardz', '-o', 'table']], [['cardz', '--', '--json']]])(
    'is words otherwise: %j',
    async argv => {
      expect(await runWords(argv)).toEqual({
        code: 2,
        out: '',
        err: 'error: unknown command "cardz". Did you mean "cards"?\nSee: cardwright --help\n',
      });
    },
  );
});
