/**
 * The model against a running sandbox over HTTP: each answer is compared, and now and then everything there is to
 * see. What came about is counted. A difference throws with the seed, which repeats the run.
 */
import type { RunningSandbox, SandboxOptions } from '../start-sandbox.ts';
import { ModelService } from './service.ts';
import { type Reply, type Request, SocketClient } from './socket-client.ts';
import type { Bin, Expected } from './state.ts';
import { Chance, firstCard, nextStep, type Scene, type Step } from './steps.ts';

export interface ModelRun {
  readonly seed: number;
  /** Steps in all; each is one request, the looks in between not counted. */
  readonly steps: number;
  /** Steps before the sandbox starts over. */
  readonly history?: number;
  /** Sandboxes that run beside each other in this process. */
  readonly lanes?: number;
  readonly start: (options: SandboxOptions) => Promise<RunningSandbox>;
}

export type Counts = ReadonlyMap<string, number>;

export const MODEL_START = '2026-11-20T14:00:00Z';
const ADMIN = '/_sandbox/v1';
const LOOK_EVERY = 50;
const DAY = 86_400_000;

/** Resolves to how often each outcome came about. */
export async function runModel({ seed, steps, history = 250, lanes = 2, start }: ModelRun): Promise<Counts> {
  const counts = new Map<string, number>();
  const each = Math.ceil(steps / lanes);
  const faults: unknown[] = [];
  const work = Array.from({ length: lanes }, async (_, lane) => {
    await using sandbox = await start({
      listen: 'socket',
      ids: 'counted',
      rateLimits: false,
      clock: { mode: 'frozen', at: MODEL_START },
      onFault: error => void faults.push(error),
    });
    const run = new Lane(sandbox, { seed: seed + lane, counts, faults });
    try {
      for (let done = 0; done < each; done += history) await run.history(Math.min(history, each - done));
    } finally {
      run.close();
    }
  });
  await Promise.all(work);
  return counts;
}

interface Kept {
  readonly step: Step;
  readonly reply: Reply;
  readonly at: number;
}

interface Findings {
  readonly seed: number;
  readonly counts: Map<string, number>;
  readonly faults: readonly unknown[];
}

class Lane {
  readonly #client: SocketClient;
  readonly #chance: Chance;
  readonly #seed: number;
  readonly #counts: Map<string, number>;
  /** What the sandbox itself did not expect; it answers 500 then. */
  readonly #faults: readonly unknown[];
  #model = new ModelService(0);
  #kept: Kept[] = [];
  #log: string[] = [];
  #keys = 0;
  #done = 0;

  constructor(sandbox: RunningSandbox, { seed, counts, faults }: Findings) {
    const { socketPath = '', key, adminToken } = sandbox;
    this.#client = new SocketClient({ socketPath, key: key.expose(), adminToken: adminToken.expose() });
    this.#chance = new Chance(seed);
    this.#seed = seed;
    this.#counts = counts;
    this.#faults = faults;
  }

  close(): void {
    this.#client.close();
  }

  /** One history in a sandbox that starts over. */
  async history(steps: number): Promise<void> {
    const bins = await this.#startOver();
    const scene: Scene = {
      model: this.#model,
      chance: this.#chance,
      bins,
      newKey: () => `lane-${this.#seed}-${++this.#keys}`,
    };
    for (let first = 0; first < 2; first += 1) await this.#take(firstCard(scene));
    for (let index = 0; index < steps; index += 1) {
      const kept = this.#chance.chance(4) ? this.#chance.pick(this.#kept) : undefined;
      if (kept === undefined) await this.#take(nextStep(scene));
      else await this.#again(kept);
      if (index % LOOK_EVERY === LOOK_EVERY - 1) await this.#look();
    }
    await this.#look();
  }

  async #startOver(): Promise<readonly Bin[]> {
    await this.#answered({ method: 'POST', path: `${ADMIN}/reset`, body: { data: 'empty' } });
    const body = { mode: 'frozen', at: MODEL_START };
    await this.#answered({ method: 'PUT', path: `${ADMIN}/clock`, body });
    const { data } = await this.#answered({ method: 'GET', path: '/v1/bins' });
    this.#model = new ModelService(Date.parse(MODEL_START));
    this.#kept = [];
    this.#log = [];
    const amount = 60_000;
    const deposit: Request = {
      method: 'POST',
      path: `${ADMIN}/simulate/deposits`,
      body: { currency: 'usdt', amount: amount / 100, confirmations: 'manual' },
    };
    await this.#take({ op: 'deposit', request: deposit, expected: this.#model.deposit('usdt', amount, false) });
    const confirm: Request = { method: 'POST', path: `${ADMIN}/simulate/deposits/dep_1/confirm` };
    await this.#take({ op: 'confirm', request: confirm, expected: this.#model.confirm(this.#model.deposits[0], 99) });
    return (data as { id: string; max_transaction: number }[]).map(bin => ({
      id: bin.id,
      maxTransaction: Math.round(bin.max_transaction * 100),
    }));
  }

  async #take(step: Step): Promise<void> {
    const { op, request, expected } = step;
    // Events of the public side are in no answer; those of the admin side were taken with it.
    this.#model.told = [];
    this.#log.push(`${request.method} ${request.path} ${JSON.stringify(request.body ?? {})}`);
    const reply = await this.#client.ask(request);
    this.#compare(reply, expected);
    this.#count(op, expected);
    if (step.keyed !== undefined) this.#kept.push({ step, reply, at: this.#model.now });
  }

  /** The same request with the same key: the same bytes within a day, and no effect. */
  async #again({ step, reply, at }: Kept): Promise<void> {
    if (this.#model.now - at >= DAY) {
      this.#kept = this.#kept.filter(kept => kept.step !== step);
      return;
    }
    const { request } = step;
    this.#log.push(`again ${request.path} ${request.key}`);
    const other = this.#chance.chance(20);
    const repeated = await this.#client.ask(other ? { ...request, body: { ...request.body, amount: 77 } } : request);
    if (other) this.#compare(repeated, { status: 422, error: 'idempotency_key_reused' });
    else if (repeated.text !== reply.text || repeated.status !== reply.status) {
      this.#fail(`repeated: ${repeated.status} ${repeated.text}\nfirst: ${reply.status} ${reply.text}`);
    } else if (!/\r\nidempotent-replayed: true/i.test(repeated.head)) this.#fail('a replay is not marked');
    this.#counted(other ? 'again other body' : `again ${reply.status}`);
  }

  #compare(reply: Reply, { status, error, body = {} }: Expected): void {
    const said = JSON.parse(reply.text) as Record<string, unknown>;
    const got = error === undefined ? {} : { error: said['error'] };
    for (const name of Object.keys(body)) Object.assign(got, { [name]: said[name] });
    const expected = JSON.stringify({ status, ...(error !== undefined && { error }), ...body });
    const actual = JSON.stringify({ status: reply.status, ...got });
    if (actual !== expected) this.#fail(`expected ${expected}\nanswered ${actual}\n${reply.text}`);
  }

  #count(op: string, { status, error, body = {} }: Expected): void {
    const { outcome, decline_reason: reason, events = [], card_balance: balance = 0, fired } = body;
    this.#counted(`${op} ${error ?? reason ?? outcome ?? status}`);
    const { card_status: card = 'active' } = body;
    if (error === undefined && card !== 'active') this.#counted(`${op} on ${card}`);
    if ((events as string[]).includes('card.frozen')) this.#counted('frozen by itself');
    if ((balance as number) < 0) this.#counted('below 0');
    for (const { kind } of (fired ?? []) as { kind: string }[]) this.#counted(`fired ${kind}`);
  }

  #counted(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** Everything there is to see, and the sandbox's own check. */
  async #look(): Promise<void> {
    const model = this.#model;
    const usd = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0) / 100;
    const living = model.cards.filter(({ status }) => status !== 'terminated');
    const wallet = {
      balance: usd([model.wallet]),
      currency: 'USD',
      pending_deposits: usd(model.deposits.filter(({ status }) => status === 'pending').map(({ amount }) => amount)),
      total_deposited: usd([model.deposited]),
      total_spent: usd([model.spent]),
      cards_active: living.filter(({ status }) => status === 'active').length,
      cards_total_balance: usd(living.map(({ balance }) => balance)),
    };
    this.#same('wallet', wallet, await this.#answered({ method: 'GET', path: '/v1/wallet' }));
    const { data: cards } = await this.#answered({ method: 'GET', path: '/v1/cards?per_page=100' });
    const seen = (cards as { id: string; status: string; balance: number }[]).map(card => [
      card.id,
      card.status,
      card.balance,
    ]);
    const known = model.cards.slice(-100).map(card => [card.id, card.status, card.balance / 100]);
    if (model.cards.length <= 100) this.#same('cards', known.sort(), seen.sort());
    const { meta } = await this.#answered({ method: 'GET', path: '/v1/transactions' });
    this.#same('records', model.records.length, (meta as { total: number }).total);
    const { data: open } = await this.#answered({ method: 'GET', path: '/v1/3ds/challenges' });
    const pending = model.challenges.filter(({ status }) => status === 'pending').map(({ id }) => id);
    this.#same('challenges', pending.sort(), (open as { id: string }[]).map(({ id }) => id).sort());
    const { data: events } = await this.#answered({ method: 'GET', path: `${ADMIN}/events?per_page=1000` });
    const names = (events as { type: string }[]).map(({ type }) => type);
    this.#same('events', model.events.slice(0, 1000), names);
    const { ok, faults } = await this.#answered({ method: 'POST', path: `${ADMIN}/ledger/check` });
    this.#same('check', { ok: true, faults: [] }, { ok, faults });
  }

  #same(what: string, expected: unknown, actual: unknown): void {
    const [left, right] = [JSON.stringify(expected), JSON.stringify(actual)];
    if (left !== right) this.#fail(`${what}: expected ${left}\nthere is ${right}`);
  }

  async #answered(request: Request): Promise<Record<string, unknown>> {
    const reply = await this.#client.ask(request);
    this.#done += 1;
    if (reply.status >= 300) this.#fail(`${request.path}: ${reply.status} ${reply.text}`);
    return JSON.parse(reply.text) as Record<string, unknown>;
  }

  #fail(what: string): never {
    const story = this.#log.slice(-15).join('\n');
    throw new Error(
      `seed ${this.#seed}, step ${this.#log.length} of its history:\n${story}\n${what}\n${this.#faults.join('\n')}`,
    );
  }
}
