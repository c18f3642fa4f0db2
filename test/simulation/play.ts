/**
 * Plays a history: persons on their machines type command lines, and go on by what was told: an answer, an exit code, the op
 * that an error names. `judge.ts` judges.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Act, History, Step, Wish } from './history.ts';
import { hostOf } from './host.ts';
import { hintOf, Judge, listOf, opOf, type Ran } from './judge.ts';
import { copyHome, databasesOf, removeHome } from './platform.ts';
import { Postgres } from './postgres.ts';
import type { LibraryClient, Program } from './program.ts';
import { API_KEY, CARD_NUMBER, Service } from './service.ts';
import { Chance, type Machine, Process, World } from './world.ts';

/** What a step typed, and what came of it. */
interface Entry {
  readonly wishes: readonly number[];
  readonly how: 'command' | 'file' | 'library';
  readonly machine: number;
  /** Under the intent of that other wish. */
  readonly named: number | undefined;
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
const APPROVE_ABOVE = '4.00';
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
  readonly stdin?: string;
  /** Without a profile. */
  readonly bare?: boolean;
  /** A person types at a terminal. */
  readonly isTyped?: boolean;
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
    for (const who of [...this.#world.running]) who.end();
    this.#world.database?.close();
    for (const { home } of this.#places) removeHome(home);
  }

  async play(): Promise<void> {
    const { machines, cuts = [], steps } = this.#history;
    for (const n of machines.keys()) await this.#prepare(n);
    this.#world.now = Math.max(this.#world.now, BEGIN);
    this.#service.begin();
    this.#world.database?.begin(cuts);
    let before: Promise<unknown> = Promise.resolve();
    for (const step of steps) {
      if (!step.beside) await before;
      await this.#pause(step.wait);
      const running = this.#step(step);
      before = step.beside ? Promise.all([before, running]) : running;
    }
    await before;
    await this.#pause(SETTLED);
    this.judge.inTheEnd(this.#places.map(({ home }) => home));
    this.#lookForCanaries();
  }

  /** What is done on a machine before anything is meant, while the service is honest. */
  async #prepare(n: number): Promise<void> {
    const { cap, probed, held, shared } = this.#history;
    const dollars = `${cap / 100}.00`;
    const bare = { bare: true };
    const init = (...words: readonly string[]) => this.#run(0, ['journal', 'init', urlOf(0), ...words]);
    if (shared && n === 0)
      await init(
        '--key',
        ...(cap > 0 ? ['--limit', `max_per_day=${dollars}`] : []),
        ...(held ? ['--limit', `approve_above=${APPROVE_ABOVE}`] : []),
      );
    if (!shared && (cap > 0 || held)) {
      const login = `login --profile work --base-url ${ADDRESS} --key-stdin`;
      await this.#run(n, login, { ...bare, stdin: `${API_KEY}\n` });
      if (cap > 0) await this.#run(n, `profiles set work max_per_day ${dollars}`, bare);
      if (held) await this.#run(n, `profiles set work approve_above ${APPROVE_ABOVE}`, bare);
    }
    if (held) await this.#run(n, 'ops keys create', { isTyped: true });
    if (held && shared) await init('--approver', (await this.#run(n, 'ops keys show -q')).out.trim());
    if (probed) await this.#run(n, 'contract check --probe-idempotency --yes --json');
  }

  /** Time that somebody lets pass; what runs goes on meanwhile. */
  async #pause(ms: number): Promise<void> {
    let isOver = false;
    this.#world.after(ms, undefined, () => {
      isOver = true;
    });
    await this.#world.until(() => isOver);
  }

  async #step(step: Step): Promise<void> {
    const { act, machine: n } = step;
    const place = this.#places[n];
    if (place === undefined) return;
    const more = `${act.do === 'repeat' ? ` ${act.as}` : ''}${step.beside ? ', beside' : ''}`;
    this.#count(`somebody goes on: ${act.do}${more}`);
    switch (act.do) {
      case 'buy':
        return this.#buy(step, act, '');
      case 'repeat':
        return this.#repeat(step, act);
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
    copyHome(source.home, place.home);
    place.journal = ++this.#journals;
    this.judge.isCopied(source.journal, place.journal);
    if (act.moves !== true) return;
    // The one that it came from is given up.
    removeHome(source.home);
    mkdirSync(source.home, { mode: 0o700 });
    source.journal = ++this.#journals;
    await this.#run(step.machine, 'journal accept --yes', step);
  }

  async #buy(
    step: Step,
    { wishes, how, named }: Pick<Entry, 'wishes' | 'how'> & { readonly named?: number | undefined },
    more: string,
  ): Promise<void> {
    const [first = 0] = wishes;
    const place = this.#places[step.machine];
    const { change } = this.#history.wishes[first] ?? {};
    // A history that was made shorter may have lost one.
    if (place === undefined || change === undefined || wishes.some(wish => !this.#history.wishes[wish])) return;
    const entry: Entry = { wishes, how, machine: step.machine, named, hints: '' };
    this.#entries.set(step.name, entry);
    const isFile = how === 'file';
    const { journal } = place;
    const meant = this.judge.mean({ wishes, journal, isFile, isAgain: more.includes('--again'), named });
    if (how === 'library') entry.ran = await this.#call(step, first, named);
    else if (!isFile) entry.ran = await this.#run(step.machine, this.#command(first, more, named), step);
    else {
      const file = join(place.home, 'rows.csv');
      const rows = wishes.map(wish => rowOf(this.#history.wishes[wish] as Wish, wish));
      const names = change === 'create' ? 'bin_id,amount,label' : 'card_id,amount';
      writeFileSync(file, `${[names, ...rows].join('\n')}\n`);
      entry.ran = await this.#run(step.machine, `cards ${change} --file ${file}${more} --yes --json`, step);
    }
    this.judge.bought(step, entry.ran, meant, isFile);
  }

  /** `named`: under the intent of that other wish. */
  #command(wish: number, more: string, named?: number): string {
    const { change, dollars, card, intent, named: own = wish } = this.#history.wishes[wish] as Wish;
    const by = intent || named !== undefined ? ` --intent order-${named ?? own}` : '';
    const what = change === 'create' ? `create --bin bin_1 --label wish-${wish}` : `${change} card_${card}`;
    return `cards ${what} --amount ${amountOf(dollars, wish)}${by}${more} --yes --json`;
  }

  async #repeat(step: Step, { of, as: how, extra }: Extract<Act, { do: 'repeat' }>): Promise<void> {
    const entry = this.#entries.get(of);
    const { wishes: all } = this.#history;
    const { wishes: [first = 0] = [] } = entry ?? {};
    if (entry === undefined) return;
    if (how === 'other amounts') {
      const next = (wish: number) => {
        const isSame = (at: number) => all[at]?.change === all[wish]?.change && all[at]?.card === all[wish]?.card;
        const same = [...all.keys()].filter(at => at === wish || isSame(at));
        return same[(same.indexOf(wish) + 1) % same.length] as number;
      };
      const isNamed = entry.how !== 'file' && all[first]?.intent;
      const named = isNamed ? (entry.named ?? all[first]?.named ?? first) : undefined;
      return this.#buy(step, { ...entry, wishes: entry.wishes.map(next), named }, '');
    }
    const isFile = entry.how === 'file';
    const mayAgain = isFile && how === 'with again' && entry.ran?.err.includes('--again') === true;
    if (!isFile || how === 'the same' || how === 'with again')
      return this.#buy(step, entry, mayAgain ? ' --again' : '');
    const isLike = ({ change }: Wish, at: number) => at >= extra % all.length && change === all[first]?.change;
    const another = all.findIndex(isLike);
    const wishes = {
      'one row more': [...entry.wishes, ...(another === -1 ? [] : [another])],
      'first row gone': entry.wishes.slice(1),
      'rows turned round': entry.wishes.toReversed(),
    }[how];
    if (wishes.length > 0) await this.#buy(step, { wishes, how: 'file' }, '');
  }

  async #resume(step: Step, { of, resend }: Extract<Act, { do: 'resume' }>): Promise<void> {
    const place = this.#places[step.machine];
    const entry = this.#entries.get(of);
    if (entry === undefined || place === undefined) return;
    for (const op of await this.#opsOf(entry, step)) {
      const mayResend = resend && entry.hints.includes(`${op} --resend-absent`);
      if (mayResend) this.#count('somebody goes on: resume with --resend-absent');
      const more = `${mayResend ? ' --resend-absent' : ''}${this.#history.shared ? ' --reason away' : ''}`;
      const resumed = this.judge.resumes(op, place.journal, mayResend ? entry.wishes : []);
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
      if (how === 'approve' && (code === 0 || code === undefined)) this.judge.isApproved(op, place.journal);
    }
  }

  /** What a step was told to go on with; or all that this machine has not finished, as whoever was killed was told no name. */
  async #opsOf({ ran, machine }: Entry, step: Step): Promise<string[]> {
    const told = ran && (hintOf(ran) ?? opOf(ran));
    if (told !== undefined && machine === step.machine) return [told];
    const listed = listOf((await this.#run(step.machine, 'ops list --json')).out) as { op: string; state?: string }[];
    return listed.filter(({ state }) => state !== 'finished').map(({ op }) => op);
  }

  #start(n: number, words: readonly string[], { fate, stdin = '', bare = false, isTyped = false }: How) {
    const { machine, home } = this.#places[n] as Place;
    const { shared, cap, held } = this.#history;
    const hasProfile = !shared && (cap > 0 || held);
    const env = {
      CARDWRIGHT_CONFIG_DIR: home,
      TZ: 'UTC',
      HOME: home,
      ...(shared && { CARDWRIGHT_JOURNAL_URL: urlOf(n) }),
      ...(!bare && hasProfile && { CARDWRIGHT_PROFILE: 'work' }),
      ...(!bare && !hasProfile && { CARDWRIGHT_API_KEY: API_KEY, CARDWRIGHT_BASE_URL: ADDRESS }),
    };
    const chance = new Chance(this.#chance.below(2 ** 31));
    const who = new Process({ world: this.#world, machine, home, env, fate, chance });
    const said = { out: '', err: '' };
    const write = (to: 'out' | 'err', text: string) => {
      said[to] += text;
    };
    const host = hostOf(who, { argv: words, stdin, write, isTyped, interrupted: this.#program.interrupted });
    return { who, host, said };
  }

  /** Runs one command line to its end, or to that of its process. */
  async #run(n: number, line: string | readonly string[], how: How = {}): Promise<Ran> {
    const words = typeof line === 'string' ? line.split(' ') : line;
    const { who, host, said } = this.#start(n, words, how);
    return this.#process(who, said, words.join(' '), () => this.#program.run(host));
  }

  /** A program that uses `cardwright/client`: it prints what it got. */
  async #call(step: Step, wish: number, other?: number): Promise<Ran> {
    const { who, said, host } = this.#start(step.machine, [], step);
    const { change, dollars, card, named = wish } = this.#history.wishes[wish] as Wish;
    const amount = Number(amountOf(dollars, wish));
    const input =
      change === 'create' ? { bin_id: 'bin_1', amount, label: `wish-${wish}` } : { card_id: `card_${card}`, amount };
    const intent = `order-${other ?? named}`;
    const { state } = host.folders;
    const journal = this.#history.shared ? { journal: urlOf(step.machine), journalFolder: state } : { journal: state };
    return this.#process(who, said, `library: ${change} ${intent}`, async () => {
      const { createClient } = await this.#program.library();
      const client: LibraryClient = createClient({ baseUrl: ADDRESS, apiKey: API_KEY, ...journal });
      try {
        const answer = await client.send(`cards.${change}`, input, { intent });
        await host.streams.stdout.write(JSON.stringify(answer));
        return 0;
      } catch (thrown) {
        const { outcome, op, message } = thrown as { outcome?: string; op?: string; message: string };
        await host.streams.stderr.write(`${JSON.stringify({ error: { outcome, op, message } })}\n`);
        return { refused: 14, not_sent: 14, done: 15 }[outcome ?? ''] ?? 11;
      } finally {
        await client.close();
      }
    });
  }

  async #process(
    who: Process,
    said: { out: string; err: string },
    line: string,
    work: () => Promise<number>,
  ): Promise<Ran> {
    const world = this.#world;
    const from = world.now;
    let code: number | undefined;
    let isOver = false;
    who.onCrash = thrown => {
      this.judge.break(`${line}: crashes: ${(thrown as Error).stack}`);
      who.kill();
    };
    who.run(line, work, ended => {
      code = ended;
      isOver = true;
    });
    const endless = () => {
      if (isOver) return;
      this.judge.break(`a run does not end: ${line}`);
      who.kill();
    };
    const clock = world.after(FOR_EVER, undefined, endless);
    if (!(await world.until(() => isOver))) endless();
    clock.isOff = true;
    const ran = { who, from, to: world.now, code, ...said };
    this.#count(code === undefined ? 'killed' : `exit ${code}`);
    const text = said.out + said.err;
    this.story.push(
      `${line} -> ${code ?? `killed at effect ${who.effects}`} [${who.effects} effects, ${Math.round(ran.to - from)} ms] ${text.replace(/\s+/g, ' ').slice(0, 600)}`,
    );
    if (code === 1) this.judge.break(`${line}: exit 1: ${said.err}`);
    this.#lookIn(text, `what ${line} prints`);
    return ran;
  }

  #lookIn(text: string | Buffer, where: string): void {
    if (text.includes(API_KEY)) this.judge.break(`canary: ${where} holds the API key`);
    if (text.includes(CARD_NUMBER)) this.judge.break(`canary: ${where} holds a card number`);
  }

  #lookForCanaries(): void {
    for (const { home } of this.#places) {
      for (const entry of readdirSync(home, { withFileTypes: true, recursive: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile() && !path.startsWith(join(home, 'config'))) this.#lookIn(readFileSync(path), entry.name);
      }
      for (const [path, store] of databasesOf(home)) this.#lookIn(store.text(), path);
    }
  }
}

/** The shared journal, as the person of a machine reaches it. */
const urlOf = (machine: number) => `postgres://person${machine + 1}@127.0.0.1/cards`;

const amountOf = (dollars: number, wish: number) => `${dollars}.${String(wish).padStart(2, '0')}`;

function rowOf({ change, dollars, card }: Wish, wish: number): string {
  const amount = amountOf(dollars, wish);
  return change === 'create' ? `bin_1,${amount},wish-${wish}` : `card_${card},${amount}`;
}
