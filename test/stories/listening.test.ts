/** Deliveries of the sandbox, received, checked, shown and passed on; and what is left when a run dies. */
import { createHmac } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serve } from '../client/served.ts';
import { body, elsewhere, post, rowsOf, SECRET, shownOnceEach, signed, whileListening } from '../support/listening.ts';
import { receiver } from '../support/receiver.ts';
import { isWhole } from '../support/whole.ts';
import { errorOf, type World, world } from '../support/world.ts';

describe('webhooks listen in the sandbox', () => {
  it('subscribes by itself, shows verified events, and takes the subscription away', async () => {
    await using here = await world();
    const { code, out, err } = await whileListening(here, { line: 'webhooks listen --count 2 -o ndjson' }, async () => {
      const list = JSON.parse((await here.run('webhooks list --json')).out);
      expect(list.data).toHaveLength(1);
      await here.run('cards create --bin bin_1 --amount 25');
      await here.run('cards freeze card_1');
    });
    expect(code).toBe(0);
    expect(rowsOf(out).map(({ type, data }) => [type, data['id'], data['status']])).toEqual([
      ['card.created', 'card_1', 'active'],
      ['card.frozen', 'card_1', 'frozen'],
    ]);
    expect(err).toMatch(/^Listening on http:\/\/127\.0\.0\.1:\d+\/[a-p_]+, subscribed\.\n/);
    expect(JSON.parse((await here.run('webhooks list --json')).out).data).toEqual([]);
    await expect(readFile(join(here.folder, 'ready'))).rejects.toThrow('ENOENT');
  });

  it('ends with 12 when somebody ends its subscription', async () => {
    await using here = await world();
    const line = 'webhooks listen';
    const told = {
      // The look at the subscription is 15 s away; it comes at once here.
      onPause: () => undefined,
      longestPause: 20_000,
    };
    const { code, err } = await whileListening(here, { line, told }, async () => {
      const { data } = JSON.parse((await here.run('webhooks list --json')).out);
      await here.run(`webhooks delete ${data[0].id} --yes`);
    });
    expect(code).toBe(12);
    expect(err).toContain('is gone; no further event arrives');
  });

  it('flags what comes late and shows each event once', async () => {
    await using here = await world();
    await here.run('cards create --bin bin_1 --amount 25');
    await writeFile(join(here.folder, 'duplicates.json'), '{"match":{"webhook":true},"action":{"kind":"duplicate"}}');
    const { out, code } = await whileListening(
      here,
      { line: 'webhooks listen --until card.terminated -o ndjson' },
      async () => {
        await here.run('cards freeze card_1');
        await here.run('sandbox clock advance --by 1m');
        await here.run('cards unfreeze card_1');
        await here.run('cards terminate card_1 --yes');
      },
    );
    expect(code).toBe(0);
    expect(rowsOf(out).map(({ type }) => type)).toEqual(['card.frozen', 'card.unfrozen', 'card.terminated']);
  });
});

describe('webhooks listen for another service', () => {
  async function withSecret(): Promise<World> {
    const here = await world();
    await writeFile(join(here.folder, 'secret'), SECRET);
    return here;
  }

  it('answers a wrong signature 401, counts it, and never passes it on', async () => {
    await using here = await withSecret();
    await using upstream = await receiver();
    const text = body('evt_1', '2026-11-20T14:00:00Z');
    const line = `webhooks listen --secret-file secret --count 1 -o ndjson --forward-to card.*=${upstream.url} --forward-to 3ds.*=http://127.0.0.1:9/none`;
    const { out, err, code } = await whileListening(here, { line, told: elsewhere }, async address => {
      expect((await post(address, text)).status).toBe(401);
      expect((await post(address, text, signed(text, 'wrong'))).status).toBe(401);
      expect((await post(address, `${text}\n`, signed(text))).status).toBe(401);
      expect((await fetch(address)).status).toBe(405);
      expect((await post(address, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
      expect((await post(address, text, signed(text))).status).toBe(200);
    });
    expect(code).toBe(0);
    expect(rowsOf(out)).toHaveLength(1);
    expect(upstream.received.map(({ bytes }) => bytes.toString())).toEqual([text]);
    expect(err).toContain('refused a delivery with 401: it carries no signature');
    expect(err).toContain('The payload has a line end too many');
    expect(out + err).not.toContain(SECRET);
  });

  it('tells the sender what the targets say, and each of them once', async () => {
    await using here = await withSecret();
    const statuses = [503, 200];
    await using upstream = await serve(({ url }, response) =>
      response.writeHead(url === '/slow' ? (statuses.shift() ?? 500) : 204).end(),
    );
    const first = body('evt_1', '2026-11-20T14:00:00Z');
    const last = JSON.stringify({ id: 'evt_2', type: '3ds.challenge', data: {} });
    const to = (path: string) => `--forward-to card.*=${new URL(path, upstream.baseUrl).href}`;
    const line = `webhooks listen --secret-file secret --until 3ds.* -o ndjson ${to('/slow')} ${to('/well')}`;
    const { out, err, code } = await whileListening(here, { line, told: elsewhere }, async address => {
      expect((await post(address, first, signed(first))).status).toBe(502);
      expect((await post(address, first, signed(first))).status).toBe(200);
      expect((await post(address, first, signed(first))).status).toBe(200);
      expect((await post(address, last, signed(last))).status).toBe(200);
    });
    expect(code).toBe(0);
    expect(rowsOf(out)).toHaveLength(2);
    expect(upstream.seen.map(({ url }) => url).sort()).toEqual(['/slow', '/slow', '/well']);
    expect(err).toContain('not passed on: evt_1');
  });

  it('takes either secret while one is replaced, other header names, and hides codes in logs', async () => {
    await using here = await withSecret();
    await writeFile(join(here.folder, 'new'), 'whsec_the_new_one');
    const first = body('evt_1', '2026-11-20T14:00:00Z');
    const second = JSON.stringify({ id: 'evt_2', type: '3ds.challenge', data: { id: 'tds_1', otp: '481920' } });
    const line = 'webhooks listen --secret-file secret --secret-file new --count 2 -o ndjson';
    const told = { env: { ...elsewhere.env, GITHUB_ACTIONS: 'true' } };
    const { all } = await whileListening(here, { line, told }, async address => {
      const old = createHmac('sha256', SECRET).update(first).digest('hex');
      expect((await post(address, first, { 'X-Hub-Signature-256': `sha256=${old}` })).status).toBe(200);
      expect((await post(address, second, signed(second, 'whsec_the_new_one'))).status).toBe(200);
    });
    expect(all.indexOf('::add-mask::481920')).toBeGreaterThan(0);
    expect(all.indexOf('::add-mask::481920')).toBeLessThan(all.indexOf('"otp":"481920"'));
  });

  it('shows deliveries with repeats and out of order once each, and flags the late ones', async () => {
    await using here = await withSecret();
    await shownOnceEach(here, isWhole ? 1_000 : 120);
  });
});

describe('webhooks expect', () => {
  it('ends with 0 when they come, and with 15 and what came when they do not', async () => {
    await using here = await world();
    const make = () => here.run('cards create --bin bin_1 --amount 25');
    const line = "webhooks expect card.created --where 'balance>=25' --where status=active --json";
    const met = await whileListening(here, { line }, make);
    expect(met.code).toBe(0);
    expect(JSON.parse(met.out).data).toHaveLength(1);
    const unmet = await whileListening(
      here,
      { line: 'webhooks expect card.created --count 2 --wait-timeout 2s --json' },
      make,
    );
    expect(unmet.code).toBe(15);
    expect(errorOf(unmet)).toMatchObject({
      kind: 'check_failed',
      evidence: { matched: [expect.stringMatching(/^evt_/)] },
    });
    expect(JSON.parse((await here.run('webhooks list --json')).out).data).toEqual([]);
  });

  it('runs a program once it listens, and ends with its exit code when it fails', async () => {
    await using here = await world();
    const ended = await here.run(
      "webhooks expect card.created --wait-timeout 1s -- sh -c 'test -n $CARDWRIGHT_LISTENER_URL && exit 7'",
    );
    expect(ended.code).toBe(7);
    expect(ended.err).toContain('the program "sh" ended with 7, which is the exit code here; 0 of 1 card.created came');
    const unmet = await here.run('webhooks expect card.created --wait-timeout 1s -- true');
    expect(unmet.code).toBe(15);
  });
});
