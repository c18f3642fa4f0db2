/** What a claim is told that the database refused, by what became of the op that was there first. */
import { expect, it } from 'vitest';
import { refusalOf } from '../../src/team/claims.ts';

const EARLIER = {
  op: 'op_1',
  bulk: false,
  unknown: 0,
  open: 0,
  holder: 'ana',
  host: 'vm',
  epoch: 1,
} as const;
const CLAIM = { account: 'main', key_print: '0123456789abcdef', role: 'ben' };

function told(state: 'running' | 'finished', lease_ms: number) {
  const standing = { ...EARLIER, state, lease_ms };
  const { hint, notes } = refusalOf({ verdict: 'earlier', standing }, CLAIM).facts;
  return { hint, notes };
}

it('an op that has finished is not to be taken over, one without a lease is, and one at work is to be looked at', () => {
  expect(told('finished', 0)).toEqual({
    hint: 'cardwright ops show op_1',
    notes: ['Run the same command again: it tells what that one has done.'],
  });
  expect(told('running', 0)).toMatchObject({ hint: 'cardwright ops takeover op_1 --reason "why"' });
  expect(told('running', 1000)).toMatchObject({ hint: 'cardwright ops show op_1' });
});
