/** The command that goes on with an op: of another operator it is taken over, and one's own is resumed. */
import type { OpStore } from '../store/op-store.ts';
import type { TakeUp } from '../types.ts';

export async function takeUpOf(store: Pick<OpStore, 'otherOperatorOf'>, op: string): Promise<TakeUp> {
  const other = await store.otherOperatorOf?.(op);
  if (other === undefined) return { command: `cardwright ops resume ${op}`, whose: '' };
  const { holder, host } = other;
  return { command: `cardwright ops takeover ${op} --reason "why"`, whose: `, in the hands of ${holder} on ${host}` };
}
