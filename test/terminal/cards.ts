/** The cards of the mock-up, and what a test needs to show them. */
import type { Environment } from '../../src/platform/host.ts';
import { present } from '../../src/terminal/present.ts';
import type { Column, OutputSettings, Presentation, Row } from '../../src/terminal/view.ts';
import { type MemoryStreamsOptions, memoryStreams } from '../support/streams.ts';

export const NOW = Date.parse('2026-11-20T16:03:11Z');

export const COLUMNS: readonly Column[] = [
  { field: 'id', title: 'ID', kind: 'id', priority: 1 },
  { field: 'network', title: 'NETWORK', kind: 'text', priority: 7, wideOnly: true },
  { field: 'last4', title: 'LAST4', kind: 'text', priority: 2 },
  { field: 'status', title: 'STATUS', kind: 'word', priority: 3 },
  { field: 'balance', title: 'BALANCE', kind: 'money', priority: 4 },
  { field: 'spending_limit', title: 'LIMIT', kind: 'money', priority: 8, wideOnly: true },
  { field: 'label', title: 'LABEL', kind: 'text', priority: 5, shrink: true },
  { field: 'created_at', title: 'AGE', kind: 'time', priority: 6 },
];

function card(id: string, last4: string, more: Row): Row {
  return { id, network: 'visa', last4, spending_limit: 2000, ...more };
}

export const CARDS: readonly Row[] = [
  card('card_7q2w4xk5m6n3p2r7t4v5y6z2', '4242', {
    status: 'active',
    balance: 120,
    label: 'ads: search',
    created_at: '2026-11-20T14:03:11Z',
  }),
  card('card_b3c6d7f2g5h4j7k2m6n3p4q5', '1881', {
    status: 'active',
    balance: 4980.5,
    label: '広告 — Tokyo campaign',
    created_at: '2026-11-17T14:03:11Z',
  }),
  card('card_r2s5t6v3w4x7y2z5a6b3c4d7', '5454', {
    status: 'frozen',
    balance: 0,
    label: 'trial',
    created_at: '2026-11-08T14:03:11Z',
  }),
  card('card_f5g2h7j4k3m6n5p2q7r4s3t6', '0123', {
    status: 'terminated',
    balance: 0,
    label: '',
    created_at: '2026-10-10T14:03:11Z',
  }),
];

export async function* inBatches(...batches: readonly (readonly Row[])[]): AsyncIterable<readonly Row[]> {
  yield* batches;
}

export function cardList(
  batches: AsyncIterable<readonly Row[]> = inBatches(CARDS),
  more: Partial<Presentation> = {},
): Presentation {
  return {
    noun: 'card',
    columns: COLUMNS,
    listing: {
      batches,
      page: () => ({ current: 1 }),
      footer: rows => (rows === 0 ? 'No cards yet.' : `${rows} cards, page 1. All pages: --all`),
    },
    ...more,
  };
}

export interface ShowOptions extends MemoryStreamsOptions {
  readonly settings?: Partial<OutputSettings>;
  readonly env?: Environment;
}

/** Presents and gives back what was written, with the error when there was one. */
export async function show(presentation: Presentation, { settings, env = {}, ...streamOptions }: ShowOptions = {}) {
  const streams = memoryStreams(streamOptions);
  const all: OutputSettings = {
    format: 'table',
    quiet: false,
    accessible: false,
    csvRaw: false,
    colour: 'auto',
    now: NOW,
    ...settings,
  };
  const error: unknown = await present(presentation, all, streams, env).then(
    () => undefined,
    thrown => thrown,
  );
  return { out: streams.out, err: streams.err, error };
}

/** A terminal on both outputs, without colour unless asked. */
export const TERMINAL = {
  stdoutTerminal: true,
  stderrTerminal: true,
  env: { NO_COLOR: '1' },
} as const satisfies ShowOptions;
