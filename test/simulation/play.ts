/**
 * Plays a history: persons on their machines type command lines, and go on by what was reported: an answer, an exit code, the op
 * that an error names. `judge.ts` judges.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppHost } from '../../src/app/process-host.ts';
import { CARD_NUMBER } from '../support/card-books.ts';
import { hostOf } from '../support/simulated/host.ts';
import { Postgres } from '../support/simulated/postgres.ts';
import type { LibraryClient, Program } from '../support/simulated/program.ts';
import { removeHome } from '../support/simulated/sqlite.ts';
import { Chance, type Machine, Process, World } from '../support/simulated/world.ts';
import { type Act, type Aim, type Buy, FLOOR, type History, type Step, type Wish } from './history.ts';
import { hintOf, Judge, listOf, opOf, type Purchase, type Ran } from './judge.ts';
import { API_KEY, Service } from './service.ts';

/** What a step typed, and what came of it. */
interface Entry {
  readonly wishes: readonly number[];
  readonly machine: number;
  ran?: Ran;
  /** What a resume of it has named as the next step. */
  hints: string;
}

/** A machine with the home of its user. */
interface Place {
  readonly machine: Machine;
  readonly home: string;
  /** Homes with one journal have one number. */
  journal: number;
}

export interface Played {
  /** Broken laws, in words. */
  readonly broken: readonly string[];
  /** What occurred, how often. */
  readonly counts: ReadonlyMap<string, number>;
  /** What was done and said, line by line. */
  readonly story: readonly string[];
}

const ADDRESS = 'http://127.0.0.1:9/v1';
/** ms; nothing takes as long. */
const FOR_EVER = 1_800_000;
/** Every request has come to its end by then. */
const SETTLED = 200_000;
/** ms at which a history begins; what is prepared is prepared before. */
const BEGIN = 60_000;

const base = (() => {
  try {
    return mkdtempSync('/dev/shm/cardwright-simulation-');
  } catch {
    return mkdtempSync(join(tmpdir(), 'cardwright-simulation-'));
  }
})();
process.on('exit', () => rmSync(base, { recursive: true, force: true }));
/** What an administrator has put on all machines. */
const limitsFile = join(base, 'limits.json');

export async function play(program: Program, history: History): Promise<Played> {
  const player = new Player(program, history);
  try {
    await player.play();
  } finally {
    player.clear();
  }
  const { broken } = player.judge;
  return { broken, counts: player.counts, story: player.story };
}

/** How a command line is run. */
interface How {
  readonly fate?: Step['fate'];
  /** A person types at a terminal. */
  readonly isTyped?: boolean;
  /** What it is to buy. */
  readonly meant?: readonly Purchase[];
  /** What its process does in place of that line. */
  readonly work?: (host: AppHost) => Promise<number>;
}

class Player {
  readonly counts = new Map<string, number>();
  readonly story: string[] = [];
  readonly judge: Judge;
  readonly #program: Program;
  readonly #history: History;
  readonly #chance: Chance;
  readonly #world: World;
  readonly #service: Service;
  readonly #places: readonly Place[];
  #journals = 10;
  readonly #entries = new Map<number, Entry>();

  constructor(program: Program, history: History) {
    this.#program = program;
    this.#history = history;
    this.#chance = new Chance(history.noise);
    this.#world = new World(this.#chance, what => this.#count(what));
    this.#service = new Service(this.#world, history.service, history.lies);
    this.#world.service = this.#service;
    if (history.shared) this.#world.database = new Postgres(this.#world);
    this.#places = history.machines.map((ahead, n) => {
      const home = join(base, `home-${n}`);
      mkdirSync(home, { mode: 0o700 });
      const machine = { name: `desk-${n + 1}`, boot: `boot-${n + 1}`, ahead };
      return { machine, home, journal: history.shared ? 0 : n };
    });
    this.judge = new Judge(history, this.#world, this.#service);
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  clear(): void {
    for (const who of this.#world.running) who.end();
    this.#world.database?.close();
    for (const { home } of this.#places) removeHome(home);
    rmSync(limitsFile, { force: true });
  }

  /** Plays it to its end. */
  play(): Promise<void> {
    return this.#world.play(this.#story());
  }

  async #story(): Promise<void> {
    const { machines, lostCommits = [], steps } = this.#history;
    await this.#limit();
    for (const n of machines.keys()) await this.#prepare(n);
    this.#world.now = Math.max(this.#world.now, BEGIN);
    this.#service.begin();
    this.#world.database?.begin(lostCommits);
    let before: Promise<unknown> = Promise.resolve();
    for (const step of steps) {
      if (!step.beside) await before;
      await this.#world.pass(step.wait);
      const running = this.#step(step);
      before = step.beside ? Promise.all([before, running]) : running;
    }
    await before;
    await this.#world.pass(SETTLED);
    this.judge.inTheEnd(this.#places.map(({ home }) => home));
    this.#lookForCanaries();
  }

  /** Limits are rules of the shared journal; else an administrator sets them. */
  async #limit(): Promise<void> {
    const { cap, held, shared } = this.#history;
    const limits = { ...(cap > 0 && { max_per_day: `${cap / 100}.00` }), ...(held && { approve_above: '4.00' }) };
    const rules = Object.entries(limits);
    if (shared) await this.#init('--key', ...rules.flatMap(rule => ['--limit', rule.join('=')]));
    else if (rules.length > 0) writeFileSync(limitsFile, JSON.stringify(limits), { mode: 0o600 });
  }

  #init(...words: readonly string[]): Promise<Ran> {
    return this.#run(0, ['journal', 'init', urlOf(0), ...words]);
  }

  /** What is done on a machine before anything is meant, while the service is honest. */
  async #prepare(n: number): Promise<void> {
    const { probed, held, shared } = this.#history;
    if (held) await this.#run(n, 'ops keys create', { isTyped: true });
    if (held && shared) await this.#init('--approver', (await this.#run(n, 'ops keys show -q')).out.trim());
    if (probed) await this.#run(n, 'contract check --probe-idempotency --yes --json');
  }

  async #step(step: Step): Promise<void> {
    const { act, machine: n } = step;
    const place = this.#places[n];
    if (place === undefined) return;
    const as = 'as' in act ? ` ${act.as}` : '';
    const kind = act.do === 'aim' ? ` ${act.how}` : as;
    this.#count(`somebody goes on: ${act.do}${kind}${step.beside ? ', beside' : ''}`);
    switch (act.do) {
      case 'aim':
        return this.#aim(step, act, place);
      case 'buy':
        return this.#buy(step, act);
      case 'resume':
        return this.#resume(step, act);
      case 'decide':
        return this.#decide(step, act);
      case 'copy':
        return this.#copy(step, act, place);
      case 'state': {
        const ran = await this.#run(n, `cards ${act.change} card_${act.card} --yes --json`, step);
        return this.judge.state(ran, act.change, `card_${act.card}`);
      }
      case 'clock':
        place.machine.ahead += act.ms;
        return;
      case 'reset':
        return this.#service.reset();
      case 'look':
        await this.#run(n, 'ops list --json', step);
        await this.#run(n, 'cards list --json', step);
    }
  }

  async #copy(step: Step, act: Extract<Act, { do: 'copy' }>, place: Place): Promise<void> {
    const source = this.#places[act.from];
    const isUsed = ({ home }: Place) => [...this.#world.running].some(who => who.started.home === home);
    if (source === undefined || source === place || isUsed(place) || isUsed(source)) return;
    removeHome(place.home);
    cpSync(source.home, place.home, { recursive: true, preserveTimestamps: true });
    place.journal = ++this.#journals;
    if (act.moves !== true) return;
    this.judge.isMoved(source.journal, place.journal);
    // The one that it came from is given up.
    removeHome(source.home);
    mkdirSync(source.home, { mode: 0o700 });
    source.journal = ++this.#journals;
    await this.#run(step.machine, 'journal accept --yes', step);
  }

  async #buy(step: Step, { wishes, how, named, again }: Buy): Promise<void> {
    const { change } = this.#history.wishes[wishes[0] ?? 0] ?? {};
    const place = this.#places[step.machine];
    // A history that was made shorter may have lost one.
    if (place === undefined || change === undefined || wishes.some(wish => !this.#history.wishes[wish])) return;
    const entry: Entry = { wishes, machine: step.machine, hints: '' };
    const isFile = how === 'file';
    const isAgain = isFile && again !== undefined && this.#entries.get(again)?.ran?.err.includes('--again') === true;
    const meant = this.judge.mean({ wishes, change, journal: place.journal, isFile, isAgain, named });
    this.#entries.set(step.name, entry);
    const [first = 0] = wishes;
    if (how === 'library') entry.ran = await this.#call({ ...step, meant }, first, named);
    else if (!isFile) entry.ran = await this.#run(step.machine, this.#command(first, named), { ...step, meant });
    else {
      const file = join(place.home, `rows-${wishes.join('-')}.csv`);
      const rows = wishes.map(wish => inputOf(this.#history.wishes[wish] as Wish, wish));
      const lines = [Object.keys(rows[0] ?? {}), ...rows.map(row => Object.values(row))];
      writeFileSync(file, lines.map(cells => `${cells.join()}\n`).join(''));
      const line = `cards ${change} --file ${file}${isAgain ? ' --again' : ''} --yes --json`;
      entry.ran = await this.#run(step.machine, line, { ...step, meant });
    }
    this.judge.bought(step, entry.ran, isFile);
  }

  async #aim(step: Step, act: Aim, { home }: Place): Promise<void> {
    const { how, dollars } = act;
    const amount = `${dollars}.00`;
    const entry: Entry = { wishes: [], machine: step.machine, hints: '' };
    this.#entries.set(step.name, entry);
    this.judge.aims.push(act);
    const from = this.#world.now;
    const [file, plan] = [join(home, `${how}-${dollars}.yaml`), join(home, `plan-${step.name}.json`)];
    if (how === 'policy') writeFileSync(file, POLICY.replaceAll('AMOUNT', amount));
    if (how === 'fleet') {
      writeFileSync(file, FLEET.replaceAll('AMOUNT', amount));
      entry.ran = await this.#run(step.machine, `fleet plan ${file} --out ${plan} --json`);
      if (entry.ran.code !== 0) return;
    }
    const line = {
      fund: `cards fund --where label~long --to ${amount}`,
      withdraw: `cards withdraw --where label~long --to ${amount}`,
      policy: `policy apply ${file} --max-share 100%`,
      fleet: `fleet apply ${file} --plan ${plan}`,
    }[how];
    entry.ran = await this.#run(step.machine, `${line} --yes --json`, { ...step, meant: [] });
    this.judge.aimed(step, act, { ...entry.ran, from });
  }

  /** `named`: under the intent of that other wish. */
  #command(wish: number, named?: number): string {
    const wished = this.#history.wishes[wish] as Wish;
    const { change, card, intent, named: own = wish } = wished;
    const by = intent || named !== undefined ? ` --intent order-${named ?? own}` : '';
    const what = change === 'create' ? `create --bin bin_1 --label wish-${wish}` : `${change} card_${card}`;
    return `cards ${what} --amount ${inputOf(wished, wish).amount}${by} --yes --json`;
  }

  async #resume(step: Step, { of, resend }: Extract<Act, { do: 'resume' }>): Promise<void> {
    const place = this.#places[step.machine];
    const entry = this.#entries.get(of);
    if (entry === undefined || place === undefined) return;
    for (const op of await this.#opsOf(entry, step)) {
      const mayResend = resend && entry.hints.includes(`${op} --resend-absent`);
      if (mayResend) this.#count('somebody goes on: resume with --resend-absent');
      const more = `${mayResend ? ' --resend-absent' : ''}${this.#history.shared ? ' --reason away' : ''}`;
      const resumed = this.judge.resumes(op, mayResend);
      const ran = await this.#run(step.machine, `ops resume ${op}${more} --yes --json`, step);
      entry.hints += ran.err;
      resumed(`step ${step.name}`, ran);
    }
  }

  /** An op that is held is approved, or never will be. Who neither approves nor rejects it has walked away. */
  async #decide(step: Step, { of, as: how }: Extract<Act, { do: 'decide' }>): Promise<void> {
    const place = this.#places[step.machine];
    const entry = this.#entries.get(of);
    if (entry === undefined || place === undefined || !this.#history.held) return;
    for (const op of await this.#opsOf(entry, step)) {
      const words = how === 'reject' ? `ops reject ${op} --reason no` : `ops approve ${op}`;
      const { code } = await this.#run(step.machine, words, { ...step, isTyped: how === 'approve' });
      // It may have been done where nobody can know.
      if (how === 'approve' && [0, 11, undefined].includes(code)) this.judge.isApproved(op);
    }
  }

  /** The op that a step has named; or all that this machine has not finished, as a killed process names no op. */
  async #opsOf({ ran, machine }: Entry, step: Step): Promise<string[]> {
    const named = ran && (hintOf(ran) ?? opOf(ran));
    if (named !== undefined && machine === step.machine) return [named];
    const listed = listOf((await this.#run(step.machine, 'ops list --json')).out) as { op: string; state?: string }[];
    return listed.filter(({ state }) => state !== 'finished').map(({ op }) => op);
  }

  /** Runs one command line to its end, or to that of its process. */
  async #run(n: number, line: string | readonly string[], how: How = {}): Promise<Ran> {
    const { fate, isTyped = false, meant, work = host => this.#program.run(host) } = how;
    const { machine, home } = this.#places[n] as Place;
    const env = {
      CARDWRIGHT_CONFIG_DIR: home,
      TZ: 'UTC',
      HOME: home,
      CARDWRIGHT_API_KEY: API_KEY,
      CARDWRIGHT_BASE_URL: ADDRESS,
      ...(this.#history.shared && { CARDWRIGHT_JOURNAL_URL: urlOf(n) }),
    };
    const world = this.#world;
    const argv = typeof line === 'string' ? line.split(' ') : line;
    const typed = argv.join(' ');
    const chance = new Chance(this.#chance.below(2 ** 31));
    const who = new Process({ world, machine, home, env, fate, chance });
    const said = { out: '', err: '' };
    const write = (to: 'out' | 'err', text: string) => {
      said[to] += text;
    };
    if (meant !== undefined) this.judge.begins(who, meant);
    const host = hostOf(who, { argv, write, isTyped, interrupted: this.#program.interrupted });
    const from = world.now;
    const ends = (why: string) => {
      this.judge.break(`${typed}: ${why}`);
      who.end();
    };
    who.onCrash = thrown => ends(`crashes: ${(thrown as Error).stack}`);
    const clock = world.after(FOR_EVER, undefined, () => ends('does not end'));
    const code = await who.run(typed, () => work(host));
    clock.isOff = true;
    this.#count(code === undefined ? 'killed' : `exit ${code}`);
    const text = said.out + said.err;
    const took = `[${who.effects} effects, ${Math.round(world.now - from)} ms]`;
    this.story.push(`${typed} -> ${code ?? 'killed'} ${took} ${text.replace(/\s+/g, ' ').slice(0, 600)}`);
    if (code === 1) this.judge.break(`${typed}: exit 1: ${said.err}`);
    this.#lookIn(text, `what ${typed} prints`);
    return { who, from, to: world.now, code, ...said };
  }

  /** A program that uses `cardwright/client`: it prints what it got. */
  #call(step: Step & How, wish: number, other?: number): Promise<Ran> {
    const wished = this.#history.wishes[wish] as Wish;
    const { change, named = wish } = wished;
    const intent = `order-${other ?? named}`;
    const work = async ({ folders: { state }, streams }: AppHost) => {
      const { createClient } = await this.#program.library();
      const journal = this.#history.shared
        ? { journal: urlOf(step.machine), journalFolder: state }
        : { journal: state };
      const client: LibraryClient = createClient({ baseUrl: ADDRESS, apiKey: API_KEY, ...journal });
      try {
        const answer = await client.send(`cards.${change}`, inputOf(wished, wish), { intent });
        await streams.stdout.write(JSON.stringify(answer));
        return 0;
      } catch (thrown) {
        const { kind, outcome, op, message } = thrown as { [name in 'kind' | 'outcome' | 'op']?: string } & Error;
        await streams.stderr.write(`${JSON.stringify({ error: { outcome, op, message } })}\n`);
        return kind === 'usage' ? 2 : ({ refused: 14, not_sent: 14, done: 15 }[outcome ?? ''] ?? 11);
      } finally {
        await client.close();
      }
    };
    return this.#run(step.machine, `library: ${change} ${intent}`, { ...step, work });
  }

  #lookIn(text: string | Buffer, where: string): void {
    if (text.includes(API_KEY)) this.judge.break(`canary: ${where} holds the API key`);
    if (text.includes(CARD_NUMBER)) this.judge.break(`canary: ${where} holds a card number`);
  }

  #lookForCanaries(): void {
    for (const { home } of this.#places) {
      for (const entry of readdirSync(home, { withFileTypes: true, recursive: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile()) this.#lookIn(readFileSync(path), entry.name);
      }
    }
  }
}

const POLICY = `version: 1
rules:
  - { name: much, when: { balance: "> AMOUNT" }, then: { withdraw: { keep: AMOUNT } } }
`;
/** A new card, and one that is there. */
const FLEET = `version: 1
fleet: team
caps: { per_apply: 1000.00, cards: 9, wallet_reserve: 0.00 }
cards:
  new: { bin: bin_1, amount: AMOUNT, label: fleet }
  old: { card: card_2, label: long ago 2, floor: ${FLOOR}.00, top_up_to: AMOUNT }
`;

/** The shared journal, as the person of a machine reaches it. */
const urlOf = (machine: number) => `postgres://person${machine + 1}@127.0.0.1/cards`;

/** What is asked for; the cents of its amount are the number of the wish. */
function inputOf({ change, dollars, card }: Wish, wish: number) {
  const amount = dollars + wish / 100;
  return change === 'create' ? { bin_id: 'bin_1', amount, label: `wish-${wish}` } : { card_id: `card_${card}`, amount };
}
