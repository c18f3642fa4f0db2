/**
 * docs/guide/sandbox-server.md and its examples, run as they are read by a plain shell with the built program: the blocks
 * from top to bottom, the job of a runner, the unit of systemd, the commands of the containers. Addresses, ports and the
 * names of role and database are those of this run.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { missing } from '../postgres/server.ts';
import { connect, type Database, database, statementsOf } from '../postgres/shared.ts';
import { freePort } from '../support/free-port.ts';
import { requires } from '../support/programs.ts';
import { type TlsProxy, tlsProxy } from '../support/tls-proxy.ts';
import { CODE_CACHE, ROOT } from './built.ts';

const execute = promisify(execFile);
const EXAMPLES = join(ROOT, 'examples', 'sandbox-server');
const example = (name: string) => readFile(join(EXAMPLES, name), 'utf8');
type Variables = Readonly<Record<string, string>>;

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly if?: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
}

/** The guide from top to bottom, and what stands around it; `isWhole` adds jobs that end in other ways, containers, and a server that is killed. */
export function serverForTeam({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing() !== undefined)('a server for a team', () => {
    let here: Database;
    let folder: string;
    let proxy: TlsProxy;
    let store: string;
    const running: ChildProcess[] = [];

    beforeAll(async () => {
      here = await database();
      proxy = await tlsProxy();
      folder = await mkdtemp(join(tmpdir(), 'cardwright-team-'));
      await mkdir(join(folder, 'bin'));
      await mkdir(join(folder, 'runner'));
      await script('cardwright', `exec ${process.execPath} ${join(ROOT, 'bin', 'cardwright.js')} "$@"`);
      await writeFile(join(folder, 'proxy.crt'), proxy.certificate);
      const { socket, port } = here.server;
      store = `postgres://${here.name}_role@${encodeURIComponent(socket)}:${port}/${here.name}_sandbox`;
    });
    afterAll(async () => {
      await stopEach();
      const admin = await connect(here.server, 'postgres', 'postgres');
      await admin.call(`drop database if exists ${here.name}_sandbox`, []);
      await admin.call(`drop role if exists ${here.name}_role`, []);
      await admin.end();
      await proxy[Symbol.asyncDispose]();
      await here.close();
      await rm(folder, { recursive: true, force: true });
    });

    it('is started, used and left as the guide says', { timeout: 120_000 }, async () => {
      const page = await readFile(join(ROOT, 'docs', 'guide', 'sandbox-server.md'), 'utf8');
      const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
        language,
        text: ofThisRun(text),
      }));
      expect(blocks.length).toBeGreaterThan(7);
      let env: Variables = {};
      for (const { language, text } of blocks) {
        if (language === 'sql') await asAdmin(text);
        else env = await played(text, env);
      }
      const gone = await shell('cardwright cards list', { ...env, CARDWRIGHT_CONFIG_DIR: join(folder, 'nobody') });
      expect([gone.code, gone.err]).toEqual([4, expect.stringContaining('does not accept the API key')]);
      expect(proxy.passed.every(({ host }) => host === proxy.host)).toBe(true);
      // The page leaves it to its end.
      const left = await shell('cardwright sandbox accounts remove job-17 --store "$STORE" --yes', { STORE: store });
      expect([left.code, left.err]).toEqual([0, '']);
    });

    describe('for a job', { timeout: 120_000 }, () => {
      const WHOLE = ['An account', 'npm test', 'The books add up', 'Give the account back'];
      const SPENDS = 'cardwright cards create --bin auto --amount 5 -q';

      it.runIf(isWhole).each([
        ['ends well', SPENDS, 0],
        ['fails', 'exit 3', 3],
      ] as const)('gives an account and takes it back when the job %s', async (_name, tests, code) => {
        await script('npm', tests);
        const ran = code === 0 ? WHOLE : WHOLE.filter(step => step !== 'The books add up');
        expect(await jobOf()).toEqual({ code, ran });
        expect(await accountsLeft()).toEqual([]);
      });

      it.runIf(isWhole)('gives each of two jobs of a run one of its own', async () => {
        // Each one has its account, and waits until the other one has too; one of them has ended before the other one pays.
        await script('npm', `touch "$JOB.has"; until [ -e "$OTHER" ]; do sleep 0.1; done; ${SPENDS}`);
        const first = jobOf({ JOB: 'first', OTHER: 'second.has' });
        const second = jobOf({ JOB: 'second', OTHER: 'first.ended' });
        expect(await first).toEqual({ code: 0, ran: WHOLE });
        await writeFile(join(folder, 'first.ended'), '');
        expect(await second).toEqual({ code: 0, ran: WHOLE });
        expect(await accountsLeft()).toEqual([]);
      });

      it.runIf(isWhole)(
        'leaves the account of a runner that was killed to its end, and gives the job another one when it runs again',
        async () => {
          await script('npm', SPENDS);
          expect(await jobOf({}, 'An account')).toEqual({ code: 0, ran: ['An account'] });
          const left = await accountsLeft();
          expect(left).toHaveLength(1);
          expect(await jobOf()).toEqual({ code: 0, ran: WHOLE });
          expect(await accountsLeft()).toEqual(left);
          await withStore(`cardwright sandbox accounts remove ${left[0]} --store "$STORE" --yes`);
        },
      );

      if (isWhole)
        it('removes nothing when it got no account', async () => {
          await withStore(`cardwright sandbox accounts create ana --store "$STORE" --data empty -q`);
          const refused = await jobOf({ RUNNER_TEMP: join(folder, 'bin', 'cardwright') });
          expect(refused).toEqual({ code: expect.any(Number), ran: ['An account'] });
          expect(refused.code).not.toBe(0);
          expect(await accountsLeft()).toEqual(['ana']);
          await withStore('cardwright sandbox accounts remove ana --store "$STORE" --yes');
        });

      async function withStore(text: string): Promise<string> {
        const { code, out, err } = await shell(text, { STORE: store });
        expect([code, err]).toEqual([0, '']);
        return out;
      }

      const accountsLeft = async () =>
        (await withStore('cardwright sandbox accounts list --store "$STORE" -o id')).split('\n').filter(Boolean);
    });

    it('is kept running by systemd, however long its database is away', { timeout: 60_000 }, async context => {
      const unit = (await example('cardwright-sandbox@.service')).replace(
        '/usr/bin/cardwright',
        join(folder, 'bin', 'cardwright'),
      );
      const [ofUnit, ofService] = ['Unit', 'Service'].map(
        name => new RegExp(`^\\[${name}\\]$[^[]*`, 'm').exec(unit)?.[0],
      );
      expect(ofUnit).toMatch(/^StartLimitIntervalSec=0$/m);
      expect(ofService).toMatch(/^Restart=on-failure$\n^RestartSec=2$/m);
      const [, proxy = 'none'] = /^Environment="PROXY=(.*)"$/m.exec(unit) ?? [];
      // Two servers of one proxy: both examples name it in the same words.
      expect(await example('nginx.conf')).toContain(`--admin ${proxy} --port 4010`);
      const line = (/^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '')
        .replaceAll('%%', '%')
        .replace('%i', '4010')
        .replace('$PROXY', proxy);
      const away = await shell(`exec ${ofThisRun(line).replace(store, `${store}_away`)}`, {});
      expect([away.code, away.err]).toEqual([14, expect.stringContaining('_away')]);
      const { child } = await start(ofThisRun(line), {});
      expect(await stopped(child)).toBe(0);
      const why = requires('systemd-analyze');
      if (why !== undefined) return context.skip(why);
      const file = join(folder, 'cardwright-sandbox@.service');
      await writeFile(file, unit);
      const { stderr } = await execute('systemd-analyze', ['verify', '--man=no', file]);
      expect(stderr).toBe('');
    });

    it.runIf(isWhole)(
      'removes an account whose removal a killed server had begun, and nothing of it before',
      {
        timeout: 60_000,
      },
      async () => {
        const line = `cardwright sandbox start --store "${store}" --port 0`;
        const { child: first } = await start(`${line} --migrate`, {});
        const create = `cardwright sandbox accounts create left --store "${store}" --expires 1h -o id`;
        const made = await shell(create, {});
        expect([made.code, made.err]).toEqual([0, '']);
        const [holder, watching] = await Promise.all(
          [1, 2].map(() => connect(here.server, 'postgres', `${here.name}_sandbox`)),
        );
        if (holder === undefined || watching === undefined) throw new Error('no connection');
        const counted = async (sql: string) => Number((await watching.call(sql, []))[0]?.[0]);
        const [row] = await watching.call(`select account_id from cardwright_sandbox.accounts where name = 'left'`, []);
        const held = (table: string) =>
          counted(`select count(*) from cardwright_sandbox.${table} where account_id = '${row?.[0]}'`);
        const before = await held('entries');
        expect(before).toBeGreaterThan(0);
        // The removal comes as far as this table, and waits there for half a second at most, again and again.
        await holder.call('begin', []);
        await holder.call('lock table cardwright_sandbox.entries in share mode', []);
        await watching.call(
          `update cardwright_sandbox.accounts set expires_at = created_at + 1 where name = 'left'`,
          [],
        );
        const waits = `select count(*) from pg_locks where not granted and relation = 'cardwright_sandbox.entries'::regclass`;
        await vi.waitFor(async () => expect(await counted(waits)).toBe(1), { timeout: 20_000, interval: 20 });
        const killed = once(first, 'exit');
        process.kill(first.pid ?? 0, 'SIGKILL');
        await killed;
        await holder.call('rollback', []);
        expect([await held('accounts'), await held('entries')]).toEqual([1, before]);
        const { child: second } = await start(line, {});
        await vi.waitFor(async () => expect([await held('accounts'), await held('entries')]).toEqual([0, 0]), {
          timeout: 20_000,
        });
        expect((await shell(create, {})).code).toBe(0);
        expect((await shell(`cardwright sandbox accounts remove left --store "${store}" --yes`, {})).code).toBe(0);
        await Promise.all([holder.end(), watching.end()]);
        expect(await stopped(second)).toBe(0);
      },
    );

    it('names two equal servers that wait for their database', async () => {
      const { services } = parse(await example('compose.yaml'));
      expect(services.two).toEqual(services.one);
      for (const each of Object.values<{ restart: string }>(services)) expect(each.restart).toBe('unless-stopped');
      expect(services.one.depends_on).toEqual({ database: { condition: 'service_healthy' } });
      const [ready, ...words] = services.database.healthcheck.test.split(' ');
      expect([ready, words.includes('127.0.0.1')]).toEqual(['pg_isready', true]);
    });

    it.runIf(isWhole)('is two containers that start at once, behind one proxy', { timeout: 60_000 }, async () => {
      const { services } = parse(await example('compose.yaml'));
      // Those of the guide read the tables that go, one after the other: whoever takes all of them at once could wait for ever.
      await stopEach();
      await asAdmin(`drop schema if exists cardwright_sandbox cascade;`, `${here.name}_sandbox`);
      const line = ofThisRun(services.one.command.replace('npx ', ''));
      const both = await Promise.all([start(line, {}), start(line, {})]);
      proxy.servers = both.map(({ port }) => port);
      const made = await shell(`cardwright sandbox accounts create cy --store "${store}" --keys-in cy`, {});
      expect([made.code, made.err]).toEqual([0, '']);
      const env = {
        CARDWRIGHT_BASE_URL: `https://${proxy.host}/v1`,
        CARDWRIGHT_API_KEY_FILE: join(folder, 'cy', 'api-key'),
      };
      for (const _ of both) expect((await shell('cardwright wallet', env)).code).toBe(0);
      for (const { child } of both) expect(await stopped(child)).toBe(0);
      const away = await shell('cardwright wallet', env);
      expect([away.code, away.err]).toEqual([12, expect.stringContaining('502')]);
    });

    async function stopEach(): Promise<void> {
      for (const child of running) if (child.exitCode === null && child.signalCode === null) await stopped(child);
    }

    async function script(name: string, text: string): Promise<void> {
      await writeFile(join(folder, 'bin', name), `#!/bin/bash\n${text}\n`);
      await chmod(join(folder, 'bin', name), 0o755);
    }

    /** What stands for the reader's own. */
    function ofThisRun(text: string): string {
      return text
        .replace(/postgres:\/\/sandbox@\S+\/sandbox/g, store)
        .replace(/role sandbox\b/, `role ${here.name}_role`)
        .replace(/database sandbox owner sandbox/, `database ${here.name}_sandbox owner ${here.name}_role`)
        .replaceAll('sandbox.example.com', proxy.host)
        .replace(/--bind \S+/g, '--bind 127.0.0.1')
        .replace(/--port \d+/g, '--port 0');
    }

    async function asAdmin(sql: string, name = 'postgres'): Promise<void> {
      const admin = await connect(here.server, 'postgres', name);
      for (const statement of statementsOf(sql)) await admin.call(statement, []);
      await admin.end();
    }

    const surroundings = (env: Variables) => ({
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      HOME: folder,
      CARDWRIGHT_CONFIG_DIR: join(folder, 'cardwright'),
      CARDWRIGHT_CACHE: CODE_CACHE,
      NODE_EXTRA_CA_CERTS: join(folder, 'proxy.crt'),
      ...env,
    });

    async function shell(text: string, env: Variables) {
      const ran = execute('bash', ['-eo', 'pipefail', '-c', text], { cwd: folder, env: surroundings(env) });
      return ran.then(
        ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
        ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
          code,
          out: stdout,
          err: stderr,
        }),
      );
    }

    /** A block: servers go on beside it; what it exports is there for the next one. */
    async function played(text: string, before: Variables): Promise<Variables> {
      const isStart = (line: string) => line.startsWith('cardwright sandbox start');
      const lines = text.split('\n').filter(Boolean);
      const { code, out, err } = await shell(
        `${lines.filter(line => !isStart(line)).join('\n')}\nenv -0 > env.txt`,
        before,
      );
      expect(`${text}: ${code}${code === 0 ? '' : out + err}`).toBe(`${text}: 0`);
      const exported = (await readFile(join(folder, 'env.txt'), 'utf8')).split('\0');
      const ours = exported.map(each => /^(STORE|CARDWRIGHT_(?:BASE|API|SANDBOX)\w*)=(.*)$/s.exec(each)?.slice(1));
      const env = Object.fromEntries(ours.filter(pair => pair !== undefined));
      for (const line of lines.filter(isStart)) proxy.servers = [(await start(line, env)).port];
      return env;
    }

    async function start(line: string, env: Variables): Promise<Started> {
      const port = await freePort();
      const words = ['-c', `exec ${line.trim().replace('--port 0', `--port ${port}`)}`];
      const child = spawn('bash', words, { cwd: folder, env: surroundings(env), stdio: ['ignore', 'pipe', 'pipe'] });
      running.push(child);
      let err = '';
      child.stderr.on('data', (chunk: Buffer) => {
        err += chunk;
      });
      const ended = once(child, 'exit').then(([code]) =>
        Promise.reject(new Error(`${line} ended with ${code}: ${err}`)),
      );
      await Promise.race([once(child.stdout, 'data'), ended]);
      ended.catch(() => undefined);
      return { child, port };
    }

    /** Steps of the job as a runner runs them: after one that failed only those that always run. It is killed after `last`. */
    async function jobOf(more: Variables = {}, last?: string) {
      const contexts: Variables = {
        'github.run_id': '19700000001',
        'github.run_attempt': '1',
        'vars.SANDBOX_STORE': store,
      };
      const text = ofThisRun(await example('github.yml')).replace(
        /\$\{\{ (\S+) \}\}/g,
        (_, name) => contexts[name] ?? '',
      );
      const { env, steps } = parse(text).jobs.test as { env: Variables; steps: readonly Step[] };
      const job = await mkdtemp(join(folder, 'job-'));
      const file = join(job, 'github-env');
      await writeFile(file, '');
      const runner = { RUNNER_TEMP: join(folder, 'runner'), GITHUB_RUN_ID: '19700000001', GITHUB_RUN_ATTEMPT: '1' };
      const ran: string[] = [];
      let failed = 0;
      for (const { name, run, if: when } of steps) {
        const added = variablesIn(await readFile(file, 'utf8'));
        if (run === undefined || !isRun(when, failed === 0, { ...env, ...added })) continue;
        const step = name ?? run;
        ran.push(step);
        const { code, out } = await shell(run, {
          ...{ ...env, ...runner, ...more, ...added },
          ...{ GITHUB_ENV: file, CARDWRIGHT_CONFIG_DIR: join(job, 'config') },
        });
        expect(out).not.toMatch(/sk_test_[\w-]{20}|sandbox_[\w-]{20}/);
        failed ||= code;
        if (step === last) break;
      }
      return { code: failed, ran };
    }
  });
}

function variablesIn(text: string): Variables {
  const lines = text.split('\n').filter(Boolean);
  return Object.fromEntries(lines.map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** The two forms of a condition that the example knows. */
function isRun(when: string | undefined, isWell: boolean, env: Variables): boolean {
  if (when === undefined) return isWell;
  const form = /^always\(\)(?: && env\.(\w+) != '')?$/.exec(when);
  expect(form).not.toBeNull();
  return form?.[1] === undefined || (env[form[1]] ?? '') !== '';
}

async function stopped(child: ChildProcess): Promise<number | null> {
  const [ended] = [once(child, 'exit'), child.kill('SIGTERM')];
  const [code] = await ended;
  return code;
}
