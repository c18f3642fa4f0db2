/** The first example of every command's help, and in the full run every one: it works, and answers as JSON what is promised. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Command } from '../../src/cli/parsing/declaration.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { ADMIN_OPERATIONS } from '../../src/contract/sandbox/admin.ts';
import { firstOf } from '../support/first-of.ts';
import { ask } from '../support/sandbox-http.ts';
import { pipeline } from '../support/transcript.ts';
import { isWhole } from '../support/whole.ts';
import { type World, world } from '../support/world.ts';
import { commands, objections } from './schema.ts';

/** In every world: card_1 with $120 and card_2 with $25. */
const CARDS = [
  { bin_id: 'bin_1', amount: 120, label: 'ads: search' },
  { bin_id: 'bin_1', amount: 25 },
];
/** These look for both in the journal and the audit log. For others the service is asked itself, in a tenth of the time. */
const OF_THE_JOURNAL = /^(?:ops|audit|journal|books|doctor|explain)\b/;
const HOOK = 'webhooks create --url https://example.com/hook --event *';
const PURCHASE = 'sandbox simulate authorize --card card_1 --amount 20 --merchant Acme';
const CHALLENGE = 'sandbox simulate challenge --card card_1 --amount 59 --merchant "Acme Ltd"';
const DEPOSIT = 'sandbox simulate deposit --currency btc --amount 10';
const DECLINE = 'sandbox simulate authorize --card card_2 --amount 59';
const LOGIN = 'login --profile team --base-url https://api.example.com/v1 --key-stdin < key.txt';

/** What must have happened before the examples of a command. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  'cards unfreeze': ['cards freeze card_1'],
  'tx list': [PURCHASE, DECLINE],
  'tx get': [PURCHASE],
  'tx tail': [PURCHASE],
  'tx search': [PURCHASE, 'books sync'],
  'books statement': ['books reconcile'],
  'books export': ['books reconcile'],
  '3ds list': [CHALLENGE],
  '3ds wait': [CHALLENGE],
  '3ds watch': [CHALLENGE],
  'webhooks list': [HOOK],
  'webhooks get': [HOOK],
  'webhooks update': [HOOK],
  'webhooks delete': [HOOK],
  'wait tx': [PURCHASE, 'sandbox simulate settle txn_1', DECLINE],
  logout: [LOGIN],
  'profiles list': [LOGIN],
  'profiles show': [LOGIN],
  'profiles use': [LOGIN],
  'profiles set': [LOGIN],
  'profiles remove': [LOGIN],
  'sandbox simulate increment': [PURCHASE],
  'sandbox simulate settle': [PURCHASE],
  'sandbox simulate reverse': [PURCHASE],
  'sandbox simulate expire': [PURCHASE, CHALLENGE],
  'sandbox simulate refund': [PURCHASE, 'sandbox simulate settle txn_1'],
  'sandbox simulate answer': [CHALLENGE],
  'sandbox simulate cancel': [CHALLENGE],
  'sandbox simulate confirm': [DEPOSIT],
  'sandbox simulate fail': [DEPOSIT],
  'sandbox deliveries redeliver': [HOOK, 'cards freeze card_1'],
  'sandbox deliveries recover': [HOOK],
  'sandbox deliveries send': [HOOK],
  'sandbox deliveries rotate': [HOOK],
  'sandbox why': [PURCHASE],
  'sandbox timeline': [PURCHASE],
  'sandbox deliveries show': [HOOK, 'cards freeze card_1'],
  'sandbox snapshot list': ['sandbox snapshot save before'],
  'sandbox snapshot restore': ['sandbox snapshot save before'],
  'sandbox snapshot remove': ['sandbox snapshot save before'],
  'fleet apply': ['fleet plan --out plan.json'],
  'sandbox import': ['sandbox export sandbox.snapshot'],
  'sandbox faults remove': ['sandbox faults add - < lost-answer.json'],
};

/** These wait for what another program does; `test/transcripts` and `test/stories` tell them. */
const WAITING = /^(?:webhooks (?:listen|expect)|sandbox exec|cards lease)$/;
const runnable = commands.filter(({ path }) => !WAITING.test(path));

/** Commands whose examples each begin anew, for one takes away what the other needs. */
const ANEW =
  /^(?:cards (?:terminate)|3ds|sandbox (?:simulate|faults remove|snapshot remove)|audit export|login|logout|profiles remove)/;

/** Of those without an operation: they read, and keep no copy of the account for the next. */
const READS_ALONE =
  /^(?:help|completion (?:bash|zsh|fish|powershell)|commands|schema|explain|whoami|doctor|contract (?:show|openapi)|webhooks (?:events|sign|verify)|ops (?:list|show)|audit (?:list|verify)|fleet validate)\b/;
/** Brought up to date before they answer: a copy that is there would hide what an example needs. */
const OF_A_COPY = /^tx (?:search|summary|chart)$/;

const METHODS: Readonly<Record<string, { readonly method: string } | undefined>> = {
  ...ADMIN_OPERATIONS,
  ...OPERATIONS,
};

/** Commands that leave a world as they found it. */
function leavesNothing({ path, operation }: Command): boolean {
  if (ANEW.test(path) || OF_A_COPY.test(path)) return false;
  return operation === undefined ? READS_ALONE.test(path) : METHODS[operation]?.method === 'GET';
}

const TERMINAL = new Map([['terminal', '80']]);
const PIPE = new Map<string, string>();

interface Told {
  /** At a terminal, with these answers typed. */
  readonly typed?: readonly string[];
  readonly code?: number;
  /** Why it is not run, where it cannot be. */
  readonly not?: string;
}

const TOLD: Record<string, Told> = {
  'cards details card_1': { typed: ['LAST4'] },
  'cards exec card_1 -- ./checkout.sh': { typed: ['LAST4'] },
  'cards terminate card_1': { typed: ['LAST4'] },
  "wait tx --type decline --since now --until 'amount=59'": { not: 'waits for what is still to come' },
  // Nothing has tried to deliver it yet.
  'sandbox deliveries redeliver dlv_1': { code: 6 },
  'login --profile team --base-url https://api.example.com/v1 --key-command -- /usr/bin/pass show cards/key': {
    not: 'the program is of the user',
  },
  'ops resolve op_00000000000000000000000001 1 --as done --note "ticket 4711"': { code: 2 },
  'ops resolve op_00000000000000000000000001 3 7 --as not-done --note "no such cards"': { code: 2 },
  'sandbox deliveries redeliver dlv_1 --json': { code: 6 },
  'sandbox start --accounts accounts --port 4010': { not: 'it serves until it is ended' },
  // No server of accounts is there: test/stories/sandbox-accounts.test.ts has one.
  'sandbox account ana': { code: 6 },
  'sandbox account job-17 --seed 7 --data empty --json': { code: 6 },
  // test/shared has a server.
  'journal init postgres://admin@db.example.com/cards': { not: 'the server is of the user' },
  'journal init postgres://admin@db.example.com/cards --key': { not: 'the server is of the user' },
  'journal init postgres://admin@db.example.com/cards --limit max_per_day=500.00 --limit approve_above=100.00': {
    not: 'the server is of the user',
  },
  'journal leave bo': { code: 2 },
  'journal leave bo --json': { code: 2 },
  'journal accept': { typed: ['y'] },
  'journal accept --set-aside': { code: 14 },
  // test/stories/local-approvals.test.ts has an operation that waits.
  'ops approve op_00000000000000000000000001': { code: 2 },
  'ops approve op_00000000000000000000000001 -q': { code: 2 },
  'ops reject op_00000000000000000000000001 --reason "not in the budget"': { code: 2 },
  'ops reject op_00000000000000000000000001 --reason expired': { code: 2 },
  'ops keys create': { typed: ['correct horse', 'correct horse'] },
  'ops keys create -q': { typed: ['correct horse', 'correct horse'] },
  'ops keys show -q': { code: 2 },
  'ops keys show --json': { code: 2 },
  'audit verify --shared': { code: 2 },
  'audit list --shared --limit 20': { code: 2 },
  'cards freeze card_1 --without-journal': { code: 2 },
  'profiles remove team': { typed: ['y'] },
  logout: { typed: ['y'] },
  'sandbox snapshot remove before': { typed: ['y'] },
};

// A started sandbox is a process of its own: test/package tells that story.
for (const run of [
  'sandbox start --port 4010',
  'sandbox start --detach -o env',
  'sandbox start --detach --open',
  'sandbox stop',
  'sandbox stop --json',
  'sandbox open',
  'sandbox open card_1 --look-only',
  'sandbox open --end',
]) {
  TOLD[run] = { not: 'starts or ends a process' };
}
// Where none is started.
TOLD['sandbox status -o env'] = { code: 12 };

const FILES: Readonly<Record<string, string>> = {
  'team.csv': 'bin_id,amount,label\nbin_1,5,one\nbin_1,6,two\n',
  'key.txt': 'sk_test_0123456789abcdef\n',
  'event.json': '{"id":"evt_1","type":"card.created"}',
  'secret.txt': 'whsec_0123456789abcdef0123456789abcdef\n',
  'overrides.json': '{"operations":{"cards.terminate":{"method":"DELETE","path":"/cards/{card_id}"}}}',
  'lost-answer.json':
    '{"match":{"operation":"cards.create"},"action":{"kind":"reset"},"phase":"after_commit","times":1}',
  'purchase.yaml': 'scenario: one\nsteps:\n  - simulate.authorize: { card_id: card_1, amount: 5 }\n',
  'policy.yaml':
    'version: 1\nrules: [{ name: unused, when: { unused_days: ">= 0", balance: "> 100" }, then: freeze, severity: info }]\n',
  'cards.fleet.yaml':
    'version: 1\nfleet: team\ncaps: {per_apply: 50, cards: 5}\ncards:\n  search: {amount: 5, label: search}\n',
  'checkout.sh': '#!/bin/sh\ntest "$CARD_EXP_YEAR" -gt 2000\n',
};

const createLine = ({ bin_id, amount, label }: (typeof CARDS)[number]) =>
  `cards create --bin ${bin_id} --amount ${amount}${label === undefined ? '' : ` --label "${label}"`}`;

async function prepared(path: string): Promise<World> {
  const here = await world();
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(here.folder, name), content);
  await chmod(join(here.folder, 'checkout.sh'), 0o700);
  for (const card of OF_THE_JOURNAL.test(path) ? [] : CARDS) {
    expect((await ask(here.sandbox, { method: 'POST', path: '/cards', body: card })).status).toBe(201);
  }
  for (const line of [...(OF_THE_JOURNAL.test(path) ? CARDS.map(createLine) : []), ...(BEFORE[path] ?? [])]) {
    const { code, err } = await pipeline(here, { line, typed: [] }, PIPE);
    expect({ line, code, says: code === 0 ? '' : err }).toEqual({ line, code: 0, says: '' });
  }
  return here;
}

/** The line as a shell would give it: output into a file is no matter of ours, and variables have values. */
async function asGiven(here: World, run: string): Promise<string> {
  const first = async () => (await here.run('ops list -o id')).out.split('\n').at(-2) ?? '';
  const named = /\bop_0+1\b/.exec(run)?.[0];
  const line = run.replace(/ > \S+$/, '').replace(named ?? '', named === undefined ? '' : await first());
  if (!line.includes('"$signature"')) return line;
  const { out } = await here.run('webhooks sign --payload event.json --secret-file secret.txt');
  return line.replace('"$signature"', out.trim());
}

/** Named formats, pages to read, and texts that are the answer as they stand. */
const NOT_AS_ROWS =
  /(?: (?:-o|--json|--jq|-q|--print|--print-sql)\b|^(?:help|explain|completion|schema|commands|books export|api|fleet (?:plan|validate|import)|cards exec|contract openapi|sandbox exec)\b)/;

/** How many fields the lines of a pipe have: one number for all of them, for who counts columns. */
function fieldCounts(out: string): readonly number[] {
  const counts = new Set(
    out
      .split('\n')
      .slice(0, -1)
      .map(line => line.split('\t').length),
  );
  return counts.size === 0 ? [0] : [...counts];
}

async function last4Of(here: World, card: string): Promise<string> {
  const { out } = await here.run(`cards get ${card} --json`);
  return out.match(/"last4": "(\d{4})"/)?.[1] ?? '';
}

/** As JSON whole, and so judged as it is run. */
const isJudged = (run: string) => / (?:--json|-o json)\b/.test(run) && !/ --(?:fields|jq)\b/.test(run);

async function tryOne(here: World, path: string, run: string): Promise<void> {
  const { typed, code: wanted = 0, not } = TOLD[run] ?? {};
  if (not !== undefined) return;
  const answers = typed?.includes('LAST4') ? [await last4Of(here, 'card_1')] : (typed ?? []);
  const line = await asGiven(here, run);
  const { code, out, err } = await pipeline(here, { line, typed: answers }, typed === undefined ? PIPE : TERMINAL);
  expect({ run, code, says: code === wanted ? '' : err }).toEqual({ run, code: wanted, says: '' });
  if (typed === undefined && code === 0 && !NOT_AS_ROWS.test(run)) {
    expect({ run, prose: out.split('\n').filter(each => / {2}\S/.test(each)), fields: fieldCounts(out) }).toEqual({
      run,
      prose: [],
      fields: [expect.anything()],
    });
  }
  if (isJudged(run) && code === 0) {
    expect({ run, objections: objections(path, JSON.parse(out)) }).toEqual({ run, objections: [] });
  }
}

/** These have no one answer. */
const NO_ONE_ANSWER = /^(?:cards (?:details|exec)|login|mcp|books export|3ds wait|tx tail|3ds watch|webhooks verify)$/;

/** The first example whose answer is nothing but what the command promises as JSON; none where one has been judged. */
function judgedRun(path: string, runs: readonly string[]): string | undefined {
  if (NO_ONE_ANSWER.test(path)) return undefined;
  if (runs.some(run => isJudged(run) && TOLD[run] === undefined)) return undefined;
  return runs.find(run => TOLD[run] === undefined && !/ (?:-o|--fields|--jq|-q)\b/.test(run));
}

/** Runs it with --json and judges the answer, if it gives one. */
async function asJson(here: World, path: string, run: string): Promise<{ run: string; code: number; says: string }> {
  const line = (await asGiven(here, run)).replace(/( <.*)?$/, ' --json$1');
  const { code, out, err } = await pipeline(here, { line, typed: [] }, PIPE);
  const judged = code === 0 && !(out === '' && path === 'audit export');
  if (judged) expect({ line, objections: objections(path, JSON.parse(out)) }).toEqual({ line, objections: [] });
  return { run, code, says: code === 0 ? '' : err };
}

const unchanged = new Map<string, Promise<World>>();

/** One world for all commands that leave it as it is, and before which the same has happened. */
async function lent(path: string): Promise<World> {
  const before = [OF_THE_JOURNAL.test(path) ? 'with a journal' : '', ...(BEFORE[path] ?? [])].join('\n');
  const here = unchanged.get(before) ?? prepared(path);
  unchanged.set(before, here);
  return { ...(await here), [Symbol.asyncDispose]: async () => undefined };
}

afterAll(async () => {
  for (const here of unchanged.values()) await (await here)[Symbol.asyncDispose]();
});

it('every command has two to four of them', () => {
  const others = commands.filter(({ examples }) => examples.length < 2 || examples.length > 4);
  expect(others.map(({ path, examples }) => `${path}: ${examples.length}`)).toEqual([]);
});

describe('the examples of help work, and answer as JSON what is promised', () => {
  it.each(runnable.map(command => [command.path, command.examples.map(({ run }) => run), command] as const))(
    '%s',
    async (path, all, command) => {
      const runs = firstOf(all, { isWhole });
      const opened = () => (leavesNothing(command) ? lent(path) : prepared(path));
      let here = await opened();
      const anew = async () => {
        await here[Symbol.asyncDispose]();
        here = await opened();
      };
      try {
        const run = judgedRun(path, all);
        for (const [index, each] of runs.entries()) {
          if (index > 0 && ANEW.test(path)) await anew();
          if (isWhole || each !== run) await tryOne(here, path, each);
        }
        if (run === undefined || (await asJson(here, path, run)).code === 0) return;
        // The examples have used up what it needs.
        await anew();
        expect(await asJson(here, path, run)).toEqual({ run, code: 0, says: '' });
      } finally {
        await here[Symbol.asyncDispose]();
      }
    },
  );
});
