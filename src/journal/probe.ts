/** Finds out what the idempotency key is worth, by using one twice (RELIABILITY, section 3). Writes and cleans up. */
import type { WriteName } from '../contract/calls.ts';
import type { Delivery, Reader, Service } from '../contract/service.ts';
import { CliError } from '../errors.ts';
import { type Cents, cents } from '../money.ts';
import { balancesOf } from './looking.ts';
import { MARKER_KEY } from './marker.ts';
import type { Probed } from './types.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Probing {
  readonly service: Service;
  readonly reader: Reader;
  /** A card is issued from it. */
  readonly binId: string;
  /** Random text for keys and marker. */
  readonly token: string;
  /** ms UTC. */
  readonly now: () => number;
}

const DOLLAR: Cents = cents(100);

/**
 * Creates a $1.00 card twice with one key, funds and withdraws twice with one key, terminates what it made. Throws
 * the service's refusal when the very first request fails; what was made until then is terminated all the same.
 */
export async function probeKeys(probing: Probing): Promise<readonly Probed[]> {
  const made = new Set<string>();
  try {
    const created = await probeCreate(probing, made);
    const [card] = made;
    if (card === undefined) return [created];
    return [created, await probeMove(probing, 'cards.fund', card), await probeMove(probing, 'cards.withdraw', card)];
  } finally {
    await endAll(probing, made);
  }
}

/** Each under a key of its own: the one of the first card would be refused for the second. All are tried. */
async function endAll(probing: Probing, cards: Iterable<string>): Promise<void> {
  const left: unknown[] = [];
  for (const [nth, card] of [...cards].entries()) {
    // By number: with an id of the service a key would be longer than the 64 characters it may have.
    const each = { ...probing, token: `${probing.token}_${nth}` };
    const asked = { operation: 'cards.terminate', input: { card_id: card }, times: 1 } as const;
    await twice(each, asked).catch((thrown: unknown) => left.push(thrown));
  }
  if (left.length > 0) throw left[0];
}

async function probeCreate(probing: Probing, made: Set<string>): Promise<Probed> {
  const { reader, binId, token } = probing;
  const marker = `probe_${token}`;
  const input = { bin_id: binId, amount: DOLLAR, label: 'idempotency probe', metadata: { [MARKER_KEY]: marker } };
  const answers = await twice(probing, { operation: 'cards.create', input, times: 2 });
  for (const { result } of answers) {
    const id = (result as Values | undefined)?.['id'];
    if (typeof id === 'string') made.add(id);
  }
  for await (const { data } of reader.pages('cards.list', { bin_id: binId, per_page: 100 })) {
    for (const { id, metadata } of data) if (metadata?.[MARKER_KEY] === marker) made.add(id);
  }
  const text = `one key twice: ${made.size} card${made.size === 1 ? '' : 's'}`;
  return found(probing, 'cards.create', { effects: made.size, text });
}

async function probeMove(probing: Probing, operation: 'cards.fund' | 'cards.withdraw', card: string): Promise<Probed> {
  const before = await balancesOf(probing.reader, card);
  const input = { card_id: card, amount: operation === 'cards.fund' ? DOLLAR : cents(50) };
  await twice(probing, { operation, input, times: 2 });
  const after = await balancesOf(probing.reader, card);
  const effects = Math.abs(after.card - before.card) / input.amount;
  return found(probing, operation, {
    effects,
    text: `one key twice: the balance moved ${effects} time${effects === 1 ? '' : 's'}`,
  });
}

function found({ now }: Probing, operation: WriteName, { effects, text }: { effects: number; text: string }): Probed {
  const at = now();
  if (effects === 1) return { operation, text, capability: { key: 'honoured', ttl_ms: null, at } };
  return { operation, text, capability: effects === 2 ? { key: 'ignored', at } : { key: 'unknown' } };
}

interface Asked {
  readonly operation: WriteName;
  readonly input: Values;
  readonly times: number;
}

/** The same bytes under the same key. A first answer that is no yes ends the probe. */
async function twice({ service, token }: Probing, { operation, input, times }: Asked): Promise<readonly Delivery[]> {
  const planned = service.plan(operation, input as never, { key: `probe_${token}_${operation}` });
  const answers: Delivery[] = [];
  for (let time = 0; time < times; time += 1) {
    const delivery = await service.deliver(planned, input, { keyHonoured: false });
    if (time === 0 && delivery.class !== 'done') {
      throw delivery.error ?? new CliError('internal', { message: `${operation}: no error` });
    }
    answers.push(delivery);
  }
  return answers;
}
