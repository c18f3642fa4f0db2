/** The five operations of the sweep, as the child asks for them and as they are asked for again. */
import { ask, type Served } from '../support/sandbox-http.ts';

const ADMIN = '/_sandbox/v1';

/** What is asked, in this order; `settle` has no key and is judged by what became of the authorization. */
export const OPERATIONS = ['create', 'fund', 'withdraw', 'settle', 'terminate'] as const;
export type Swept = (typeof OPERATIONS)[number];

/** Ids of what the operations are about. */
export interface Things {
  readonly bin: string;
  readonly card: string;
  readonly ending: string;
  readonly authorization: string;
}

export function askFor(served: Served, name: Swept, { bin, card, ending, authorization }: Things) {
  const post = (path: string, body?: object) =>
    ask(served, { method: 'POST', path, ...(body && { body }), idempotencyKey: `sweep-${name}` });
  switch (name) {
    case 'create':
      return post('/cards', { bin_id: bin, amount: 10, label: 'swept' });
    case 'fund':
      return post(`/cards/${card}/fund`, { amount: 5 });
    case 'withdraw':
      return post(`/cards/${card}/withdraw`, { amount: 3 });
    case 'settle':
      return post(`${ADMIN}/simulate/authorizations/${authorization}/settle`, { amount: 18 });
    case 'terminate':
      return post(`/cards/${ending}/terminate`);
  }
}
