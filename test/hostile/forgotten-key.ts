/** A lost answer, and a day goes by before the next try: the sandbox has forgotten the key, and money moves once. */
import { expect, test } from 'vitest';
import { ended, type Home, home } from '../package/built.ts';

interface Change {
  readonly operation: 'cards.create' | 'cards.fund' | 'cards.withdraw';
  readonly words: readonly string[];
  /** Into the wallet, USD. */
  readonly moved: number;
}

const run = (place: Home, ...words: readonly string[]) => place.run(['--sandbox', ...words]);

/** The id of a card, and what the wallet holds once it is made, USD. */
async function prepared(place: Home): Promise<{ readonly card: string; readonly before: number }> {
  const { code, out, err } = await run(place, 'cards', 'create', '--bin', 'auto', '--amount', '100', '-q');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return { card: out.trim(), before: await walletOf(place) };
}

async function addFault(place: Home, rule: object): Promise<void> {
  const child = place.start(['--sandbox', 'sandbox', 'faults', 'add', '-']);
  expect((await ended(child, JSON.stringify(rule))).code).toBe(0);
}

const walletOf = async (place: Home) => JSON.parse((await run(place, 'wallet', '--json')).out).balance as number;

/** Side by side: most of each is waiting. */
export function resumedADayLater(changes: readonly Change[]): void {
  test.concurrent.each(changes)('$operation $words: resumed a day later', async ({ operation, words, moved }) => {
    await using place = await home();
    const { card, before } = await prepared(place);
    const lost = { match: { operation }, phase: 'after_commit', action: { kind: 'reset' }, times: 9 };
    await addFault(place, lost);
    const line = ['cards', ...words.map(word => (word === 'CARD' ? card : word)), '--json'];
    const first = await run(place, ...line);
    await run(place, 'sandbox', 'faults', 'clear', '--yes');
    expect((await run(place, 'sandbox', 'clock', 'advance', '--by', '25h')).code).toBe(0);
    const op = /"op":"(op_\w+)"/.exec(first.err)?.[1];
    const resumed =
      op === undefined ? [] : [await run(place, 'ops', 'resume', op), await run(place, 'ops', 'resume', op)];
    const codes = [first, ...resumed].map(({ code }) => code);
    expect({ codes: codes.filter(code => code !== 0 && code !== 11), moved: (await walletOf(place)) - before }).toEqual(
      {
        codes: [],
        moved,
      },
    );
  });
}
