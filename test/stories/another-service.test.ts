import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { qrLines } from '../../src/terminal/qr.ts';
import { OTHER_CONTRACT, OTHER_KEY, type OtherService, otherService } from '../support/other-service.ts';
import { type World, world } from '../support/world.ts';

/** A service with other routes, names and envelopes, reached with a key and a base address of the environment. */
describe('a service that is not ours', () => {
  let service: OtherService;
  let here: World;

  beforeAll(async () => {
    service = await otherService();
    here = await world({
      env: {
        CARDWRIGHT_PROFILE: '',
        CARDWRIGHT_BASE_URL: service.baseUrl,
        CARDWRIGHT_API_KEY: OTHER_KEY,
        CARDWRIGHT_CONTRACT: 'other.json',
      },
    });
    await writeFile(join(here.folder, 'other.json'), JSON.stringify(OTHER_CONTRACT));
  });
  afterAll(async () => {
    await here[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  async function json(line: string): Promise<Record<string, unknown>> {
    const { code, out, err } = await here.run(`${line} --json`);
    expect({ line, code, err }).toEqual({ line, code: 0, err: '' });
    return JSON.parse(out) as Record<string, unknown>;
  }

  test('draws the address it returns as a QR code, on a screen wide enough', async () => {
    const { code, out } = await here.run('wallet addresses --qr', { terminal: 80 });
    const [first = '', ...drawn] = out.trimEnd().split('\n');
    expect({ code, first }).toEqual({ code: 0, first: 'btc on bitcoin: bc1-somewhere' });
    expect(drawn).toEqual(qrLines('bc1-somewhere', { columns: 80, unicode: true }));
    expect((await here.run('wallet addresses --qr', { terminal: 20 })).out).toContain('too narrow');
  });

  // In order: each line goes on where the one before it ended.
  test.each<[line: string, expected: Record<string, unknown>]>([
    ['whoami', { profile: 'env', mode: 'test', key: 'sk_test_…5d1c' }],
    ['bins list', { data: [{ id: 'B-1' }] }],
    ['bins get B-1', { id: 'B-1', max_monthly: 9000 }],
    ['cards create --bin auto --amount 25 --label ads', { id: 'C-1', status: 'active', balance: 25 }],
    ['cards create --bin B-1 --amount 5', { id: 'C-2' }],
    ['cards list', { data: [{ id: 'C-1', favourite_colour: 'green' }, { id: 'C-2' }] }],
    ['cards list --label ads', { data: [{ id: 'C-1' }] }],
    ['cards get C-1', { id: 'C-1', status: 'active' }],
    ['cards fund C-1 --amount 10.50', { amount: 10.5, card_balance: 35.5, wallet_balance: 959.5 }],
    ['cards withdraw C-1 --amount 0.50', { amount: 0.5, card_balance: 35, wallet_balance: 960 }],
    ['cards freeze C-1', { status: 'frozen', changed: true }],
    ['cards unfreeze C-1', { status: 'active', changed: true }],
    ['cards details C-1 --reveal --print', { number: '4242424242424242', cvv: '123', exp_month: 11, exp_year: 2029 }],
    ['cards terminate C-1 --yes', { id: 'C-1', status: 'terminated', balance: 0, changed: true }],
    ['tx list --card C-1', { data: [{ id: 'T-1', merchant: 'Café', amount: 4.5 }] }],
    ['wallet', { balance: 995 }],
    ['wallet addresses', { data: [{ currency: 'btc', network: 'bitcoin' }] }],
    ['3ds list', { data: [{ id: 'O-1', otp: '001122' }] }],
    ['webhooks create --url https://example.com/hook --event card.created', { id: 'H-1', secret: 'whsec_other' }],
    ['webhooks list', { data: [{ id: 'H-1' }] }],
    ['webhooks get H-1', { id: 'H-1', events: ['card.created'] }],
    ['webhooks update H-1 --status disabled', { id: 'H-1', status: 'disabled' }],
    ['webhooks delete H-1 --yes', { id: 'H-1', deleted: true }],
  ])('%s', async (line, expected) => {
    expect(await json(line)).toMatchObject(expected);
  });

  test('its refusals are told in its own words', async () => {
    const { code, out, err } = await here.run('cards get C-9 --json');
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(JSON.parse(err)).toMatchObject({
      error: { kind: 'not_found', service: { error: 'unknown_card', message: 'no: unknown_card', request_id: 'r-1' } },
    });
    expect((await here.run('cards fund C-2 --amount 4000')).code).toBe(10);
  });

  test('a wrong key is exit 4', async () => {
    const { code, err } = await here.run('wallet', { env: { CARDWRIGHT_API_KEY: 'sk_test_wrong_key_0000' } });
    expect(code).toBe(4);
    expect(err).toContain('who_are_you (401)');
    expect(err).not.toContain('wrong_key');
  });

  test('nothing is sent in a dry run, and the routes it shows are the overridden ones', async () => {
    const before = service.seen.length;
    expect(await json('cards terminate C-2 --dry-run')).toMatchObject({ method: 'DELETE', path: '/issued/C-2' });
    expect(await json('cards freeze C-2 --dry-run')).toMatchObject({ method: 'PATCH', body: { state: 'frozen' } });
    expect(service.seen.length).toBe(before);
  });

  test('only the routes it has were ever asked', () => {
    const paths = [...new Set(service.seen.map(({ method, path }) => `${method} ${path.split('?')[0]}`))];
    expect(paths).not.toContainEqual(expect.stringContaining('/terminate'));
    expect(paths).toContain('DELETE /api/v1/issued/C-1');
    expect(paths).toContain('GET /api/v1/history');
  });
});
