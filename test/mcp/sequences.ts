/**
 * Random calls of the tools against the lying service of the simulator (test/simulation): repeated, re-planned and beside each other,
 * by servers that are killed and started anew. Judged by the books of the service alone. A seed plays the same way each time.
 */
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { mayBeFirst } from '../simulation/history.ts';
import { API_KEY, type Lie, SAYINGS, Service, type Settings } from '../simulation/service.ts';
import { CARD_NUMBER } from '../support/card-books.ts';
import { hostOf } from '../support/simulated/host.ts';
import { buildProgram, type Exchange, openProgram, type Program } from '../support/simulated/program.ts';
import { removeHome } from '../support/simulated/sqlite.ts';
import { Chance, type Fate, Process, World } from '../support/simulated/world.ts';

/** One purchase that the agent means: what it asks for at first, and what another plan makes of it. Cents are unique. */
interface Purchase {
  readonly intent: string;
  readonly tool: 'card_create' | 'card_fund';
  readonly card: string;
  readonly cents: readonly [number, number];
}

interface Reported {
  readonly purchase: Purchase;
  readonly cents: number;
  /** Exactly done, nothing for certain, or neither. */
  readonly is: 'done' | 'nothing' | 'open';
}

export interface Judged {
  readonly broken: readonly string[];
  readonly calls: number;
  readonly reported: Readonly<Record<string, number>>;
}

/** In memory, where the system has such a folder: every commit is synced. */
const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const MOST_CENTS = 10_000;
const FOR_EVER = 1_800_000;

/** Plays seeds, with mistakes planted in `src` where they are asked for; resolves to what was broken and how much was played. */
export async function playSequences(first: number, count: number, planted: readonly Exchange[] = []): Promise<Judged> {
  const program = await openProgram(await buildProgram([planted]));
  const broken: string[] = [];
  const reported: Record<string, number> = {};
  let calls = 0;
  for (let seed = first; seed < first + count; seed += 1) {
    const sequence = new Sequence(program, seed);
    try {
      await sequence.play();
    } finally {
      sequence.clear();
    }
    for (const each of sequence.broken) broken.push(`seed ${seed}: ${each}`);
    for (const { is } of sequence.reported) reported[is] = (reported[is] ?? 0) + 1;
    calls += sequence.calls;
  }
  return { broken, calls, reported };
}

class Sequence {
  readonly broken: string[] = [];
  readonly reported: Reported[] = [];
  calls = 0;
  readonly #program: Program;
  readonly #chance: Chance;
  readonly #world: World;
  readonly #service: Service;
  readonly #home = mkdtempSync(join(base, 'cardwright-sequence-'));
  readonly #servers: Process[] = [];

  constructor(program: Program, seed: number) {
    this.#program = program;
    this.#chance = new Chance(seed);
    this.#world = new World(this.#chance, () => undefined);
    const lies: Lie[] = [];
    for (let nth = 1; nth <= 24; nth += 1) {
      if (this.#chance.below(3) === 0) continue;
      const { name, says } = this.#chance.of([...SAYINGS.values()].filter(mayBeFirst));
      const does = says === 'no' ? 'none' : this.#chance.of(['done', 'done', 'none', 'later'] as const);
      lies.push({ nth, does, says: name, ms: this.#chance.below(5_000) });
    }
    const settings: Settings = {
      walletCents: 30_000,
      keys: this.#chance.of(['ignored', { forgottenAfterMs: 60_000 }, 'honoured'] as const),
      limitsRepeats: false,
      diesAt: 0,
      behind: { listMs: this.#chance.below(3_000) },
      others: [],
    };
    this.#service = new Service(this.#world, settings, lies);
    this.#world.service = this.#service;
  }

  clear(): void {
    for (const who of this.#world.running) who.end();
    removeHome(this.#home);
  }

  play(): Promise<void> {
    return this.#world.play(this.#story());
  }

  async #story(): Promise<void> {
    mkdirSync(this.#home, { recursive: true, mode: 0o700 });
    this.#service.begin();
    const purchases = [0, 1, 2, 3].map((n): Purchase => {
      const isCreate = this.#chance.below(2) === 0;
      const base = 1_000 + this.#chance.below(5) * 1_000;
      const cents = [base + n, base + n + 500] as const;
      return { intent: `order-${n}`, tool: isCreate ? 'card_create' : 'card_fund', card: `card_${1 + (n % 2)}`, cents };
    });
    const servers = 1 + this.#chance.below(2);
    for (let nth = 0; nth < servers; nth += 1) await this.#serve(purchases);
    // What comes late has come by then.
    await this.#world.pass(200_000);
    this.#judge(purchases);
  }

  /** One server and the calls of its client, some of them beside each other. */
  async #serve(purchases: readonly Purchase[]): Promise<void> {
    const fate: Fate | undefined =
      this.#chance.below(3) > 0
        ? undefined
        : {
            how: 'dies',
            when: 'before',
            nth: 1 + this.#chance.below(3),
            effect: 1 + this.#chance.below(12),
            ms: 0,
          };
    const input = new PassThrough();
    const answers = new Map<number, (result: Readonly<Record<string, unknown>>) => void>();
    const who = this.#start(input, fate, line => {
      const { id, result } = JSON.parse(line);
      answers.get(id)?.(result?.structuredContent ?? {});
    });
    let last = 0;
    const send = (method: string, params: object) => {
      last += 1;
      const line = `${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`;
      this.#world.after(0, who, () => void input.write(line));
      return last;
    };
    let isOpen = false;
    const clientInfo = { name: 'agent', version: '1' };
    answers.set(send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }), () => {
      isOpen = true;
    });
    await this.#until(FOR_EVER, () => isOpen || who.isDead);
    let waiting = 0;
    const count = 2 + this.#chance.below(6);
    for (let nth = 0; nth < count && !who.isDead; nth += 1) {
      const purchase = purchases[this.#chance.below(purchases.length)] as Purchase;
      const cents = purchase.cents[this.#chance.below(5) === 0 ? 1 : 0] as number;
      const args = {
        intent: purchase.intent,
        amount: cents / 100,
        purpose: 'what it is for',
        ...(purchase.tool === 'card_create' ? { bin: 'bin_1' } : { card: purchase.card }),
      };
      this.calls += 1;
      waiting += 1;
      const reported = { purchase, cents };
      answers.set(send('tools/call', { name: purchase.tool, arguments: args }), result => {
        waiting -= 1;
        this.reported.push({ ...reported, is: meaningOf(result) });
      });
      if (this.#chance.below(2) === 0) await this.#until(FOR_EVER, () => waiting === 0 || who.isDead);
    }
    await this.#until(FOR_EVER, () => waiting === 0 || who.isDead);
    if (waiting > 0 && !who.wasKilled) this.broken.push('a call was not answered');
    if (who.isDead) return;
    this.#world.after(0, who, () => void input.end());
    await this.#until(FOR_EVER, () => who.isDead);
    if (!who.isDead) this.broken.push('the server does not end');
  }

  #judge(purchases: readonly Purchase[]): void {
    const { effects } = this.#service;
    for (const who of this.#servers) {
      const spent = effects.filter(each => each.request.who === who).reduce((sum, { cents }) => sum + cents, 0);
      if (spent > MOST_CENTS) this.broken.push(`${spent} cents spent by one server, ${MOST_CENTS} allowed`);
    }
    for (const { intent, cents } of purchases) {
      const made = effects.filter(each => cents.includes(each.cents));
      if (made.length > 1) this.broken.push(`${intent} was done ${made.length} times`);
      const reported = this.reported.filter(each => each.purchase.intent === intent);
      for (const { cents: asked } of reported.filter(({ is }) => is === 'done'))
        if (!made.some(each => each.cents === asked)) this.broken.push(`${intent} is said to be done, and is not`);
      const isDenied =
        reported.length > 0 && reported.every(({ is }) => is === 'nothing') && this.#servers.every(w => !w.wasKilled);
      if (isDenied && made.length > 0) this.broken.push(`${intent} is said to be nothing, and was done`);
    }
  }

  async #until(ms: number, isSo: () => boolean): Promise<void> {
    for (const end = this.#world.now + ms; !isSo() && this.#world.now < end; ) await this.#world.pass(5);
  }

  #start(input: PassThrough, fate: Fate | undefined, onLine: (line: string) => void): Process {
    const home = this.#home;
    const env = {
      CARDWRIGHT_CONFIG_DIR: home,
      TZ: 'UTC',
      HOME: home,
      CARDWRIGHT_API_KEY: API_KEY,
      CARDWRIGHT_BASE_URL: 'http://127.0.0.1:9/v1',
    };
    const machine = { name: 'desk', boot: 'boot', ahead: 0 };
    const chance = new Chance(this.#chance.below(2 ** 31));
    const who = new Process({ world: this.#world, machine, home, env, fate, chance });
    const host = hostOf(who, {
      argv: ['mcp', `--max-total=${MOST_CENTS / 100}`],
      input,
      interrupted: this.#program.interrupted,
      write: (to, text) => {
        for (const secret of [API_KEY, CARD_NUMBER]) if (text.includes(secret)) this.broken.push('a canary is printed');
        if (to === 'out') for (const line of text.split('\n').filter(Boolean)) onLine(line);
      },
    });
    who.onCrash = thrown => {
      this.broken.push(`the server crashes: ${(thrown as Error).stack}`);
      who.end();
    };
    this.#servers.push(who);
    void who
      .run('mcp', () => this.#program.run(host))
      .then(code => {
        if (code !== undefined && code !== 0) this.broken.push(`the server ends with ${code}`);
      });
    return who;
  }
}

/** What the agent gets. Done is a card, or a card and its balance; `pending` and unknown are neither. */
function meaningOf(result: Readonly<Record<string, unknown>>): Reported['is'] {
  const error = result['error'] as { outcome?: string } | undefined;
  if (error === undefined) return result['id'] !== undefined || result['card_balance'] !== undefined ? 'done' : 'open';
  return error.outcome === 'not_sent' || error.outcome === 'refused' ? 'nothing' : 'open';
}
