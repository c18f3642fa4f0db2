/**
 * What a pipe gets: text, tabs and newlines, in every format of every listing, whatever asks for colour on a terminal
 * and whatever the service put into a label; on a terminal the same text, and colour is only ever more.
 * `plain-bytes.full.ts` has wider terminals.
 */
import { describe, expect, it } from 'vitest';
import { OUTPUT_FORMATS } from '../../src/terminal/view.ts';
import { HOSTILE, here, inAHostileWorld, LISTED, onlyColours } from './plain-bytes.ts';

/** Everything people set to get colour, short of asking for it off a terminal. */
const COLOURFUL = { TERM: 'xterm-256color', COLORTERM: 'truecolor', CLICOLOR: '1', CLICOLOR_FORCE: '0' };

inAHostileWorld();

describe('off a terminal', () => {
  it.each(LISTED)('%s', async line => {
    for (const format of OUTPUT_FORMATS) {
      const { out, err } = await here.run(`${line} -o ${format}`, { env: COLOURFUL });
      // Shell assignments must arrive whole; nothing else acts on the terminal at the end of the pipe.
      const shown = format === 'env' ? out.replaceAll(HOSTILE, '') : out;
      expect([format, shown.match(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e\u200b]/g)]).toEqual([format, null]);
      expect([format, err.match(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g)]).toEqual([format, null]);
    }
  });
});

/** In falling order; the first of a line that is set decides, and each is set beside all that are weaker. */
const ORDER: readonly (readonly [options: string, env: Readonly<Record<string, string>>, isColoured: boolean])[] = [
  ['--color always', { NO_COLOR: '1', CLICOLOR: '0', TERM: 'dumb' }, true],
  ['--color never', { FORCE_COLOR: '3', CLICOLOR_FORCE: '1' }, false],
  ['', { NO_COLOR: '1', FORCE_COLOR: '1', CLICOLOR_FORCE: '1' }, false],
  ['', { FORCE_COLOR: '1', CLICOLOR: '0', TERM: 'dumb' }, true],
  ['', { NO_COLOR: '', CLICOLOR_FORCE: '1', CLICOLOR: '0', TERM: 'dumb' }, true],
  ['', { FORCE_COLOR: '0', CLICOLOR: '1' }, false],
  ['', { CLICOLOR: '1', TERM: 'xterm-256color' }, false],
];

describe('in colour, off a terminal, where it is asked for', () => {
  it.each(ORDER)('%s %j: an error %s, and never the rows, which a script cuts', async (options, env, isColoured) => {
    const { err } = await here.run(`cards get no_such_card ${options}`, { env });
    expect(err.startsWith(isColoured ? '\x1b[31merror:\x1b[39m ' : 'error: ')).toBe(true);
    const plain = await here.run('cards list');
    expect(await here.run(`cards list ${options}`, { env })).toEqual(plain);
  });

  it('nothing of it in a format for machines', async () => {
    for (const format of OUTPUT_FORMATS.filter(each => each !== 'table' && each !== 'wide')) {
      const machine = await here.run(`cards list -o ${format} --color always --limit 1`, { env: { FORCE_COLOR: '1' } });
      const piped = await here.run(`cards list -o ${format} --limit 1`);
      expect([format, machine.out, machine.err]).toEqual([format, piped.out, piped.err]);
    }
    const json = await here.run('cards get no_such_card --json --color always');
    expect(json.err).toMatch(/^\{.*\}\n$/);
  });
});

describe('on a terminal', () => {
  it('40 columns: only colours are escapes, and without them it reads the same', () => onlyColours(40));

  it('accessible output has no escape at all, and one field a line', async () => {
    for (const line of LISTED.filter(each => !/^(?:api|help|explain|contract)/.test(each))) {
      const { out } = await here.run(`${line} --accessible --color never`, {
        terminal: 80,
        env: { TERM: 'xterm' },
      });
      expect([line, out.match(/[^\x20-\x7e\n\u00a0-\uffff]/g)]).toEqual([line, null]);
      const odd = out.split('\n').filter(text => / {3,}\S/.test(text));
      expect([line, odd]).toEqual([line, []]);
    }
  });
});
