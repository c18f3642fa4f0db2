/** The listings whose bytes are looked at, in a world with hostile text in a label. */
import { afterAll, beforeAll, expect } from 'vitest';
import { type World, world } from '../support/world.ts';

export const LISTED = [
  'cards list',
  'cards get card_1',
  'bins list',
  'bins pick',
  'wallet',
  'wallet addresses',
  'tx list',
  'tx summary',
  '3ds list',
  'webhooks list',
  'webhooks events',
  'ops list',
  'audit list',
  'profiles list',
  'whoami',
  'contract show',
  'sandbox status',
  'sandbox requests',
  'sandbox deliveries list',
  'commands',
  'help options',
  'explain 11',
  'api GET /cards',
];
export const HOSTILE = 'a\x1b[2J\x1b]0;title\x07\x9b31m\u202e\u200b広告';

export let here: World;

/** Such a world, for the tests of the file. */
export function inAHostileWorld(): void {
  beforeAll(async () => {
    here = await world({ data: 'demo' });
    const body = JSON.stringify({ bin_id: 'bin_1', amount: 5, label: HOSTILE });
    expect(await here.run('api POST /cards --input -', { stdin: body })).toMatchObject({ code: 0 });
  });
  afterAll(() => here[Symbol.asyncDispose]());
}

/** Only colours are escapes on a terminal so wide, and without them it reads the same. */
export async function onlyColours(terminal: number): Promise<void> {
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
