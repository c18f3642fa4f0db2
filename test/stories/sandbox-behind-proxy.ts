/** Servers of a team behind a TLS proxy: what it passes on, what the servers refuse, and what a cut leaves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { selfSigned } from '../support/certificate.ts';
import { freePort } from '../support/free-port.ts';
import { requires } from '../support/programs.ts';
import { accountServer, storeOf } from '../support/served-accounts.ts';
import { type TlsProxy, tlsProxy } from '../support/tls-proxy.ts';
import { type World, world } from '../support/world.ts';

const NGINX = join(import.meta.dirname, '..', '..', 'examples', 'sandbox-server', 'nginx.conf');

/** `isWhole` adds nginx. */
export function behindProxy({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing() !== undefined)('behind a proxy', () => {
    let here: Database;
    let place: World;
    let store: string;
    let proxy: TlsProxy;
    beforeAll(async () => {
      here = await database();
      store = storeOf(here);
      place = await world();
      proxy = await tlsProxy();
      await writeFile(join(place.folder, 'proxy.crt'), proxy.certificate);
      expect((await (await accountServer(place, store, '--migrate')).stop()).code).toBe(0);
    });
    afterAll(async () => {
      await proxy[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
      await here.close();
    });

    const started = async (host: string) => {
      const port = await freePort();
      const server = await accountServer(
        place,
        store,
        `--admin --no-rate-limits --bind 127.0.0.1 --behind-proxy ${host} --port ${port}`,
      );
      return { port, server };
    };
    const accountAt = async (host: string, name: string, certificate = 'proxy.crt') => {
      const line = `sandbox accounts create ${name} --store ${store} --ids counted --seed 7 --keys-in ${name}`;
      expect((await place.run(line)).code).toBe(0);
      const env = {
        CARDWRIGHT_PROFILE: '',
        CARDWRIGHT_BASE_URL: `https://${host}/v1`,
        CARDWRIGHT_API_KEY_FILE: join(place.folder, name, 'api-key'),
        CARDWRIGHT_SANDBOX_URL: `https://${host}`,
        CARDWRIGHT_SANDBOX_TOKEN_FILE: join(place.folder, name, 'admin-token'),
        SSL_CERT_FILE: join(place.folder, certificate),
      };
      return async (command: string, code = 0) => {
        const ran = await place.run(command, { env });
        expect(`${command}: ${ran.code}${ran.code === code ? '' : ran.err}`).toBe(`${command}: ${code}`);
        return ran;
      };
    };
    const asked = (host: string, ca: string, options: RequestOptions) =>
      new Promise<number>((resolve, reject) => {
        const [hostname, port] = host.split(':');
        const sent = request(
          { hostname, servername: hostname, port, ca, agent: false, path: '/v1/wallet', ...options },
          answer => {
            answer.resume();
            resolve(answer.statusCode ?? 0);
          },
        );
        sent.on('error', reject).end();
      });
    const refusals = async (host: string, ca: string) => ({
      otherHost: await asked(host, ca, { headers: { host: 'evil.example' } }),
      webPage: await asked(host, ca, { headers: { origin: 'https://evil.example' } }),
      noKey: await asked(host, ca, {}),
    });
    const REFUSED = { otherHost: 421, webPage: 403, noKey: 401 };

    it('trusts the authority that is named alone, and refuses hosts and web pages', { timeout: 120_000 }, async () => {
      const { port, server } = await started(proxy.host);
      await using _ = server;
      proxy.servers = [port];
      expect(server.row.url).toBe(`https://${proxy.host}/v1`);
      const ana = await accountAt(proxy.host, 'ana');
      await ana('sandbox status');
      await ana('sandbox export ana.ndjson');
      await ana('sandbox import ana.ndjson --yes');
      expect(proxy.passed.length).toBeGreaterThan(2);
      const strange = await place.run('wallet', {
        env: {
          CARDWRIGHT_PROFILE: '',
          CARDWRIGHT_BASE_URL: `https://${proxy.host}/v1`,
          CARDWRIGHT_API_KEY_FILE: join(place.folder, 'ana', 'api-key'),
        },
      });
      expect([strange.code, strange.err]).toEqual([12, expect.stringContaining('certificate')]);
      expect(await refusals(proxy.host, proxy.certificate)).toEqual(REFUSED);
    });

    it('makes one card when the proxy is killed while one is made', { timeout: 120_000 }, async () => {
      const { port, server } = await started(proxy.host);
      await using _ = server;
      proxy.servers = [port];
      const ben = await accountAt(proxy.host, 'ben');
      const rule = { match: { operation: 'cards.create' }, action: { kind: 'latency', fixed: 3_000 }, times: 1 };
      await writeFile(join(place.folder, 'slow.json'), JSON.stringify(rule));
      await ben('sandbox faults add slow.json');
      const count = async () => JSON.parse((await ben('sandbox status --json')).out).cards as number;
      const before = await count();
      const { length } = proxy.passed;
      const making = ben('cards create --bin bin_1 --amount 5 -q', 11);
      const isAsked = () => proxy.passed.slice(length).some(headers => headers['content-type'] !== undefined);
      await vi.waitFor(() => expect(isAsked()).toBe(true), { timeout: 40_000, interval: 20 });
      proxy.cut();
      const [op = ''] = /op_\w+/.exec((await making).err) ?? [];
      await ben(`ops resume ${op}`);
      expect(await count()).toBe(before + 1);
    });

    it.skipIf(!isWhole || requires('nginx'))(
      'goes through nginx as its example says, also when one server is gone',
      { timeout: 120_000 },
      async () => {
        const front = await freePort();
        const host = `localhost:${front}`;
        const { key, cert } = selfSigned('nginx of the tests', ['localhost']);
        const [one, two] = [await started(host), await started(host)];
        await using _ = two.server;
        await using __ = await nginx({ front, key, cert, ports: [one.port, two.port] });
        const cy = await accountAt(host, 'cy', 'nginx.crt');
        for (const amount of [5, 6, 7, 8]) await cy(`cards create --bin bin_1 --amount ${amount} -q`);
        await cy('sandbox export large.ndjson');
        await cy('sandbox import large.ndjson --yes');
        // Larger than nginx takes by itself: the server has it whole, and refuses it.
        const text = await readFile(join(place.folder, 'large.ndjson'), 'utf8');
        await writeFile(join(place.folder, 'damaged.ndjson'), text + '{}\n'.repeat(500_000));
        await cy('sandbox import damaged.ndjson --yes', 15);
        expect(await refusals(host, cert)).toEqual(REFUSED);
        await one.server.stop();
        for (const amount of [5, 6, 7, 8]) await cy(`cards create --bin bin_1 --amount ${amount} -q`);
        await cy('sandbox check');
      },
    );

    async function nginx({
      front,
      key,
      cert,
      ports,
    }: {
      front: number;
      key: string;
      cert: string;
      ports: readonly number[];
    }) {
      const folder = join(place.folder, 'nginx');
      await mkdir(folder);
      // The workers of a root are another user.
      await chmod(place.folder, 0o755);
      await writeFile(join(place.folder, 'nginx.crt'), cert);
      await writeFile(join(folder, 'key.pem'), key);
      const site = (await readFile(NGINX, 'utf8'))
        .replace('listen 443 ssl', `listen 127.0.0.1:${front} ssl`)
        .replace('server_name sandbox.example.com', 'server_name localhost')
        .replace('127.0.0.1:4010 ', `127.0.0.1:${ports[0]} `)
        .replace('127.0.0.1:4011 ', `127.0.0.1:${ports[1]} `)
        .replace(/ssl_certificate \S+;/, `ssl_certificate ${join(place.folder, 'nginx.crt')};`)
        .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${join(folder, 'key.pem')};`);
      const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const paths = kinds.map(kind => `${kind}_temp_path ${join(folder, kind)};`).join('\n');
      const main = `daemon off;\nmaster_process off;\npid ${join(folder, 'pid')};\nerror_log stderr warn;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${site}\n}\n`;
      await writeFile(join(folder, 'nginx.conf'), main);
      const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk;
      });
      await vi.waitFor(
        async () => {
          expect(`${said}${child.exitCode}`).toBe('null');
          expect(await asked(`localhost:${front}`, cert, {})).toBe(401);
        },
        { timeout: 10_000, interval: 50 },
      );
      return {
        [Symbol.asyncDispose]: async () => {
          const ended = once(child, 'exit');
          child.kill('SIGTERM');
          await ended;
        },
      };
    }
  });
}
