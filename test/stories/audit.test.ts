import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { followChain } from '../../src/audit/log.ts';
import { connectTo } from '../../src/engine/open.ts';
import { type Script, type ScriptedWorld, scriptedWorld } from '../support/scripted-world.ts';
import { type World, world } from '../support/world.ts';

interface Line {
  readonly seq: number;
  readonly event: string;
  readonly operation: string;
  readonly outcome?: string;
  readonly of?: number;
  readonly rows?: number;
  readonly card_id?: string;
  readonly op?: string;
  readonly row?: number;
  readonly amount?: number;
  readonly kind?: string;
  readonly reason?: string;
}

/** What somebody does who writes as this user. */
function tamper(here: World, statement: string): void {
  const connection = connectTo(join(here.folder, 'state', 'journal.db'));
  connection.exec(statement);
  connection.close();
}
const textOf = async (here: World) => (await here.run('audit export')).out;
const lines = async (here: World) =>
  (JSON.parse((await here.run('audit list --all --json')).out) as { data: Line[] }).data.toReversed();

test('every write has a line before and one after, whatever became of it; reads have none', async () => {
  await using here = await world({ wallet: 50 });
  await here.run('cards create --bin bin_1 --amount 5 --label CANARYLABEL --metadata secret=CANARYDATA');
  await here.run('cards fund card_1 --amount 500');
  await here.run('cards freeze card_1');
  await here.run('cards terminate card_1 --yes');
  await here.run('cards fund card_1 --amount 5');
  await here.run('cards fund card_1 --amount 5 --dry-run');
  await here.run('cards list');
  await here.run('cards terminate card_1');
  await here.run('webhooks create --url https://example.com/h --event card.created');
  const told = (await lines(here)).map(({ event, operation, outcome, of }) => [
    event,
    operation,
    outcome ?? null,
    of ?? null,
  ]);
  expect(told).toEqual([
    ['write', 'cards.create', null, null],
    ['outcome', 'cards.create', 'done', 1],
    ['write', 'cards.fund', null, null],
    ['outcome', 'cards.fund', 'refused', 3],
    ['write', 'cards.freeze', null, null],
    ['outcome', 'cards.freeze', 'done', 5],
    ['write', 'cards.terminate', null, null],
    ['outcome', 'cards.terminate', 'done', 7],
    ['write', 'cards.fund', null, null],
    ['outcome', 'cards.fund', 'refused', 9],
    // Refused by nobody but the guard of the command.
    ['write', 'cards.terminate', null, null],
    ['outcome', 'cards.terminate', 'not_sent', 11],
    ['write', 'webhooks.create', null, null],
    ['outcome', 'webhooks.create', 'done', 13],
  ]);
  expect(await textOf(here)).not.toMatch(/CANARY|whsec_/);
});

test('a row of a file leaves the line that the same single command leaves, and the card finds it', async () => {
  await using here = await world({ wallet: 50 });
  await here.run('cards create --bin bin_1 --amount 5');
  await here.run('cards create --bin bin_1 --amount 5');
  await here.run('cards terminate card_1 --yes');
  const before = (await lines(here)).length;
  const tail = async () => (await lines(here)).slice(before);
  const facts = ({ operation, card_id, amount, outcome, kind, reason }: Line) => ({
    operation,
    card_id,
    amount,
    outcome,
    kind,
    reason,
  });
  expect((await here.run('cards fund card_1 --amount 2')).code).toBe(6);
  const single = (await tail()).at(-1) as Line;
  expect(single).toMatchObject({ outcome: 'refused', kind: 'refused', reason: 'card_terminated' });

  await writeFile(join(here.folder, 'fund.csv'), 'card_id,amount\ncard_1,2\ncard_2,3\n');
  expect((await here.run('cards fund --file fund.csv --yes --concurrency 1')).code).toBe(9);
  const [run, first, second, ended] = (await tail()).slice(2) as [Line, Line, Line, Line];
  expect(run).toMatchObject({ event: 'run', user: 'tester', host: 'desk' });
  expect(facts(first)).toEqual({ ...facts(single), amount: 2 });
  expect([first.row, first.op, second.row]).toEqual([1, run.op, 2]);
  expect(facts(second)).toEqual({ operation: 'cards.fund', card_id: 'card_2', amount: 3, outcome: 'done' });
  expect(ended).toMatchObject({ event: 'outcome', of: run.seq, outcome: 'refused' });

  // Who froze it, and out of which file.
  await writeFile(join(here.folder, 'freeze.csv'), 'card_id\ncard_2\n');
  expect((await here.run('cards freeze --file freeze.csv --yes')).code).toBe(0);
  const about = JSON.parse((await here.run('audit list --card card_2 --json')).out).data.toReversed() as Line[];
  expect(about.at(-1)).toMatchObject({ operation: 'cards.freeze', outcome: 'done', user: 'tester', host: 'desk' });
  expect((await here.run('audit list --card card_2')).out).toContain('tester');
  expect((await here.run('audit verify')).code).toBe(0);
});

test('one changed byte is exit 15 and the line, in words and as data, and does not stop an export', async () => {
  await using here = await world({ wallet: 50 });
  await here.run('cards create --bin bin_1 --amount 5');
  await here.run('cards freeze card_1');
  expect((await here.run('audit verify')).code).toBe(0);
  const changed = (await textOf(here))
    .split('\n')
    .map((line, index) => (index === 2 ? line.replace('freeze', 'freexe') : line));
  tamper(here, "update audit set line = replace(line, 'freeze', 'freexe') where account = 'machine' and seq = 3");
  const words = await here.run('audit verify');
  expect(words.code).toBe(15);
  expect(words.err).toContain('line 3');
  const data = await here.run('audit verify --json');
  expect({ code: data.code, out: data.out }).toEqual({ code: 15, out: '' });
  expect(JSON.parse(data.err)).toMatchObject({ error: { kind: 'check_failed', evidence: { line: 3 } } });
  const listed = await here.run('audit list --json');
  expect(listed.code).toBe(15);
  const exported = await here.run('audit export');
  expect({ code: exported.code, out: exported.out }).toEqual({ code: 15, out: changed.join('\n') });
  const doctor = await here.run('doctor --json');
  expect(doctor.code).toBe(15);
  expect(doctor.out).toContain('broken at line 3');
});

test('an export is the log, byte for byte, and a new private file', async () => {
  await using here = await world({ wallet: 50 });
  expect((await here.run('audit verify --json')).code).toBe(0);
  await here.run('cards create --bin bin_1 --amount 5');
  const text = await textOf(here);
  expect(followChain(text.trimEnd().split('\n')).flaw).toBeUndefined();
  expect((await here.run('audit export --out copy.jsonl')).code).toBe(0);
  expect(await readFile(join(here.folder, 'copy.jsonl'), 'utf8')).toBe(text);
  expect((await stat(join(here.folder, 'copy.jsonl'))).mode & 0o777).toBe(0o600);
  expect((await here.run('audit export --out copy.jsonl')).code).toBe(2);
});

describe('a log that is damaged while a write is under way', () => {
  const damage = (s: ScriptedWorld) => tamper(s.here, "update account set audit_hash = 'x' where id = 'machine'");

  test.each<[string, Script, number, string]>([
    ['done', execute => execute(), 0, 'done'],
    ['refused', () => ({ status: 400, body: { error: 'insufficient_funds', code: 400 } }), 10, 'refused'],
    ['unknown', () => ({ status: 500, body: {} }), 11, 'unknown'],
  ])('the write is %s, and that is said', async (_name, script, exit, outcome) => {
    await using s = await scriptedWorld();
    s.service.script = execute => {
      damage(s);
      return script(execute);
    };
    const { code, err } = await s.run('cards fund card_old --amount 25');
    expect(code).toBe(exit);
    expect(err).toContain(`cards.fund: ${outcome}; that is not in the audit log: the audit log`);
    expect(err).not.toContain('Nothing was sent');
  });

  test('damaged before a write with a test key: it is said, and the write is sent', async () => {
    await using s = await scriptedWorld();
    await s.run('cards fund card_old --amount 25');
    damage(s);
    const { code, err } = await s.run('cards fund card_old --amount 5');
    expect([code, s.service.effects()]).toEqual([0, ['fund', 'fund']]);
    expect(err).toContain('cards.fund is not in the audit log');
    expect(err).not.toContain('Nothing was sent');
  });
});
