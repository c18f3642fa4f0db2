/**
 * Plays a history and judges it by the books of the service alone. A person types command lines, and goes on by what was
 * told: an answer, an exit code, the op that an error names. Laws are broken in words.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { AppHost } from '../../src/app/process-host.ts';
import { foldersFor } from '../../src/platform/folders.ts';
import type { History, Step, Wish } from './history.ts';
import { as, Chance, closeFiles, effect, isRunning, type Machine, Process, START, sleep, World } from './platform.ts';
import { Postgres } from './postgres.ts';
import type { LibraryClient, Program } from './program.ts';
import { API_KEY, CARD_NUMBER, type Card, type Effect, Service } from './service.ts';

/** What came of one process. `code` is undefined where it was killed. */
interface Ran {
  readonly who: Process;
  readonly from: number;
  readonly to: number;
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
}

/** One purchase that somebody means, and what he was told of it. */
interface Purchase {
  readonly wish: number;
  /** Where it was typed. */
  readonly journal: number;
  /** The journals that know of it: a copy of a home knows what was known before it was made. */
  readonly journals: Set<number>;
  /** The rows of the file that it was meant by; empty where it was typed. */
  readonly file: string;
  /** `open`: nobody was told what became of it. */
  told: 'open' | 'done' | 'no';
  /** Processes at it that run. */
  living: number;
  /** A process at it has sent something. */
  isBegun: boolean;
  /** Resumes of its op that run. */
  resumed: number;
  /** The op that is about it, or `several`. */
  op: string | undefined;
  /** True time at which it was said to be done. */
  doneAt: number;
}

/** What a step typed, and what came of it. */
interface Entry {
  readonly wishes: readonly number[];
  readonly how: 'command' | 'file' | 'library';
  readonly machine: number;
  /** Under the intent of that other wish. */
  readonly named: number | undefined;
  ran?: Ran;
}

/** A machine with the home of its user. */
interface Place {
  readonly machine: Machine;
  readonly home: string;
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

const base = (() => {
  try {
    return mkdtempSync('/dev/shm/cardwright-simulation-');
  } catch {
    return mkdtempSync(join(tmpdir(), 'cardwright-simulation-'));
  }
})();
process.on('exit', () => rmSync(base, { recursive: true, force: true }));

/** ms at which a history begins; what is prepared is prepared before. */
const BEGIN = 60_000;
/** Exit codes that promise that nothing happened. */
const NOTHING = new Set([2, 3, 4, 5, 6, 7, 10, 12, 14, 17]);

export async function play(program: Program, history: History): Promise<Played> {
  const player = new Player(program, history);
  try {
    await player.play();
  } finally {
    player.clear();
  }
  return player;
}

class Player implements Played {
  readonly broken: string[] = [];
  readonly counts = new Map<string, number>();
  readonly story: string[] = [];
  readonly #chance: Chance;
  readonly #world: World;
  readonly #service: Service;
  readonly #machines: Place[];
  readonly #purchases: Purchase[] = [];
  /** What each op is about, where it was told its name. */
  readonly #ops = new Map<string, readonly Purchase[]>();
  #journals = 10;
  /** What each step typed and what came of it. */
  readonly #done = new Map<number, Entry>();
  readonly #excused = new Set<number>();
  /** How often an op with that wish was approved. */
  readonly #approved = new Map<number, number>();

  readonly program: Program;
  readonly history: History;
  constructor(program: Program, history: History) {
    this.program = program;
    this.history = history;
    this.#chance = new Chance(history.noise);
    const count = (what: string) => this.#count(what);
    this.#world = new World(this.#chance, count);
    this.#service = new Service(this.#world, history.service, history.lies, count);
    this.#world.listener = this.#service;
    this.#machines = history.machines.map((ahead, n) => {
      const home = join(base, `home-${n}`);
      mkdirSync(home, { mode: 0o700 });
      return {
        machine: { name: `desk-${n + 1}`, boot: `boot-${n + 1}`, ahead },
        home,
        journal: history.shared ? 0 : n,
      };
    });
    if (history.shared) this.#world.database = new Postgres(this.#world, join(base, 'shared.db'), count);
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  clear(): void {
    for (const who of [...this.#world.running]) who.end();
    this.#world.database?.close();
    for (const { home } of this.#machines) {
      closeFiles(home);
      rmSync(home, { recursive: true, force: true });
    }
  }

  async play(): Promise<void> {
    for (const n of this.history.machines.keys()) await this.#prepare(n);
    this.#world.now = Math.max(this.#world.now, BEGIN);
    this.#service.begin();
    this.#world.database?.begin(this.history.cuts ?? []);
    let before: Promise<void> = Promise.resolve();
    for (const step of this.history.steps) {
      if (!step.beside) await before;
      await this.#pause(step.wait);
      const running = this.#step(step);
      before = step.beside ? Promise.all([before, running]).then(() => undefined) : running;
    }
    await before;
    await this.#pause(SETTLED);
    this.#judgeCounts('in the end');
    this.#judgeSpending();
    this.#judgeApprovals();
    this.#judgeFiles();
  }

  /** What is done on a machine before anything is meant, while the service is honest. */
  async #prepare(n: number): Promise<void> {
    const { cap, probed, held, shared } = this.history;
    if (shared) await this.#share(n);
    else if (cap > 0 || held) {
      await this.#run(n, `login --profile work --base-url ${ADDRESS} --key-stdin`, {
        stdin: `${API_KEY}\n`,
        bare: true,
      });
      if (cap > 0) await this.#run(n, `profiles set work max_per_day ${cap / 100}.00`, { bare: true });
    }
    if (held && !shared) {
      await this.#run(n, `profiles set work approve_above ${APPROVE_ABOVE}`, { bare: true });
      await this.#run(n, 'ops keys create', { isTyped: true });
    }
    if (probed) await this.#run(n, 'contract check --probe-idempotency --yes --json');
  }

  /** The journal is made by the first machine, with its limits and everybody's keys. */
  async #share(n: number): Promise<void> {
    const { cap, held } = this.history;
    const more = [
      ...(cap > 0 ? [`--limit max_per_day=${cap / 100}.00`] : []),
      ...(held ? [`--limit approve_above=${APPROVE_ABOVE}`] : []),
    ];
    const init = (words: readonly string[]) => this.#run(0, ['journal init', urlOf(0), ...words].join(' '));
    if (n === 0) await init(['--key', ...more]);
    if (!held) return;
    await this.#run(n, 'ops keys create', { isTyped: true });
    const { out } = await this.#run(n, 'ops keys show -q');
    await this.#run(0, ['journal', 'init', urlOf(0), '--approver', out.trim()]);
  }

  /** Time that somebody lets pass; what runs goes on meanwhile. */
  async #pause(ms: number): Promise<void> {
    let isOver = false;
    this.#world.after(ms, undefined, () => {
      isOver = true;
    });
    await this.#turns.until(() => isOver);
  }

  /** The one loop of time: whoever waits for something lets it run until that is so. */
  readonly #turns = {
    waiting: new Set<{ isOver: () => boolean; resolve: () => void }>(),
    isTurning: false,
    until: (isOver: () => boolean): Promise<void> =>
      new Promise(resolve => {
        this.#turns.waiting.add({ isOver, resolve });
        if (!this.#turns.isTurning) void this.#turn();
      }),
  };

  async #turn(): Promise<void> {
    const { waiting } = this.#turns;
    this.#turns.isTurning = true;
    while (waiting.size > 0) {
      const went = await this.#world.until(() => [...waiting].some(({ isOver }) => isOver()));
      if (!went) for (const who of [...this.#world.running]) this.#endless(who);
      for (const each of [...waiting]) {
        if (went && !each.isOver()) continue;
        waiting.delete(each);
        each.resolve();
      }
      // Whoever waited says what comes next.
      await new Promise(resolve => setImmediate(resolve));
    }
    this.#turns.isTurning = false;
  }

  #endless(who: Process): void {
    this.#break(`a run does not end: ${who.line}`);
    who.kill();
  }

  async #step(step: Step): Promise<void> {
    const { act, machine: n } = step;
    const place = this.#machines[n];
    if (place === undefined) return;
    this.#count(
      `somebody goes on: ${act.do}${act.do === 'repeat' ? ` ${act.as}` : ''}${step.beside ? ', beside' : ''}`,
    );
    switch (act.do) {
      case 'buy':
        return this.#buy(step, act.wishes, act.how, '');
      case 'repeat':
        return this.#repeat(step, act);
      case 'resume':
        return this.#resume(step, act);
      case 'state': {
        const card = this.#service.cards.get(`card_${act.card}`);
        const from = this.#world.now;
        const ran = await this.#run(n, `cards ${act.change} card_${act.card} --yes --json`, step);
        return this.#judgeState(ran, act.change, card, from);
      }
      case 'copy': {
        const source = this.#machines[act.from];
        const isUsed = ({ home }: Place) => [...this.#world.running].some(who => who.home === home);
        if (source === undefined || source === place || isUsed(place) || isUsed(source)) return;
        closeFiles(place.home);
        rmSync(place.home, { recursive: true, force: true });
        cpSync(source.home, place.home, { recursive: true, preserveTimestamps: true });
        place.journal = ++this.#journals;
        for (const { journals } of this.#purchases) if (journals.has(source.journal)) journals.add(place.journal);
        if (act.moves !== true) return;
        // The one that it came from is given up.
        closeFiles(source.home);
        rmSync(source.home, { recursive: true, force: true });
        mkdirSync(source.home, { mode: 0o700 });
        source.journal = ++this.#journals;
        await this.#run(n, 'journal accept --yes', step);
        return;
      }
      case 'clock':
        place.machine.ahead += act.ms;
        return;
      case 'decide':
        return this.#decide(step, act);
      case 'reset':
        return this.#service.reset();
      case 'look':
        await this.#run(n, 'ops list --json', step);
        await this.#run(n, 'cards list --json', step);
    }
  }

  /** `named`: under the intent of that other wish. */
  #command(wish: number, more: string, named?: number): string {
    const { change, dollars, card, intent, named: own = wish } = this.history.wishes[wish] as Wish;
    const amount = amountOf(dollars, wish);
    const by = intent || named !== undefined ? ` --intent order-${named ?? own}` : '';
    const what = change === 'create' ? `create --bin bin_1 --label wish-${wish}` : `${change} card_${card}`;
    return `cards ${what} --amount ${amount}${by}${more} --yes --json`;
  }

  async #buy(
    step: Step,
    wishes: readonly number[],
    how: 'command' | 'file' | 'library',
    more: string,
    named?: number,
  ): Promise<void> {
    const [first = 0] = wishes;
    const place = this.#machines[step.machine];
    const { change } = this.history.wishes[first] ?? {};
    if (place === undefined || change === undefined) return;
    const entry: Entry = { wishes, how, machine: step.machine, named };
    this.#done.set(step.name, entry);
    const file = how === 'file' ? wishes.toSorted().join() : '';
    const meant: Purchase[] = [];
    for (const wish of wishes)
      meant.push(this.#mean(wish, place.journal, file, more.includes('--again'), meant, named));
    let ran: Ran;
    if (how === 'library') ran = await this.#call(step, first, named);
    else if (how === 'command') ran = await this.#run(step.machine, this.#command(first, more, named), step);
    else {
      const file = join(place.home, 'rows.csv');
      const rows = wishes.map(wish => rowOf(this.history.wishes[wish] as Wish, wish));
      const names = change === 'create' ? 'bin_id,amount,label' : 'card_id,amount';
      writeFileSync(file, `${[names, ...rows].join('\n')}\n`);
      ran = await this.#run(step.machine, `cards ${change} --file ${file}${more} --yes --json`, step);
    }
    entry.ran = ran;
    for (const purchase of meant) {
      purchase.living -= 1;
      purchase.isBegun ||= ran.who.writes > 0;
    }
    // A guard that says how to go on with an op names that of somebody else.
    const op = hintOf(ran) === undefined ? (errorOf(ran).op ?? pageOf(ran).op) : undefined;
    if (op !== undefined) {
      this.#ops.set(op, meant);
      // What was open before may have been done by an earlier op: no later one can say no to it.
      for (const each of meant) each.op = each.op === op || !this.#wasOpen.has(each) ? op : 'several';
    }
    this.#hear(ran, meant, how === 'file' ? 'file' : 'command');
    if (how !== 'file') this.#judgeNumbers(ran, first);
    this.#judgeCounts(`step ${step.name}`);
    if (this.#isHonest() && !ran.who.wasKilled) this.#judgeCalm(step, ran, meant);
  }

  /**
   * Whoever goes on with what nobody was told of means the purchase he meant before. So does who runs the same file again
   * within a day, however it ended.
   */
  #mean(
    wish: number,
    journal: number,
    file: string,
    again: boolean,
    taken: readonly Purchase[],
    named: number | undefined,
  ): Purchase {
    const intent = (this.history.wishes[wish] as Wish).intent || named !== undefined;
    const known = this.#purchases.filter(
      each => each.wish === wish && each.journal === journal && !taken.includes(each),
    );
    const isOfFile = (each: Purchase) =>
      file !== '' && each.file === file && this.#world.now - each.doneAt < 24 * 3_600_000;
    // Whoever types a command beside its resume may come before the end of that or behind it; a file is the same file.
    // What left nothing is not known to another file, or to a command.
    const isSame = ({ told, living, resumed, isBegun, file: by }: Purchase) =>
      told === 'open' && living === 0 && (resumed === 0 || file !== '') && (isBegun || by === file);
    const same =
      intent && file === ''
        ? known.find(each => each.file === '')
        : again
          ? undefined
          : known.find(each => isSame(each) || (each.told === 'done' && each.living === 0 && isOfFile(each)));
    if (same !== undefined) {
      same.living += 1;
      if (same.told === 'no') same.told = 'open';
      return same;
    }
    const purchase: Purchase = {
      wish,
      journal,
      journals: new Set([journal]),
      op: undefined,
      file,
      told: 'open',
      living: 1,
      isBegun: false,
      resumed: 0,
      doneAt: Number.POSITIVE_INFINITY,
    };
    this.#purchases.push(purchase);
    return purchase;
  }

  /** What a process has told of these purchases. */
  #hear(ran: Ran, meant: readonly Purchase[], by: 'command' | 'file' | { readonly op: string }): void {
    const printed = jsonOf(ran.out);
    const rows = Array.isArray(printed['data']) ? (printed['data'] as Row[]) : [];
    const { outcome } = errorOf(ran);
    const whole =
      ran.code === 0 || (ran.code === undefined && by === 'command' && ran.out !== '')
        ? 'done'
        : ran.code !== undefined && NOTHING.has(ran.code)
          ? 'no'
          : outcome === 'refused' || outcome === 'not_sent'
            ? 'no'
            : outcome === 'done'
              ? 'done'
              : 'open';
    const left = [...meant];
    const found: Purchase[] = [];
    const tell = (purchase: Purchase, told: Purchase['told']) => {
      // A no is one of this command alone, where others are at it or it was open before.
      if (told === 'done') {
        purchase.told = 'done';
        purchase.doneAt = Math.min(purchase.doneAt, this.#world.now);
      } else if (told === 'no') {
        const isFinal = typeof by === 'object' ? (purchase.op ?? by.op) === by.op : !this.#wasOpen.has(purchase);
        const isAlone = purchase.living === 0 && purchase.resumed === 0;
        if (purchase.told === 'open' && isAlone && isFinal) purchase.told = 'no';
      } else if (purchase.told === 'open') this.#wasOpen.add(purchase);
    };
    for (const row of rows) {
      const cents = typeof row.amount === 'number' ? Math.round(row.amount * 100) % 100 : -1;
      const at = left.findIndex(({ wish }) => wish === cents);
      const [purchase] = at === -1 ? [] : left.splice(at, 1);
      if (purchase === undefined) continue;
      found.push(purchase);
      tell(purchase, TOLD[String(row.outcome)] ?? 'open');
    }
    // Whoever was killed was told no name: the rows of its op say which purchases it is about.
    if (typeof by === 'object' && found.length > 0 && !this.#ops.has(by.op)) this.#ops.set(by.op, found);
    for (const purchase of left) tell(purchase, rows.length > 0 && whole === 'done' ? 'open' : whole);
  }
  readonly #wasOpen = new Set<Purchase>();

  async #repeat(step: Step, { of, as: how, extra }: Extract<Step['act'], { do: 'repeat' }>): Promise<void> {
    const entry = this.#done.get(of);
    if (entry === undefined) return;
    const another = this.history.wishes.findIndex(
      ({ change }, at) =>
        at >= extra % this.history.wishes.length && change === this.history.wishes[entry.wishes[0] ?? 0]?.change,
    );
    const isNamed = (entry.ran?.err ?? '').includes('--again');
    if (how === 'other amounts') {
      const { wishes: all } = this.history;
      const next = (wish: number) => {
        const same = [...all.keys()].filter(
          at => all[at]?.change === all[wish]?.change && (at === wish || all[at]?.card === all[wish]?.card),
        );
        return same[(same.indexOf(wish) + 1) % same.length] as number;
      };
      const [first = 0] = entry.wishes;
      const named =
        entry.how !== 'file' && all[first]?.intent ? (entry.named ?? all[first]?.named ?? first) : undefined;
      return this.#buy(step, entry.wishes.map(next), entry.how, '', named);
    }
    if (how === 'with again')
      return this.#buy(step, entry.wishes, entry.how, isNamed && entry.how === 'file' ? ' --again' : '', entry.named);
    if (how === 'the same' || entry.how !== 'file') return this.#buy(step, entry.wishes, entry.how, '', entry.named);
    const wishes = {
      'one row more': [...entry.wishes, ...(another === -1 ? [] : [another])],
      'first row gone': entry.wishes.slice(1),
      'rows turned round': entry.wishes.toReversed(),
    }[how];
    if (wishes.length > 0) await this.#buy(step, wishes, 'file', '');
  }

  async #resume(step: Step, { of, resend }: Extract<Step['act'], { do: 'resume' }>): Promise<void> {
    const place = this.#machines[step.machine];
    const entry = this.#done.get(of);
    if (entry === undefined || place === undefined) return;
    for (const op of await this.#opsOf(entry, step)) {
      const known = this.#known(op, place);
      // Rows that were not sent are sent now.
      const anew = known.filter(each => each.told === 'no');
      for (const purchase of anew) purchase.told = 'open';
      const flag = resend && (entry.ran?.err ?? '').includes('--resend-absent') ? ' --resend-absent' : '';
      if (flag !== '') for (const wish of entry.wishes) this.#excused.add(wish);
      for (const purchase of known) purchase.resumed += 1;
      const ran = await this.#run(
        step.machine,
        `ops resume ${op}${flag}${this.history.shared ? ' --reason away' : ''} --yes --json`,
        step,
      );
      for (const purchase of known) purchase.resumed -= 1;
      if (ran.code !== undefined && NOTHING.has(ran.code)) for (const purchase of anew) purchase.told = 'no';
      if (Array.isArray(jsonOf(ran.out)['data'])) this.#hear({ ...ran, code: undefined, err: '' }, known, { op });
      else for (const purchase of anew) if (purchase.told === 'open') this.#wasOpen.add(purchase);
      this.#judgeCounts(`step ${step.name}`);
    }
  }

  /** An op that is held is approved, or never will be. Who neither approves nor rejects it has walked away. */
  async #decide(step: Step, { of, as: how }: Extract<Step['act'], { do: 'decide' }>): Promise<void> {
    const place = this.#machines[step.machine];
    const entry = this.#done.get(of);
    if (entry === undefined || place === undefined || !this.history.held) return;
    for (const op of await this.#opsOf(entry, step)) {
      const words = how === 'reject' ? `ops reject ${op} --reason no` : `ops approve ${op}`;
      const ran = await this.#run(step.machine, words, { ...step, isTyped: how === 'approve' });
      if (how === 'reject' || (ran.code !== 0 && ran.code !== undefined)) continue;
      for (const purchase of this.#known(op, place)) {
        this.#approved.set(purchase.wish, (this.#approved.get(purchase.wish) ?? 0) + 1);
        if (purchase.told === 'no') purchase.told = 'open';
        this.#wasOpen.add(purchase);
      }
    }
  }

  /** What a step was told to go on with, or all that this machine has not finished. */
  async #opsOf({ ran, machine }: Entry, step: Step): Promise<string[]> {
    const told = hintOf(ran) ?? errorOf(ran).op ?? pageOf(ran).op;
    return told === undefined || machine !== step.machine ? this.#unfinished(step) : [told];
  }

  /** The purchases that an op is about; where nobody was told its name, those of which nobody knows. */
  #known(op: string, { journal }: Place): readonly Purchase[] {
    const named = new Set([...this.#ops.values()].flat());
    // A database that went away says no to what was claimed, and names no op.
    const isOff = ({ told, op: by }: Purchase) => this.history.shared && told === 'no' && by === undefined;
    return (
      this.#ops.get(op) ??
      this.#purchases.filter(
        each => each.journals.has(journal) && !named.has(each) && (each.told === 'open' || isOff(each)),
      )
    );
  }

  /** Ops that this machine has not finished; whoever was killed was told no name. */
  async #unfinished(step: Step): Promise<string[]> {
    const listed = jsonOf((await this.#run(step.machine, 'ops list --json')).out)['data'];
    return (Array.isArray(listed) ? (listed as { op: string; state?: string }[]) : [])
      .filter(({ state }) => state !== 'finished')
      .map(({ op }) => op);
  }

  #host(n: number, words: string | readonly string[], { fate, stdin = '', bare = false, isTyped = false }: How) {
    const place = this.#machines[n] as Place;
    const env = {
      CARDWRIGHT_CONFIG_DIR: place.home,
      TZ: 'UTC',
      HOME: place.home,
      ...(this.history.shared ? { CARDWRIGHT_JOURNAL_URL: urlOf(n) } : {}),
      ...(bare
        ? {}
        : !this.history.shared && (this.history.cap > 0 || this.history.held)
          ? { CARDWRIGHT_PROFILE: 'work' }
          : { CARDWRIGHT_API_KEY: API_KEY, CARDWRIGHT_BASE_URL: ADDRESS }),
    };
    const who = new Process(this.#world, place.machine, place.home, env, fate, new Chance(this.#chance.below(2 ** 31)));
    const said = { out: '', err: '' };
    const stream = (name: 'out' | 'err') => ({
      isTerminal: isTyped,
      columns: isTyped ? 100 : undefined,
      closed: false,
      write: (given: string | Uint8Array) =>
        effect(() => {
          said[name] += typeof given === 'string' ? given : Buffer.from(given).toString();
        }),
    });
    const stopping = new AbortController();
    const cutting = new AbortController();
    const random = { bytes: (count: number) => who.chance.bytes(count), fraction: () => who.chance.fraction() };
    const { input, output } = typist(this.#world, who);
    who.onInterrupt = () => stopping.abort(this.program.interrupted());
    const host: AppHost = {
      argv: typeof words === 'string' ? words.split(' ') : words,
      env,
      streams: {
        stdin: { isTerminal: isTyped, readAll: async () => stdin, readBytes: async () => Buffer.from(stdin) },
        stdout: stream('out'),
        stderr: stream('err'),
      },
      clock: { now: () => who.wall(), monotonic: () => this.#world.now, sleep },
      random,
      folders: foldersFor({ env, platform: 'linux', home: place.home, temporary: place.home }),
      platform: 'linux',
      pid: who.pid,
      cwd: place.home,
      signal: stopping.signal,
      promptInput: input,
      promptOutput: output,
      openSandbox: async () => {
        throw new Error('nobody asked for a sandbox');
      },
      readFile: path => effect(() => readFileSync(path, 'utf8'), false),
      isRunning,
      openKeys: () => ({ next: async () => 'q', close: () => undefined }),
      writeTerminal: () => undefined,
      onCrash: () => () => undefined,
      noise: random,
      scrypt: (_words, _salt, length) => Buffer.alloc(length),
      user: 'tester',
      machine: place.machine.name,
      execArgv: [],
      inspected: () => false,
      node: undefined,
      program: ['cardwright'],
      keepSmall: () => undefined,
      keepSmallAtOnce: async () => undefined,
      nodeVersion: process.versions.node,
      codeCache: undefined,
      programFolders: [],
      limitsFile: { path: join(place.home, 'managed', 'limits.json'), administrator: 0, platform: 'linux' },
      cut: cutting.signal,
      holdCut: () => () => undefined,
      handOver: () => () => undefined,
      keychain: async () => ({
        problem: async () => 'there is no session bus',
        read: async () => undefined,
        write: async () => 'refused',
        remove: async () => undefined,
      }),
    };
    return { who, host, said };
  }

  /** Runs one command line to its end, or to that of its process. */
  async #run(n: number, line: string | readonly string[], how: How = {}): Promise<Ran> {
    const { who, host, said } = this.#host(n, line, how);
    return this.#process(who, said, [line].flat().join(' '), () => this.program.run(host));
  }

  /** A program that uses `cardwright/client`: it prints what it got. */
  async #call(step: Step, wish: number, other?: number): Promise<Ran> {
    const { who, said, host } = this.#host(step.machine, '', step);
    const { change, dollars, card, named = wish } = this.history.wishes[wish] as Wish;
    const amount = Number(amountOf(dollars, wish));
    const input =
      change === 'create' ? { bin_id: 'bin_1', amount, label: `wish-${wish}` } : { card_id: `card_${card}`, amount };
    return this.#process(who, said, `library: ${change} order-${other ?? named}`, async () => {
      const { createClient } = await this.program.library();
      const client: LibraryClient = createClient({
        baseUrl: ADDRESS,
        apiKey: API_KEY,
        ...(this.history.shared
          ? { journal: urlOf(step.machine), journalFolder: host.folders.state }
          : { journal: host.folders.state }),
      });
      try {
        const answer = await client.send(`cards.${change}`, input, { intent: `order-${other ?? named}` });
        await host.streams.stdout.write(JSON.stringify(answer));
        return 0;
      } catch (thrown) {
        const { outcome, op, message } = thrown as { outcome?: string; op?: string; message: string };
        await host.streams.stderr.write(`${JSON.stringify({ error: { outcome, op, message } })}\n`);
        return outcome === 'refused' || outcome === 'not_sent' ? 14 : 11;
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
    const from = this.#world.now;
    let code: number | undefined;
    let isOver = false;
    who.onDeath = () => {
      isOver = true;
    };
    who.onCrash = thrown => {
      this.#break(`${line}: crashes: ${(thrown as Error).stack}`);
      who.kill();
    };
    who.line = line;
    this.#world.running.add(who);
    this.#world.after(FOR_EVER, undefined, () => void (who.isDead || this.#endless(who)));
    this.#world.after(0, who, () => {
      void as(who, work).then(
        ended => {
          if (who.isDead) return;
          code = ended;
          isOver = true;
          who.end();
        },
        (thrown: unknown) => {
          if (who.isDead) return;
          this.broken.push(`${line}: throws ${(thrown as Error).stack}`);
          isOver = true;
          who.end();
        },
      );
    });
    await this.#turns.until(() => isOver);
    // Whoever should have died has told nobody.
    if (who.wasKilled) code = undefined;
    const ran = { who, from, to: this.#world.now, code, ...said };
    this.#count(code === undefined ? 'killed' : `exit ${code}`);
    this.story.push(
      `${line} -> ${code ?? `killed at effect ${who.effects}`} [${who.effects} effects, ${Math.round(ran.to - from)} ms] ${(said.out + said.err).replace(/\s+/g, ' ').slice(0, 600)}`,
    );
    if (code === 1) this.broken.push(`${line}: exit 1: ${said.err}`);
    const text = said.out + said.err;
    if (text.includes(API_KEY)) this.broken.push(`${line}: prints the API key`);
    if (text.includes(CARD_NUMBER)) this.broken.push(`${line}: prints a card number`);
    return ran;
  }

  // The laws

  #judgeCounts(when: string): void {
    for (const wish of this.history.wishes.keys()) {
      const all = this.#effectsOf(wish);
      // What was done before the sandbox was set back is gone, and may be done anew.
      const effects = all.filter(({ epoch }) => epoch === this.#service.epoch).length;
      const own = this.#purchases.filter(each => each.wish === wish);
      const done = own.filter(({ told }) => told === 'done').length;
      const most =
        own.filter(({ told, living }) => told !== 'no' || living > 0).length + (this.#excused.has(wish) ? 1 : 0);
      // Two journals that do not know of each other cannot tell their equal transfers of one card apart: each sees that it moved.
      const isMixed = !this.#isCreate(wish) && new Set(own.map(({ journal }) => journal)).size > 1;
      if (all.length < done && !isMixed)
        this.#break(`${when}: wish ${wish} was said to be done ${done} times, and happened ${all.length} times`);
      if (effects > most) {
        const refused = own.length - most;
        this.#break(
          `${when}: wish ${wish} happened ${effects} times, and was meant ${most} times${refused > 0 ? `; ${refused} were said not to have happened` : ''}`,
        );
      }
    }
  }

  #effectsOf(wish: number): readonly Effect[] {
    return this.#service.effects.filter(({ change, cents }) => isMoney(change) && cents % 100 === wish);
  }

  #isCreate(wish: number): boolean {
    return this.history.wishes[wish]?.change === 'create';
  }

  #break(what: string): void {
    if (!this.broken.some(said => said.slice(said.indexOf(':')) === what.slice(what.indexOf(':'))))
      this.broken.push(what);
  }

  /** Balances and ids that exit 0 prints are those of the books, as they were while it ran or a little before. */
  #judgeNumbers(ran: Ran, wish: number): void {
    // An intent tells what was done before the sandbox was set back.
    const isReset = this.#service.epoch > 0 && (this.#service.resetAt >= ran.from || this.history.wishes[wish]?.intent);
    if (ran.code !== 0 || isReset) return;
    const printed = jsonOf(ran.out);
    const { change, card: n } = this.history.wishes[wish] as Wish;
    const id = change === 'create' ? String(printed['id']) : `card_${n}`;
    const card = this.#service.cards.get(id);
    if (change === 'create' && card?.label !== `wish-${wish}`) {
      this.#break(`numbers: ${id} is printed as the card of wish ${wish}`);
      return;
    }
    const since = ran.from - 13_000;
    const were = (list: readonly { until: number; cents: number }[], now: number) =>
      new Set([...list.filter(({ until }) => until >= since).map(({ cents }) => cents), now]);
    const check = (name: string, values: ReadonlySet<number>) => {
      const shown = printed[name];
      if (typeof shown === 'number' && !values.has(Math.round(shown * 100)))
        this.#break(`numbers: ${name} ${shown} was never so`);
    };
    if (card === undefined) return;
    check(change === 'create' ? 'balance' : 'card_balance', were(card.before, card.cents));
    check('wallet_balance', were(this.#service.wallets, this.#service.wallet));
  }

  #judgeState(ran: Ran, change: 'freeze' | 'unfreeze' | 'terminate', card: Card | undefined, from: number): void {
    if (card === undefined || ran.code === undefined || this.#service.resetAt >= from) return;
    const wanted = { freeze: 'frozen', unfreeze: 'active', terminate: 'terminated' }[change];
    const was =
      card.status === wanted || card.before.some(({ until, status }) => until >= from - 13_000 && status === wanted);
    if (ran.code === 0 && !was) this.#break(`state: ${change} ends with 0, and ${card.id} was not ${wanted}`);
    const own = this.#service.effects.some(({ who }) => who === ran.who);
    if (NOTHING.has(ran.code) && own)
      this.#break(`state: ${change} ends with ${ran.code}, and it has changed ${card.id}`);
  }

  /** With an honest service and nobody in the way nothing is unknown, and all that is meant happens. */
  #judgeCalm(step: Step, ran: Ran, meant: readonly Purchase[]): void {
    const mayFail = this.history.cap > 0 || this.history.held || this.history.service.wallet < 100_000;
    // Beside a refusal a balance that another journal has moved says that it may have been done.
    if (ran.code === 11 && (this.history.machines.length === 1 || this.history.shared))
      this.#break(`calm: step ${step.name} says "unknown" of an honest service`);
    // A file that was done before is refused, whatever it means.
    const isFirst = meant.every(
      ({ wish: of, doneAt }) => this.#purchases.filter(({ wish }) => wish === of).length === 1 && !(doneAt <= ran.from),
    );
    if (isFirst && ran.code !== 0 && !mayFail && step.act.do === 'buy')
      this.#break(`calm: step ${step.name} ends with ${ran.code}`);
  }

  #isHonest(): boolean {
    const { lies, steps, service } = this.history;
    const { behind } = service;
    return (
      lies.length === 0 &&
      service.others.length === 0 &&
      (this.history.cuts ?? []).length === 0 &&
      steps.every(({ fate, act }) => fate === undefined && act.do !== 'reset') &&
      Object.values(behind).every(ms => ms === 0)
    );
  }

  #judgeSpending(): void {
    const { cap } = this.history;
    // With its journal a machine forgets what it has spent.
    if (cap === 0 || (!this.history.shared && this.history.steps.some(({ act }) => act.do === 'copy'))) return;
    for (const { home } of this.#machines) {
      const days = new Map<number, number>();
      for (const { change, cents, who, at } of this.#service.effects) {
        // A program that uses the library has no profile, and none of its caps.
        const isOthers = !this.history.shared && (who.home !== home || who.line.startsWith('library'));
        if (isOthers || (change !== 'create' && change !== 'fund')) continue;
        const day = Math.floor((START + at) / 86_400_000);
        days.set(day, (days.get(day) ?? 0) + cents);
      }
      for (const spent of days.values())
        if (spent > cap) this.#break(`cap: ${spent} of ${cap} cents were spent on one day`);
    }
  }

  /** What was held is done no more often than it was approved. A program that uses the library has no profile, and no rule of one. */
  #judgeApprovals(): void {
    if (!this.history.held) return;
    for (const [wish, { change }] of this.history.wishes.entries()) {
      const done = this.#effectsOf(wish).filter(
        ({ who }) => this.history.shared || !who.line.startsWith('library'),
      ).length;
      const approved = this.#approved.get(wish) ?? 0;
      if (change !== 'withdraw' && done > approved)
        this.#break(`approval: wish ${wish} happened ${done} times, and was approved ${approved} times`);
    }
  }

  #judgeFiles(): void {
    const look = (folder: string): void => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) {
          if (entry.name !== 'config') look(path);
        } else if (entry.isFile()) {
          const bytes = readFileSync(path);
          if (bytes.includes(API_KEY)) this.#break(`files: ${entry.name} holds the API key`);
          if (bytes.includes(CARD_NUMBER)) this.#break(`files: ${entry.name} holds a card number`);
        }
      }
    };
    for (const { home } of this.#machines) look(home);
  }
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

const APPROVE_ABOVE = '4.00';
/** The shared journal, as the person of a machine reaches it. */
const urlOf = (machine: number) => `postgres://person${machine + 1}@127.0.0.1/cards`;

/** A person at a terminal types the amount that a question names, and to all other questions a passphrase. */
function typist(world: World, who: Process) {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns: 1000, end: () => output });
  let isAsked = false;
  output.on('data', chunk => {
    const drawn = String(chunk);
    const question = drawn.slice(Math.max(0, drawn.lastIndexOf('\x1b[2K'))).replace(/\x1b\[[?\d;]*[A-Za-z]/g, '');
    if (question.includes('\n')) isAsked = false;
    else if (!isAsked && question.startsWith('?')) {
      isAsked = true;
      const amount = /\$([\d.]+)/.exec(question)?.[1];
      world.after(1, who, () => input.write(`${amount ?? 'correct horse'}\r`));
    }
  });
  return { input, output };
}

interface Row {
  readonly outcome?: unknown;
  readonly amount?: unknown;
}

const TOLD: Readonly<Record<string, Purchase['told']>> = {
  done: 'done',
  refused: 'no',
  not_sent: 'no',
  unknown: 'open',
};

const isMoney = (change: string) => change === 'create' || change === 'fund' || change === 'withdraw';

const amountOf = (dollars: number, wish: number) => `${dollars}.${String(wish).padStart(2, '0')}`;

function rowOf({ change, dollars, card }: Wish, wish: number): string {
  const amount = amountOf(dollars, wish);
  return change === 'create' ? `bin_1,${amount},wish-${wish}` : `card_${card},${amount}`;
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function errorOf(ran: Ran | undefined): { readonly op?: string; readonly outcome?: string } {
  const last = ran?.err.trim().split('\n').at(-1) ?? '';
  return (jsonOf(last)['error'] ?? {}) as { op?: string; outcome?: string };
}

/** The op that a guard says to go on with. */
function hintOf(ran: Ran | undefined): string | undefined {
  if (ran?.code !== 14 && ran?.code !== 2) return undefined;
  return /ops (?:resume|show) (op_\w+)/.exec(ran.err)?.[1];
}

function pageOf(ran: Ran | undefined): { readonly op?: string } {
  return (jsonOf(ran?.out ?? '')['page'] ?? {}) as { op?: string };
}
