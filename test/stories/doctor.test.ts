import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { json, serve, WALLET } from '../client/served.ts';
import { type RunOptions, type World, world } from '../support/world.ts';

interface Found {
  readonly check: string;
  readonly status: string;
  readonly says: string;
  readonly hint?: string;
}

const KEY = 'sk_test_CANARY9c1e77aa03d2';

async function examined(here: World, line = '', how: RunOptions = {}) {
  const ran = await here.run(`doctor --json ${line}`, how);
  const { data } = JSON.parse(ran.out) as { data: Found[] };
  return { ...ran, of: (check: string) => data.find(found => found.check === check), all: data };
}

const CHECKS = [
  'profile',
  'key',
  'proxy',
  'authorities',
  'network',
  'clock',
  'tls',
  'files',
  'space',
  'journal',
  'operations',
  'idempotency',
  'limits',
  'contract',
  'store',
  'audit',
  'node',
  'code cache',
  'runtime',
];

describe('doctor', () => {
  test('finds a fresh sandbox well, offline', async () => {
    await using here = await world();
    const { code, all, err } = await examined(here, '--sandbox');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(all.map(({ check }) => check)).toEqual(CHECKS);
    expect(all.filter(({ status }) => status === 'fail' || status === 'warn')).toEqual([]);
  });

  test('tells key, source, network and clock of a service, without the key', async () => {
    await using service = await serve((_, response) => json(response, 200, WALLET));
    await using here = await world();
    const { of, out } = await examined(here, '', { env: { ...service.env, CARDWRIGHT_API_KEY: KEY } });
    expect(out).not.toContain(KEY);
    expect(of('key')?.says).toContain('sk_test_…03d2; environment: CARDWRIGHT_API_KEY');
    expect(of('network')?.says).toMatch(/^answered 200 in \d+ ms$/);
    // The world's clock stands still in 2026; the server's does not.
    expect(of('clock')?.says).toContain('apart from the service');
    expect(service.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  test('a clock that is far off is told; an unreachable service and a refused key fail', async () => {
    const service = await serve((_, response) => {
      response.setHeader('date', 'Fri, 20 Nov 2026 15:03:11 GMT');
      json(response, 401, { error: 'unauthorized' });
    });
    await using here = await world();
    const { env } = service;
    const refused = await examined(here, '', { env });
    expect(refused.code).toBe(15);
    expect(refused.of('network')?.status).toBe('fail');
    expect(refused.of('clock')).toMatchObject({
      status: 'warn',
      says: '3600 s apart from the service; a sandbox may have a clock of its own',
    });
    await service.close();
    const gone = await examined(here, '--timeout 2s', { env });
    expect(gone.of('network')).toMatchObject({ status: 'fail' });
    expect(gone.of('network')?.says).toContain('connection refused');
  });

  test('names debuggers, preloaded code, proxies without their password, and authorities', async () => {
    await using here = await world();
    const env = {
      CARDWRIGHT_PROFILE: '',
      CARDWRIGHT_API_KEY: KEY,
      CARDWRIGHT_BASE_URL: 'https://service.invalid/v1',
      HTTPS_PROXY: 'http://user:CANARYPASS@127.0.0.1:9',
      NODE_EXTRA_CA_CERTS: '/etc/corp.pem',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NODE_OPTIONS: '--inspect --require=./x.cjs',
    };
    const { of, out, err } = await examined(here, '--timeout 2s', { env });
    expect(`${out}${err}`).not.toContain('CANARYPASS');
    expect(of('proxy')).toMatchObject({ status: 'ok', says: '127.0.0.1:9' });
    expect(of('authorities')?.status).toBe('fail');
    expect(of('runtime')?.says).toMatch(/--inspect.*--require/);
    const trusting = await examined(here, '--timeout 2s', { env: { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '' } });
    expect(trusting.of('authorities')?.says).toContain('/etc/corp.pem');
  });

  test('sees folders that are open to others and a contract that cannot be read', async () => {
    await using here = await world();
    await here.run('cards create --bin bin_1 --amount 5');
    await chmod(join(here.folder, 'state'), 0o750);
    const { of } = await examined(here, '--contract nothing.json');
    expect(of('files')).toMatchObject({ status: 'warn', says: expect.stringContaining('was open to other users') });
    expect(of('contract')?.status).toBe('fail');
  });
});
