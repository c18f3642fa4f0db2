/** What a statement tells of own moves and of their other side, whatever is asked for and however an answer came. */
import { expect, test } from 'vitest';
import { type World, world } from '../support/world.ts';

async function done(here: World, line: string): Promise<string> {
  const { code, out, err } = await here.run(line);
  expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
  return out.trim();
}

const at = (here: World, time: string) => done(here, `sandbox clock set frozen --at ${time} -q`);

test('a transfer of QIF names the account on its other side, in every cut', async () => {
  await using here = await world();
  await done(here, 'cards create --bin bin_1 --amount 50 -q');
  await done(here, 'books reconcile -q');
  await at(here, '2026-12-01T08:00:00Z');
  await done(here, 'books reconcile -q');
  const whole = await done(here, 'books export --format qif --period 2026-11');
  const [card] = whole.match(/Card \d{4} \w{6}/) ?? [];
  const cuts = {
    '': card,
    '--only wallet': card,
    '--only cards': 'Cardwright Wallet',
    '--card card_1': 'Cardwright Wallet',
  };
  for (const [cut, other] of Object.entries(cuts)) {
    const file = await done(here, `books export --format qif --period 2026-11 ${cut}`);
    const named = /P(?:From|To) \w+\r\nL(.*)\r/.exec(file)?.[1];
    expect({ cut, named }).toEqual({ cut, named: `[${other}]` });
  }
});
