/** Histories that broke a law once, as short as they became. The program keeps them all. */
import type { History } from './history.ts';
import type { Saying, Settings } from './service.ts';

export interface Found {
  readonly name: string;
  readonly history: History;
}

const SERVICE = {
  wallet: 1_000_000,
  keysMs: 0,
  limitsRepeats: false,
  diesAt: 0,
  repeated: 0,
  behind: { list: 0, card: 0, wallet: 0, fresh: 0 },
  ignoresFilters: false,
  metadata: 'everywhere',
  totals: true,
  others: [],
} as const;
const CREATE = { change: 'create', dollars: 8, card: 1, intent: false } as const;
const PLAIN = { noise: 1, machines: [0], probed: false, held: false, cap: 0 } as const;
const NOW = { machine: 0, wait: 0, beside: false } as const;

export const FOUND: readonly Found[] = [
  {
    name: 'a create whose marker no list shows is sent again after its key was forgotten',
    history: {
      ...PLAIN,
      machines: [3_600_000],
      probed: true,
      wishes: [CREATE, CREATE],
      service: { ...SERVICE, keysMs: 3_000, metadata: 'not in lists' },
      lies: [{ nth: 2, does: 'done', ms: 0, says: 'another card' }],
      steps: [
        { ...NOW, name: 1, act: { do: 'buy', wishes: [0, 1], how: 'file' } },
        { ...NOW, name: 2, act: { do: 'resume', of: 1, resend: false } },
      ],
    },
  },
  {
    name: 'a row that is told "later" for an hour is called not sent although its card was made, which no marker shows in lists',
    history: {
      ...PLAIN,
      machines: [3_600_000],
      wishes: [CREATE],
      service: { ...SERVICE, metadata: 'not in lists' },
      lies: [{ nth: 1, does: 'done', ms: 0, says: '429 in an hour' }],
      steps: [{ ...NOW, name: 1, act: { do: 'buy', wishes: [0], how: 'file' } }],
    },
  },
  {
    name: 'a fund that was told as unknown, because the commit of its end was lost, stands in the shared journal as done and known',
    history: {
      ...PLAIN,
      shared: true,
      cuts: [{ nth: 4, when: 'after', awayMs: 20_000 }],
      wishes: [{ change: 'fund', dollars: 5, card: 2, intent: false }],
      service: SERVICE,
      lies: [],
      steps: [
        { ...NOW, name: 1, act: { do: 'buy', wishes: [0], how: 'command' } },
        { ...NOW, name: 2, act: { do: 'repeat', of: 1, as: 'the same', extra: 0 } },
      ],
    },
  },
  {
    name: 'a create that is refused and done, and nothing can be read behind it',
    history: refusedThoughDone('400 invalid request', 'command', { failing: { how: 'lost', ms: 5_000 } }),
  },
  {
    name: 'a row of a file that is refused and done, and the list cannot be read at the end',
    history: refusedThoughDone('400 insufficient funds', 'file', { failing: { how: '503', ms: 60_000 } }),
  },
];

function refusedThoughDone(says: Saying, how: 'command' | 'file', service: Partial<Settings>): History {
  return {
    ...PLAIN,
    wishes: [CREATE],
    service: { ...SERVICE, ...service },
    lies: [{ nth: 1, does: 'done', ms: 0, says }],
    steps: [{ ...NOW, name: 1, act: { do: 'buy', wishes: [0], how } }],
  };
}
