/**
 * The disk of the database gets full while a server of a shared sandbox serves funds. What is answered as done is there, each key is
 * carried out once, a refusal says what is wrong, and the same server goes on when there is room again.
 */
import { describe, expect, it, vi } from 'vitest';
import { home } from '../package/built.ts';
import { fillableServer, ON_IT } from '../postgres/full-disk.ts';
import { missing } from '../postgres/server.ts';
import { missingDisk } from '../postgres/small-disk.ts';
import { storeOf } from '../support/served-accounts.ts';
import { killed, startOn } from './account-servers.ts';

const [CLIENTS, BEFORE, REFUSED, MOST, AMOUNT] = [4, 5, 5, 400, 2];
const SAYS_WHY =
  /(?:The disk of the store is full|cannot use its database now); nothing of the request happened. Try again/;

const CUT = 'the connection was cut';
/** In the log, for whoever runs the server. */
const SAYS_CAUSE = /(?:has no room left|cannot be used): .+; \S+ are answered 503 until/;

describe.skipIf(missing() ?? missingDisk())('the disk of a shared sandbox is full', () => {
  it.each(ON_IT)('while it serves funds: its %s', { timeout: 900_000 }, async onIt => {
    await using server = await fillableServer(onIt);
    await using place = await home();
    const store = storeOf(server);
    const running = await startOn(place, store, ['--migrate']);
    let log = '';
    running.child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk;
    });
    try {
      const s = await served(running.url, async () => place.run(accountLine(store, 'bank')));
      await s.fundUntil(() => s.done.size >= CLIENTS * BEFORE);
      const filled = server.fill();
      await s.fundUntil(() => s.refused.size >= CLIENTS * REFUSED);
      await filled;
      // A commit whose end the server does not know itself is answered by nothing.
      const told = [...s.refused.values()].filter(text => text !== CUT);
      expect(told).not.toEqual([]);
      for (const text of told) expect(text).toMatch(SAYS_WHY);
      await vi.waitFor(() => expect(log).toMatch(SAYS_CAUSE), { timeout: 20_000 });
      const command = await place.run(['cards', 'fund', s.card, '--amount', '1', '--yes'], {
        env: { CARDWRIGHT_BASE_URL: running.url, CARDWRIGHT_API_KEY: s.key },
      });
      // A small change still fits where the last ones were written.
      const more = command.code === 0 ? 1 : 0;
      if (command.code !== 0) {
        expect(command.err).toMatch(SAYS_WHY);
        // That nothing answers, with its address; or an outcome that is not known, with its profile.
        expect(command.err).toMatch(new RegExp(`${new URL(running.url).host}|profile env`));
      }
      const account = await place.run(accountLine(store, 'another'));
      expect([account.code, account.err], account.err).toEqual([
        expect.toBeOneOf([12, 14]),
        expect.stringMatching(/the sandbox store .*"hint":"cardwright /),
      ]);
      const counts = `${s.done.size} funds done, ${s.refused.size} refused`;
      await server.mend();
      await vi.waitFor(async () => expect(await s.fund('first')).toBe(200), { timeout: 60_000, interval: 200 });
      for (const key of [...s.done, ...s.refused.keys()]) expect(await s.fund(key), key).toBe(200);
      const keys = new Set(['first', ...s.done, ...s.refused.keys()]);
      expect(await s.balance()).toBe(1 + more + AMOUNT * keys.size);
      expect(await s.ledgerIsRight()).toBe(true);
      expect((await place.run(accountLine(store, 'another'))).code).toBe(0);
      process.stdout.write(`${onIt}: ${counts}; ${keys.size} in the end\n`);
    } finally {
      await killed(running);
    }
  });
});

const accountLine = (store: string, name: string) => [
  'sandbox',
  'accounts',
  'create',
  name,
  '--store',
  store,
  '--json',
];

/** An account with a card, as clients of the server see it. */
async function served(url: string, create: () => Promise<{ code: number | null; out: string; err: string }>) {
  const made = await create();
  expect([made.code, made.err]).toEqual([0, '']);
  const { api_key: key, admin_token: token } = JSON.parse(made.out) as { api_key: string; admin_token: string };
  const [done, refused] = [new Set<string>(), new Map<string, string>()];
  const ask = async (path: string, post?: { readonly key: string; readonly body: object }) => {
    const isAdmin = path.startsWith('/_sandbox');
    const headers = {
      authorization: `Bearer ${isAdmin ? token : key}`,
      'content-type': 'application/json',
      ...(post && { 'x-idempotency-key': post.key }),
    };
    const answer = await fetch((isAdmin ? new URL(url).origin : url) + path, {
      headers,
      ...(post && { method: 'POST', body: JSON.stringify(post.body) }),
    });
    return { status: answer.status, json: (await answer.json()) as Record<string, never> };
  };
  const bins = (await ask('/bins')).json['data'] as unknown as { id: string }[];
  const card = String((await ask('/cards', { key: 'card', body: { bin_id: bins[0]?.id, amount: 1 } })).json['id']);
  let count = 0;
  const fund = async (name: string): Promise<number> => {
    const { status, json } = await ask(`/cards/${card}/fund`, { key: name, body: { amount: AMOUNT } }).catch(() => ({
      status: 0,
      json: { message: CUT } as Record<string, unknown>,
    }));
    if (status === 200) done.add(name);
    else if (!done.has(name)) refused.set(name, String(json['message']));
    return status;
  };
  return {
    key,
    card,
    done,
    /** Keys that were never answered with success until now, with the words of the last answer. */
    refused,
    fund,
    async fundUntil(isEnough: () => boolean) {
      const most = count + MOST;
      const client = async () => {
        while (!isEnough() && count < most) {
          count += 1;
          await fund(`fund ${count}`);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      expect(isEnough(), `${done.size} done, ${refused.size} refused`).toBe(true);
    },
    balance: async () => (await ask(`/cards/${card}`)).json['balance'] as unknown as number,
    ledgerIsRight: async () => (await ask('/_sandbox/v1/status')).json['ledger_ok'] as unknown as boolean,
  };
}
