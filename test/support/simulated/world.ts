/**
 * A simulated world: machines, processes and true time. Everything that a process does to its surroundings is an effect, and at
 * any effect it can die or stand still. One process runs at a time, until it waits; so a history always runs in the same order.
 */
import { closeSync } from 'node:fs';
import realProcess from 'node:process';
import type { Sent } from './platform.ts';
import type { Postgres } from './postgres.ts';

/** Chance that can be repeated: xorshift32. */
export class Chance {
  #state: number;
  constructor(seed: number) {
    this.#state = (Math.imul(seed ^ 0x9e3779b9, 2_654_435_761) | 1) >>> 0;
    for (let round = 0; round < 8; round += 1) this.fraction();
  }
  /** In [0, 1). */
  fraction(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state / 2 ** 32;
  }
  below(count: number): number {
    return Math.floor(this.fraction() * count);
  }
  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
  /** One of several, each as often as its weight says. */
  weighed<T>(choices: readonly (readonly [weight: number, T])[]): T {
    return this.of(choices.flatMap(([weight, choice]) => Array<T>(weight).fill(choice)));
  }
  is(probability: number): boolean {
    return this.fraction() < probability;
  }
  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}

export const START = Date.parse('2026-11-20T14:00:00Z');

/** A moment at which a process dies, is stopped by Ctrl-C, or stands still. */
export interface Fate {
  readonly how: 'dies' | 'stands still' | 'is interrupted';
  /** Of the request that changes something, from 1; 0: effects are counted from the start of the process. */
  readonly nth: number;
  /** Effects after that. 0: the effect itself. */
  readonly effect: number;
  /** Whether the effect is still done. */
  readonly when: 'before' | 'after';
  readonly ms: number;
}

/** What a dead process gets where it cannot be kept waiting. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

export interface Machine {
  readonly name: string;
  readonly boot: string;
  /** ms that its wall clock is ahead. */
  ahead: number;
}

/** What a process is started with. */
interface Started {
  readonly world: World;
  readonly machine: Machine;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fate: Fate | undefined;
  readonly chance: Chance;
}

/** One process: what it has open, and what became of it. */
export class Process {
  readonly started: Started;
  readonly world: World;
  readonly pid: number;
  readonly startedAt: number;
  effects = 0;
  /** Requests that change something. */
  writes = 0;
  isDead = false;
  /** Random bytes it was given. */
  readonly drawn: Uint8Array[] = [];
  /** It has died without an exit code. */
  wasKilled = false;
  /** It stands still until then. */
  thawAt = 0;
  /** What was typed. */
  line = '';
  /** What the system closes with it: its files, and what ends a transaction or a connection. */
  readonly files = new Set<number>();
  readonly connections = new Set<{ close(): void }>();
  onInterrupt: () => void = () => undefined;
  onCrash: (thrown: unknown) => void = () => undefined;
  #onEnd: (code: number | undefined) => void = () => undefined;
  /** The effect at which its fate comes. */
  #fated = 0;

  constructor(started: Started) {
    this.started = started;
    this.world = started.world;
    this.pid = this.world.nextPid();
    this.startedAt = 1_000 + Math.floor(this.world.now / 10);
    if (started.fate?.nth === 0) this.#fated = Math.max(1, started.fate.effect);
  }

  /** Its clock, ms UTC. */
  wall(): number {
    return Math.floor(START + this.world.now + this.started.machine.ahead);
  }

  bytes(count: number): Uint8Array {
    const bytes = this.started.chance.bytes(count);
    this.drawn.push(bytes);
    return bytes;
  }

  /** Runs `work` to its exit code, or to its death, of which there is none. */
  run(line: string, work: () => Promise<number>): Promise<number | undefined> {
    this.line = line;
    this.world.running.add(this);
    const crash = (thrown: unknown) => this.isDead || this.onCrash(thrown);
    return new Promise(resolve => {
      this.#onEnd = resolve;
      this.world.after(0, this, () => void work().then(code => this.end(code), crash));
    });
  }

  /** The system closes what it had open: its locks and unfinished transactions go with its connections. Without a code it is killed. */
  end(code?: number): void {
    if (this.isDead) return;
    this.isDead = true;
    this.wasKilled = code === undefined;
    for (const connection of this.connections) connection.close();
    for (const fd of this.files) closeSync(fd);
    this.world.running.delete(this);
    this.#onEnd(code);
  }

  /** A request that changes something is on its way. */
  sends(): void {
    this.writes += 1;
    const { fate } = this.started;
    if (fate?.nth === this.writes && this.#fated === 0) this.#fated = this.effects + 1 + fate.effect;
  }

  /** Before an effect; throws `Gone` where it is never done. */
  begins(): void {
    if (this.isDead) throw new Gone();
    this.effects += 1;
    const { fate } = this.started;
    if (fate === undefined || this.#fated !== this.effects) return;
    if (fate.how === 'stands still') this.thawAt = this.world.now + fate.ms;
    else if (fate.how === 'is interrupted') this.world.after(0, this, this.onInterrupt);
    else if (fate.when === 'before') {
      this.end();
      throw new Gone();
    }
    if (fate.how !== 'dies') this.world.happened(fate.how);
  }

  /** Behind an effect. */
  ends(): void {
    if (this.started.fate?.how === 'dies' && this.#fated === this.effects) this.end();
    if (this.isDead) throw new Gone();
  }
}

/** Something that happens at its time, unless it is taken off. */
interface Due {
  at: number;
  order: number;
  readonly who: Process | undefined;
  readonly happen: () => void;
  isOff: boolean;
}

/** True time, in order: the next thing happens when everybody waits. */
export class World {
  now = 0;
  /** What the processes speak to: the service, and the server of the journal that machines share. */
  service!: { take(sent: Sent): void };
  database: Postgres | undefined;
  readonly running = new Set<Process>();
  readonly chance: Chance;
  readonly happened: (what: string) => void;
  #order = 0;
  #pids = 1000;
  /** The next one is last. */
  readonly #due: Due[] = [];

  constructor(chance: Chance, happened: (what: string) => void) {
    this.chance = chance;
    this.happened = happened;
  }

  nextPid(): number {
    this.#pids += 1;
    return this.#pids;
  }

  /** A thing of a process does not happen once that is dead, and later where it stands still. */
  after(ms: number, who: Process | undefined, happen: () => void): Due {
    return this.#put({ at: this.now + Math.max(0, ms), order: ++this.#order, who, happen, isOff: false });
  }

  #put(due: Due): Due {
    const { at, order } = due;
    let place = this.#due.length;
    for (; place > 0; place -= 1) {
      const other = this.#due[place - 1] as Due;
      if (at < other.at || (at === other.at && order < other.order)) break;
    }
    this.#due.splice(place, 0, due);
    return due;
  }

  /** Resolves when so much time has passed for everybody. */
  pass(ms: number): Promise<void> {
    return new Promise(resolve => void this.after(ms, undefined, resolve));
  }

  /** Lets things happen until `story` has come to its end: the next one when all that can go on without time has done so. */
  async play(story: Promise<void>): Promise<void> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    story.then(end, end);
    await new Promise<void>((resolve, reject) => {
      const turn = () => {
        try {
          if (!isOver) this.#next();
        } catch (thrown) {
          end();
          reject(thrown);
        }
      };
      // Node does all that can go on before each turn. Many are asked for at once: a round of its loop takes longer than most turns.
      const round = () => {
        if (isOver) return resolve();
        for (let nth = 0; nth < 50; nth += 1) setImmediate(turn);
        setImmediate(round);
      };
      round();
    });
    current = undefined;
    await story;
  }

  #next(): void {
    const due = this.#due.pop();
    if (due === undefined) throw new Error('nothing is left to happen, and the story is not over');
    this.#happens(due);
  }

  #happens(due: Due): void {
    const { who, isOff } = due;
    if (isOff || who?.isDead) return;
    if (who !== undefined && who.thawAt > due.at) {
      due.at = who.thawAt;
      due.order = ++this.#order;
      return void this.#put(due);
    }
    this.now = Math.max(this.now, due.at);
    current = who;
    try {
      due.happen();
    } catch (thrown) {
      if (who === undefined) throw thrown;
      if (!who.isDead) who.onCrash(thrown);
    }
  }
}

/** The process whose turn it is; nobody's while modules are loaded. */
let current: Process | undefined;
export const turnOf = (): Process | undefined => current;

/** The process whose turn it is. */
export function self(): Process {
  if (current === undefined) throw new Error('somebody acts who is no process');
  return current;
}

/** Nobody catches what is thrown: Node ends the process whose turn it is. */
export function takeCrashes(): void {
  realProcess.on('uncaughtException', thrown => {
    if (current === undefined) {
      realProcess.stderr.write(`${(thrown as Error).stack}\n`);
      realProcess.exit(1);
    }
    if (!current.isDead) current.onCrash(thrown);
  });
}

/** An effect that is done at once. */
export function effectNow<T>(work: () => T): T {
  const who = current;
  if (who === undefined) return work();
  who.begins();
  const result = work();
  who.ends();
  return result;
}

/**
 * An effect that can be waited for. `change`: others may come first where several processes run; `in order`: nobody does; `reading`:
 * it is no effect.
 */
export async function effect<T>(work: () => T, how: 'change' | 'in order' | 'reading' = 'change'): Promise<Awaited<T>> {
  const who = current;
  if (who === undefined) return await work();
  try {
    if (how !== 'reading') who.begins();
    if (who.isDead) throw new Gone();
    const { world } = who;
    const mayWait = how !== 'in order' && (world.running.size > 1 || who.thawAt > world.now);
    if (mayWait) await new Promise<void>(resolve => void world.after(world.chance.fraction() * 0.4, who, resolve));
    const result = work();
    if (how !== 'reading') who.ends();
    return await result;
  } catch (thrown) {
    if (thrown instanceof Gone || who.isDead) return new Promise<never>(() => undefined);
    throw thrown;
  }
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const who = self();
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      due.isOff = true;
      reject(signal?.reason);
    };
    const due = who.world.after(ms, who, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** True for processes that run on the machine of whoever asks. */
export const runningHere = (pid: number): Process | undefined =>
  [...(current?.world.running ?? [])].find(
    each => each.pid === pid && each.started.machine.boot === current?.started.machine.boot,
  );
