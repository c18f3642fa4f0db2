/**
 * A command was killed, and the next contact of its operator with the journal falls in a time when that takes nothing: the account is
 * frozen, moved, or has lost lines. Behind it the lease of the dead process is in nobody's way, and hides nothing from other intents.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended, type Home, home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { skippingClock } from '../support/clocks.ts';
import { words } from '../support/words.ts';
import { holdingProxy } from './holding-proxy.ts';
import { later } from './killing-stage.ts';
import { team } from './team.ts';

const CREATE = 'cards create --bin bin_1 --amount 3 --label b1';
const [BY_NAME, ANEW] = [' --intent b1', ' --intent b1b'];
const UNKNOWN = 'the same operation, with the intent "b1", has an unknown outcome';
const FILE = 'cards create --file team.csv --yes';
const LEASE = 'cards lease --bin bin_1 --amount 3 --reveal --yes';

/** What is killed, and what its operator asks for then. */
const KINDS = {
  create: { line: CREATE + BY_NAME, again: CREATE + ANEW, says: UNKNOWN },
  fund: {
    line: 'cards fund card_1 --amount 2',
    again: 'cards fund card_1 --amount 2 --intent f2',
    says: 'has an unknown outcome',
  },
  file: { line: FILE, again: FILE, says: 'a run with the same input is not finished' },
  row: { line: FILE, again: CREATE + ANEW, says: 'the same operation has an unknown outcome' },
  lease: { line: `${LEASE}${BY_NAME} -- true`, again: `${LEASE}${ANEW} -- true`, says: UNKNOWN },
} as const;

type Team = Awaited<ReturnType<typeof team>>;

const moved = ({ at }: Team) =>
  at.root.call(`update cardwright.account set timeline = '000000FF' where name = $1`, [at.account]);
const frozen = ({ at }: Team) => at.admin(`freeze_account('we are looking')`);

const TAKES_NOTHING = {
  frozen,
  /** Another server, as the account sees it. */
  moved,
  /** Somebody has reported a line that the database does not hold. */
  lost: ({ at }: Team) =>
    at.root.call(`update cardwright.account set lost_why = 'line 900' where name = $1`, [at.account]),
} as const;

export interface Kill {
  readonly kind: keyof typeof KINDS;
  readonly how: keyof typeof TAKES_NOTHING;
  /** What its operator does first. */
  readonly contact: 'ops resume' | 'journal push';
}

/** Over the kills, and commands that could not let their lease go; `isLong` with a resume that was killed, and a colleague. */
export function killedFrozen(cases: readonly Kill[], { isLong = false } = {}): void {
  const notLetGo = isLong ? ['ana may not operate'] : ['moved'];
  describe.skipIf(missing())('a command that was killed before its journal took nothing', () => {
    let here: Database;
    let place: Home;
    beforeAll(async () => {
      [here, place] = await Promise.all([database(), home()]);
    });
    afterAll(async () => {
      await place?.[Symbol.asyncDispose]();
      await here.close();
    });

    /** The service has done it, and its command was killed before the answer came. */
    async function killed(line: string) {
      const t = await team(here, { wallet: 500, delayMs: 60_000 });
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      expect((await ben.run('cards create --bin bin_1 --amount 20 -q')).code).toBe(0);
      await writeFile(join(ana.folder, 'team.csv'), 'bin_id,amount,label\nbin_1,3,b1\n');
      const posts = t.proxy.posts().length + 1;
      t.proxy.fail('POST', /./, 'late-answer');
      const child = place.start(words(line), { env: t.processEnv('ana', ana), cwd: ana.folder });
      const end = ended(child);
      child.stdin?.end();
      await Promise.race([t.proxy.posted(posts), end]);
      child.kill('SIGKILL');
      expect(await end).toMatchObject({ signal: 'SIGKILL' });
      await t.proxy.answered();
      const [left] = await t.at.ana.heads(t.at.account, { unfinished: true });
      expect(left?.lease_ms).toBeGreaterThan(100_000);
      return { ...t, ana, ben, posts, op: left?.op ?? '' };
    }

    it.each(cases)('$kind, $how, $contact', async ({ kind, how, contact }) => {
      const { line, again, says } = KINDS[kind];
      await using t = await killed(line);
      const { ana, ben, at, op, posts } = t;
      await TAKES_NOTHING[how](t);
      const first = await ana.run(contact === 'ops resume' ? `ops resume ${op}` : contact);
      expect(first.code, first.err).toBe(contact === 'ops resume' ? 14 : 0);
      if (how !== 'frozen') {
        for (const machine of [ana, ben]) expect((await machine.run('journal push')).code).toBe(0);
        // The process that was killed had another name of its host.
        const env = { env: t.processEnv('ana', ana), cwd: ana.folder };
        expect(await ended(place.start(words('journal push'), env))).toMatchObject({ code: 0 });
      }
      await at.admin(`accept_failover('we have looked')`);
      const refused = await ana.run(again);
      expect([refused.code, refused.err]).toEqual([14, expect.stringContaining(says)]);
      expect(refused.err).toContain(op);
      expect(refused.err).not.toContain('can be taken up in');
      expect(t.proxy.posts()).toHaveLength(posts);
      const resumed = await ana.run(`ops resume ${op} --yes`, { clock: later() });
      expect([0, 11], resumed.err).toContain(resumed.code);
      expect(t.proxy.posts()).toHaveLength(posts);
    });

    it.each(notLetGo)('a command that ended, and could not let its lease go: %s', async how => {
      await using t = await team(here);
      await using way = await holdingProxy(here.server, 'cardwright.let_go(');
      const url = `postgres://ana@${encodeURIComponent(way.folder)}:${way.port}/${here.name}`;
      const ana = await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: url });
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
      const ends = ana.run(`${CREATE}${BY_NAME}`, { clock: skippingClock() });
      await Promise.race([way.held, ends]);
      await (how === 'moved' ? moved(t) : t.at.admin(`add_member('ana', '{read}')`));
      way.release();
      expect((await ends).code).toBe(11);
      t.proxy.mend();
      if (how === 'moved') {
        expect((await ana.run('journal push')).code).toBe(0);
        await t.at.admin(`accept_failover('we have looked', array['ben'])`);
      } else await t.at.admin(`add_member('ana', '{read,operate}')`);
      const refused = await ana.run(`${CREATE}${ANEW}`);
      expect([refused.code, refused.err]).toEqual([14, expect.stringContaining(UNKNOWN)]);
      expect(refused.err).not.toContain('can be taken up in');
      expect(t.proxy.posts()).toHaveLength(1);
    });

    it.runIf(isLong)('a resume that was killed', async () => {
      await using t = await killed(`${CREATE}${BY_NAME}`);
      expect((await t.ana.run('ops list')).code).toBe(0);
      await using way = await holdingProxy(here.server, 'cardwright.take(', 'answer');
      const url = `postgres://ana@${encodeURIComponent(way.folder)}:${way.port}/${here.name}`;
      const env = { ...t.processEnv('ana', t.ana), CARDWRIGHT_JOURNAL_URL: url };
      const child = place.start(words(`ops resume ${t.op} --yes`), { env, cwd: t.ana.folder });
      const end = ended(child);
      child.stdin?.end();
      await Promise.race([way.held, end]);
      child.kill('SIGKILL');
      expect(await end).toMatchObject({ signal: 'SIGKILL' });
      way.release();
      await frozen(t);
      expect((await t.ana.run(`ops resume ${t.op}`)).code).toBe(14);
      await t.at.admin(`accept_failover('we have looked')`);
      const refused = await t.ana.run(`${CREATE}${ANEW}`);
      expect([refused.code, refused.err]).toEqual([14, expect.stringContaining(UNKNOWN)]);
      expect(refused.err).not.toContain('can be taken up in');
      expect(t.proxy.posts()).toHaveLength(t.posts);
    });

    it.runIf(isLong)('leaves its lease while the account is frozen', async () => {
      await using t = await killed(`${CREATE}${BY_NAME}`);
      await frozen(t);
      expect((await t.ana.run('cards fund card_1 --amount 1')).code).toBe(14);
      expect((await t.ana.run('ops locks --json --jq .page.total')).out).toBe('0\n');
      await t.at.admin(`accept_failover('we have looked')`);
      const resumed = await t.ben.run(`ops takeover ${t.op} --reason "ana is away" --yes`, { clock: later() });
      expect([resumed.code, resumed.err]).toEqual([0, expect.anything()]);
    });
  });
}
