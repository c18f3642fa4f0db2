/**
 * What a pipe gets: text, tabs and newlines, in every format of every listing, whatever asks for colour on a terminal
 * and whatever the service put into a label; on a terminal the same text, and colour is only ever more.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OUTPUT_FORMATS } from '../../src/terminal/view.ts';
import { isWhole } from '../support/whole.ts';
import { type World, world } from '../support/world.ts';

const LISTED = [
  'cards list',
  'cards get card_1',
  'bins pick',
  'wallet addresses',
  'tx list',
  'tx summary',
  '3ds list',
  'audit list',
  'sandbox requests',
  'help options',
  'api GET /cards',
];
const HOSTILE = 'a\x1b[2J\x1b]0;title\x07\x9b31m\u202e\u200b広告';

let here: World;

beforeAll(async () => {
  here = await world({ data: 'demo' });
  const body = JSON.stringify({ bin_id: 'bin_1', amount: 5, label: HOSTILE });
  expect(await here.run('api POST /cards --input -', { stdin: body })).toMatchObject({ code: 0 });
});
afterAll(() => here[Symbol.asyncDispose]());

/** Only colours are escapes on a terminal so wide, and without them it reads the same. */
async function onlyColours(terminal: number): Promise<void> {
  for (const line of LISTED.filter(each => !each.startsWith('api'))) {
    const env = { TERM: 'xterm' };
    const plain = await here.run(line, { terminal, env: { ...env, NO_COLOR: '1' } });
    const coloured = await here.run(line, { terminal, env });
    const bare = coloured.out.replace(/\x1b\[\d+m/g, '');
    expect([line, bare.match(/[^\x20-\x7e\n\u00a0-\uffff]/g)]).toEqual([line, null]);
    if (!/requests|audit/.test(line)) expect([line, bare]).toEqual([line, plain.out]);
    expect(bare).not.toMatch(/\u202e|\u200b/);
  }
}

/** Everything people set to get colour, short of asking for it off a terminal. */
const COLOURFUL = { TERM: 'xterm-256color', COLORTERM: 'truecolor', CLICOLOR: '1', CLICOLOR_FORCE: '0' };

describe('off a terminal', () => {
  // Three of the formats a listing, each in its turn.
  it.each(LISTED.map((line, nth) => [line, nth] as const))('%s', async (line, nth) => {
    for (const [at, format] of OUTPUT_FORMATS.entries()) {
      if (!isWhole && (at + nth) % 4 !== 0) continue;
      const { out, err } = await here.run(`${line} -o ${format}`, { env: COLOURFUL });
      // Shell assignments must arrive whole; nothing else acts on the terminal at the end of the pipe.
      const shown = format === 'env' ? out.replaceAll(HOSTILE, '') : out;
      expect([format, shown.match(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e\u200b]/g)]).toEqual([format, null]);
      expect([format, err.match(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g)]).toEqual([format, null]);
    }
  });
});

describe('in colour, off a terminal, where it is asked for', () => {
  it('nothing of it in a format for machines', async () => {
    for (const format of OUTPUT_FORMATS.filter(each => !['table', 'wide', 'env'].includes(each))) {
      const machine = await here.run(`cards list -o ${format} --color always --limit 1`, { env: { FORCE_COLOR: '1' } });
      const piped = await here.run(`cards list -o ${format} --limit 1`);
      expect([format, machine.out, machine.err]).toEqual([format, piped.out, piped.err]);
    }
    const json = await here.run('cards get no_such_card --json --color always');
    expect(json.err).toMatch(/^\{.*\}\n$/);
  });
});

describe('on a terminal', () => {
  it.each(isWhole ? [40, 80, 120] : [40])(
    '%i columns: only colours are escapes, and without them it reads the same',
    onlyColours,
  );

  it('accessible output has no escape at all, and one field a line', async () => {
    for (const line of LISTED.filter(each => !/^(?:api|help)/.test(each))) {
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
