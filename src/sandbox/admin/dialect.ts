/** dialect.show */
import { digestOf, statedForKey } from '../../core/key-print.ts';
import type { TracelessHandlers } from '../service/service.ts';
import { allApiKeys } from '../store/api-keys.ts';

/** With a nonce it is said for each key too: whoever has one of them knows that its own requests are meant. */
export const showDialect: TracelessHandlers['dialect.show'] = async ({ parts, read }, { nonce }) => {
  const { facts } = parts.activeDialect;
  if (nonce === undefined) return { ...facts, stated_for: [] };
  const made = await read(({ sql, account }) => allApiKeys(sql, account));
  const digests = [digestOf(parts.key.expose()), ...made.map(({ digest }) => digest)];
  const statement = { nonce, honoursKeys: facts.honours_keys };
  return { ...facts, stated_for: digests.map(digest => statedForKey(digest, statement)) };
};
