/** A listening run and something that happens meanwhile. */
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { RunOptions, World } from './world.ts';

/** The address once the run is ready. */
async function ready(here: World, file = 'ready'): Promise<string> {
  let address = '';
  await expect
    .poll(
      async () => {
        address = await readFile(join(here.folder, file), 'utf8').catch(() => '');
        return address;
      },
      { interval: 5, timeout: 60_000 },
    )
    .not.toBe('');
  return address.trim();
}

export interface Listening {
  readonly line: string;
  readonly told?: RunOptions;
}

/** Starts listening, does something once it is ready, and gives what became of the run. */
export async function whileListening(
  here: World,
  { line, told }: Listening,
  work: (address: string) => Promise<unknown>,
) {
  const running = here.run(`${line} --ready-file ready`, told);
  await work(await ready(here));
  return running;
}

export const rowsOf = (out: string) =>
  out
    .trim()
    .split('\n')
    .filter(Boolean)
    .map(
      line => JSON.parse(line) as { id: string; type: string; data: Record<string, unknown>; out_of_order: boolean },
    );

export const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers });

export const SECRET = 'whsec_another_service_0123456789';
export const body = (id: string, at: string, type = 'card.created') =>
  JSON.stringify({ id, type, created_at: at, data: { id: 'card_7', status: 'active', balance: 5 } });
export const signed = (text: string, secret = SECRET) => ({
  'X-Webhook-Signature': createHmac('sha256', secret).update(text).digest('hex'),
});
/** No profile is chosen: only the secret is known. */
export const elsewhere = { env: { CARDWRIGHT_PROFILE: '', CARDWRIGHT_BASE_URL: '' } };

/**
 * Sends so many events in a fixed shuffle, every third once more, and expects each to be shown once, in the order it
 * came, and exactly those flagged that come after a younger one. The folder holds the secret.
 */
export async function shownOnceEach(here: World, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    id: `evt_${index}`,
    at: new Date(Date.UTC(2026, 10, 20) + index * 1_000).toISOString(),
  }));
  const order = events
    .map((event, index) => ({ event, key: index + ((index * 7_919) % 13) }))
    .sort((one, other) => one.key - other.key)
    .map(({ event }) => event);
  // The last one ends the run, so repeats come before it.
  const sent = order.flatMap((event, index) =>
    index % 3 === 1 ? [order[Math.max(0, index - 6)] ?? event, event] : [event],
  );
  let newest = '';
  const late = order.filter(({ at }) => {
    const isLate = at < newest;
    if (at > newest) newest = at;
    return isLate;
  });
  const line = `webhooks listen --secret-file secret --count ${count} --json`;
  const { out, code } = await whileListening(here, { line, told: elsewhere }, async address => {
    for (const { id, at } of sent) {
      const text = body(id, at);
      expect((await post(address, text, signed(text))).status).toBe(200);
    }
  });
  const { data, page } = JSON.parse(out) as { data: ReturnType<typeof rowsOf>; page: Record<string, number> };
  expect(code).toBe(0);
  expect(data.map(({ id }) => id)).toEqual(order.map(({ id }) => id));
  expect(data.filter(each => each.out_of_order).map(({ id }) => id)).toEqual(late.map(({ id }) => id));
  expect(late.length).toBeGreaterThan(count / 10);
  expect(page).toMatchObject({ events: count, duplicates: sent.length - count, out_of_order: late.length, refused: 0 });
}
