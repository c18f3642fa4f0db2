/**
 * One name and two operations, as it is after a restored backup: of the one that was brought back nothing is sent any more, for the
 * other one has its name; and when that one comes to nothing, the name is that of the first again.
 */
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import type { World } from '../support/world.ts';
import { type OwnServer, ownServer } from './own-server.ts';
import { team } from './team.ts';

const WITHOUT_PAUSES = { onPause: () => undefined, longestPause: Number.MAX_SAFE_INTEGER };

type Team = Awaited<ReturnType<typeof team>>;

/** `isWhole` adds an operation that comes to nothing. */
export function nameClashes({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('a name that was used again behind a restored backup', () => {
    const create = 'cards create --bin bin_1 --amount 20 --intent po-1';
    const file = 'cards create --file team.csv --yes --concurrency 1';

    type Doing = (ana: World, t: Team) => Promise<unknown>;

    /** What ana does behind the backup is lost with the database. */
    async function restored(server: OwnServer, behind: Doing, before: Doing = async () => undefined) {
      const t = await team(server, { wallet: 500 });
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      for (const { folder } of [ana, ben])
        await writeFile(join(folder, 'team.csv'), 'bin_id,amount,intent\nbin_1,20,po-1\nbin_1,3,po-2\n');
      expect(await ben.run('cards create --bin bin_1 --amount 10')).toMatchObject({ code: 0 });
      await before(ana, t);
      await server.backup();
      await behind(ana, t);
      await server.restore('backup');
      return { ...t, ana, ben };
    }

    /** Answers the operation that ana has brought back. */
    async function accepted(
      { at, ana, ben }: Awaited<ReturnType<typeof restored>>,
      server: OwnServer,
    ): Promise<string> {
      const clashing = await ana.run('journal push --json');
      expect(clashing.code, clashing.err).toBe(15);
      expect((await ben.run('journal push')).code).toBe(0);
      await (await server.as('ada')).call(`select cardwright.accept_failover($1, 'the backup')`, [at.account]);
      return JSON.parse(clashing.out).recovered[0].op;
    }

    /** A create whose request never arrives, and nobody can look. */
    async function unknown({ proxy }: Pick<Team, 'proxy'>, { run }: World): Promise<string> {
      proxy.fail('POST', /\/cards$/, 'drop-before');
      proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      const { code, err } = await run(`${create} --json`);
      proxy.mend();
      expect(code, err).toBe(11);
      return JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op;
    }

    const stopped = (ana: World, { proxy }: Team) => {
      const stop = new AbortController();
      void proxy.posted(proxy.posts().length + 1).then(() => stop.abort());
      return ana.run(file, { signal: stop.signal });
    };

    it('sends no row of the operation that was brought, whoever takes it up', async () => {
      await using server = await ownServer();
      await using t = await restored(server, stopped);
      const { ana, ben, proxy } = t;
      expect((await ben.run(file)).code).toBe(0);
      const op = await accepted(t, server);
      const posts = proxy.posts().length;
      const looked = await ana.run(`ops resume ${op} --dry-run`);
      expect([looked.code, looked.err]).toEqual([0, expect.stringContaining('leave to you 1 row ($3.00)')]);
      const resumed = await ana.run(`ops resume ${op} --resend-absent --yes`);
      expect([resumed.code, resumed.err]).toEqual([9, expect.stringMatching(/its intent "po-2" belongs to op_\w+,/)]);
      const takeover = `ops takeover ${op} --reason "ana is away" --resend-absent --yes`;
      expect((await ben.run(takeover)).code).toBe(9);
      expect([proxy.posts().length, (await t.cards()).length]).toEqual([posts, 4]);
      const [, resolve] = /cardwright (ops resolve .* --as not-done --note "why")/.exec(resumed.err) ?? [];
      expect((await ben.run(`${resolve} --yes`)).code).toBe(0);
      expect(await ben.run(file)).toMatchObject({ code: 0 });
      expect(proxy.posts().length).toBe(posts);
      expect((await ben.run('ops list --json --jq \'[.data[] | select(.state != "finished")] | length\'')).out).toBe(
        '0\n',
      );
    });

    it('looks for a row that may have been sent, and does not send it again', async () => {
      await using server = await ownServer();
      await using t = await restored(server, (ana, t) => unknown(t, ana));
      const { ana, ben, proxy } = t;
      expect((await ben.run(create)).code).toBe(0);
      const op = await accepted(t, server);
      const posts = proxy.posts().length;
      const resumed = await ana.run(`ops resume ${op} --resend-absent --yes`, WITHOUT_PAUSES);
      expect([resumed.code, resumed.err]).toEqual([11, expect.stringMatching(/Its --intent belongs to op_\w+,/)]);
      expect(resumed.err).not.toContain('--resend-absent');
      expect([proxy.posts().length, (await t.cards()).length]).toEqual([posts, 2]);
    });

    const ORDERS = [
      { brought: 'after the later one', laterFirst: true },
      ...(isWhole ? [{ brought: 'before it', laterFirst: false }] : []),
    ];

    it.each(ORDERS)(
      'passes to the later operation where the first, brought $brought, was recorded as not done',
      async ({ laterFirst }) => {
        await using server = await ownServer();
        let [first, later] = ['', ''];
        const begin: Doing = async (ana, t) => {
          first = await unknown(t, ana);
        };
        const settle: Doing = async ana => {
          expect((await ana.run(`ops resolve ${first} --as not-done --note looked --yes`)).code).toBe(0);
          const { code, out, err } = await ana.run(`${create} --json`);
          expect(code, err).toBe(0);
          later = JSON.parse(out).intent.op;
        };
        await using t = await restored(server, settle, begin);
        const { at, ana, ben, proxy } = t;
        if (laterFirst) await keptFirst(ana, `${later}.finished`);
        const pushed = await ana.run('journal push --json');
        expect([pushed.code, JSON.parse(pushed.out).clashes], pushed.err).toEqual([0, []]);
        expect((await ben.run('journal push')).code).toBe(0);
        await (await server.as('ada')).call(`select cardwright.accept_failover($1, 'the backup')`, [at.account]);
        const posts = proxy.posts().length;
        for (const { run } of [ana, ben]) {
          const again = await run(`${create} --json`);
          expect(again.code, again.err).toBe(0);
          expect(JSON.parse(again.out)).toMatchObject({ intent: { op: later, repeated: true } });
        }
        expect([proxy.posts().length, (await t.cards()).length]).toEqual([posts, 2]);
        expect((await ben.run('journal check')).code).toBe(0);
      },
    );

    it.runIf(isWhole)('is not free when the operation that has it comes to nothing', async () => {
      await using server = await ownServer();
      await using t = await restored(server, async ana => expect((await ana.run(create)).code).toBe(0));
      const { ana, ben, proxy } = t;
      const theirs = await unknown(t, ben);
      const own = await accepted(t, server);
      expect((await ben.run(`ops resolve ${theirs} --as not-done --note looked --yes`)).code).toBe(0);
      const posts = proxy.posts().length;
      for (const { run } of [ana, ben]) {
        const again = await run(`${create} --json`);
        expect(JSON.parse(again.out)).toMatchObject({ intent: { op: own, repeated: true } });
      }
      expect([proxy.posts().length, (await t.cards()).length]).toEqual([posts, 2]);
      expect((await ben.run('journal check')).code).toBe(0);
    });
  });
}

/** A copy that its machine has kept since the day before: copies are brought by their days. */
async function keptFirst({ folder }: World, name: string): Promise<void> {
  const copies = (await readdir(folder, { recursive: true })).filter(path => basename(path) === name);
  expect(copies).toHaveLength(1);
  const path = join(folder, copies[0] ?? '');
  const before = new Date(Date.parse(basename(dirname(path))) - 86_400_000).toISOString().slice(0, 10);
  const day = join(dirname(dirname(path)), before);
  await mkdir(day, { recursive: true });
  await rename(path, join(day, name));
}
