/**
 * Lists over HTTP: each fund and each withdrawal appends its amount, which no other one has, to the ledger of its card and
 * to that of the wallet; each look into the books reads one list or all of them. Servers are killed with kill -9 meanwhile,
 * and the database with them. Whoever got no answer does not know, unless it asks again under its key.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Home, home } from '../package/built.ts';
import { anomalies } from '../support/list-append/check.ts';
import type { Step, Transaction } from '../support/list-append/history.ts';
import { Chance } from '../support/model/steps.ts';
import { storeOf } from '../support/served-accounts.ts';
import { ownServer } from '../team/own-server.ts';
import { killed, type Running, startOn } from './account-servers.ts';

export interface ServerLists {
  readonly servers: number;
  readonly histories: number;
  /** Of each history, which is one account's. */
  readonly requests: number;
  readonly seed: number;
}

export interface Told {
  readonly kills: number;
  /** How many requests ended so, of all histories. */
  readonly outcomes: Readonly<Record<Transaction['outcome'], number>>;
}

const CLIENTS = 8;
const CARDS = 4;
const MOVES: readonly string[] = ['fund', 'withdraw'];
const ADMIN = '/_sandbox/v1';
const WALLET = 'wallet';
/** Cents: more than any card ever holds. */
const TOO_MUCH = 90_000_000;
/** ms between two kills. */
const KILL_EVERY = 1_500;

interface Account {
  readonly api_key: string;
  readonly admin_token: string;
}

/** What a server said; undefined where it said nothing. */
type Said = { readonly status: number; readonly json: Readonly<Record<string, never>> } | undefined;

type Asked = { readonly path: string; readonly body?: object; readonly key?: string };

/** Servers of one store, of which now and then one is killed and started again. */
class Servers {
  readonly #place: Home;
  readonly #store: string;
  readonly #running: Running[] = [];

  constructor(place: Home, store: string) {
    this.#place = place;
    this.#store = store;
  }

  async start(count: number): Promise<void> {
    this.#running.push(await startOn(this.#place, this.#store, ['--migrate']));
    while (this.#running.length < count) this.#running.push(await startOn(this.#place, this.#store));
  }

  async killOne(chance: Chance): Promise<void> {
    // Nobody asks it until the next one serves.
    const [one] = this.#running.splice(chance.below(this.#running.length), 1);
    if (one !== undefined) await killed(one);
    this.#running.push(await startOn(this.#place, this.#store));
  }

  async stop(): Promise<void> {
    for (const running of this.#running) await killed(running);
  }

  /** Asks one of them, once. */
  async ask(chance: Chance, { api_key, admin_token }: Account, { path, body, key }: Asked): Promise<Said> {
    const { url = '' } = chance.pick(this.#running) ?? {};
    const isAdmin = path.startsWith(ADMIN);
    const headers = {
      authorization: `Bearer ${isAdmin ? admin_token : api_key}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'x-idempotency-key': key }),
    };
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    try {
      const answer = await fetch((isAdmin ? new URL(url).origin : url) + path, { headers, ...post });
      return { status: answer.status, json: (await answer.json()) as Readonly<Record<string, never>> };
    } catch {
      return undefined;
    }
  }

  /** Asks until somebody says something. */
  async until(chance: Chance, account: Account, asked: Asked): Promise<Exclude<Said, undefined>> {
    for (;;) {
      const said = await this.ask(chance, account, asked);
      if (said !== undefined && said.status !== 503) return said;
      await rest(10);
    }
  }
}

/** Plays all histories. Rejects with what one of them shows that no serial execution does. */
export async function playServerLists({ servers: count, histories, requests, seed }: ServerLists): Promise<Told> {
  await using database = await ownServer();
  await using place = await home();
  const store = storeOf(database);
  const servers = new Servers(place, store);
  const chance = new Chance(seed);
  const over = new AbortController();
  let killing: Promise<number> | undefined;
  const outcomes = { committed: 0, undone: 0, unknown: 0 };
  try {
    await servers.start(count);
    killing = (async () => {
      let kills = 0;
      for (; !over.signal.aborted; kills += 1) {
        await rest(KILL_EVERY);
        if (kills % 3 !== 2) await servers.killOne(chance);
        else {
          await database.stop('SIGKILL');
          await database.start();
        }
      }
      return kills;
    })();
    for (let nth = 0; nth < histories; nth += 1) {
      const account = await accountOn(place, store, `lists-${nth}`);
      const history = await historyOf(servers, account, { requests, seed: seed + nth });
      expect(anomalies(history)).toEqual([]);
      for (const { outcome } of history) outcomes[outcome] += 1;
      const { json } = await servers.until(chance, account, { path: `${ADMIN}/status` });
      expect(json).toMatchObject({ ledger_ok: true });
    }
    over.abort();
    const kills = await killing;
    expect(await readFile(join(database.server.folder, 'log'), 'utf8')).not.toMatch(/deadlock|could not serialize/i);
    return { kills, outcomes };
  } finally {
    over.abort();
    await killing?.catch(() => undefined);
    await servers.stop();
  }
}

/** The database may be away at that moment. */
async function accountOn(place: Home, store: string, name: string): Promise<Account> {
  for (let tries = 0; ; tries += 1) {
    const words = ['sandbox', 'accounts', 'create', `${name}-${tries}`, '--data', 'empty', '--store', store, '--json'];
    const { code, out, err } = await place.run(words);
    if (code === 0) return JSON.parse(out) as Account;
    if (tries === 10) throw new Error(err);
  }
}

/** One account's requests, the callers' view of them. The last one reads every list. */
async function historyOf(
  servers: Servers,
  account: Account,
  { requests, seed }: Pick<ServerLists, 'requests' | 'seed'>,
): Promise<readonly Transaction[]> {
  const chance = new Chance(seed);
  const cards = await cardsOf(servers, account, chance);
  const all = [WALLET, ...cards.map(listOf)];
  const history: Transaction[] = [];
  let [moment, begun] = [0, 0];
  const one = async (work: () => Promise<Pick<Transaction, 'steps' | 'outcome'>>) => {
    moment += 1;
    const began = moment;
    const { steps, outcome } = await work();
    moment += 1;
    history.push({ steps, outcome, began, ended: moment });
  };
  const client = async () => {
    for (begun += 1; begun <= requests; begun += 1) {
      const nth = begun;
      const card = chance.pick(cards) ?? '';
      await one(() => {
        if (chance.chance(35))
          return look(servers, account, { chance, lists: chance.chance(50) ? [listOf(card)] : all });
        return move(servers, account, { chance, card, nth });
      });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  for (;;) {
    await one(() => look(servers, account, { chance, lists: all }));
    if (history.at(-1)?.outcome === 'committed') return history;
  }
}

async function cardsOf(servers: Servers, account: Account, chance: Chance): Promise<readonly string[]> {
  const made = async (path: string, body: object, key: string) => {
    const { status, json } = await servers.until(chance, account, { path, body, key });
    expect([path, status]).toEqual([path, 201]);
    return json;
  };
  const deposit = await made(`${ADMIN}/simulate/deposits`, { currency: 'usdt', amount: 100_000 }, 'deposit');
  await made(`${ADMIN}/simulate/deposits/${deposit['deposit_id']}/confirm`, {}, 'confirm');
  const bins = (await servers.until(chance, account, { path: '/bins' })).json['data'] as unknown as { id: string }[];
  const cards: string[] = [];
  for (let at = 0; at < CARDS; at += 1)
    cards.push((await made('/cards', { bin_id: bins[0]?.id, amount: 2_000 }, `card ${at}`))['id'] ?? '');
  return cards;
}

const listOf = (card: string) => `card:${card}`;

/** Moves an amount that no other request has: to the card, back from it, or more than there is. */
async function move(
  servers: Servers,
  account: Account,
  { chance, card, nth }: { readonly chance: Chance; readonly card: string; readonly nth: number },
): Promise<Pick<Transaction, 'steps' | 'outcome'>> {
  const how = chance.pick(['fund', 'fund', 'withdraw', 'refused'] as const);
  const cents = how === 'refused' ? TOO_MUCH + nth : 100 + nth;
  const value = how === 'fund' ? cents : -cents;
  const steps: readonly Step[] = [
    { append: listOf(card), value },
    { append: WALLET, value: -value },
  ];
  const asked = {
    path: `/cards/${card}/${how === 'fund' ? 'fund' : 'withdraw'}`,
    body: { amount: cents / 100 },
    key: `move ${nth}`,
  };
  const said = await (chance.chance(50) ? servers.until(chance, account, asked) : servers.ask(chance, account, asked));
  if (said === undefined) return { steps, outcome: 'unknown' };
  if (said.status === 200) return { steps, outcome: 'committed' };
  expect([how, said.status]).toEqual(said.status === 503 ? [how, 503] : ['refused', 400]);
  return { steps, outcome: 'undone' };
}

interface Entry {
  readonly kind: string;
  readonly postings: readonly { readonly account: string; readonly amount: number }[];
}

/** Reads the list of a card, or all lists at one moment. */
async function look(
  servers: Servers,
  account: Account,
  { chance, lists }: { readonly chance: Chance; readonly lists: readonly string[] },
): Promise<Pick<Transaction, 'steps' | 'outcome'>> {
  const one = lists.length === 1 ? `&account=${lists[0]}` : '';
  const said = await servers.ask(chance, account, { path: `${ADMIN}/ledger/entries?per_page=1000${one}` });
  if (said?.status !== 200) return { steps: [], outcome: said === undefined ? 'unknown' : 'undone' };
  const moves = (said.json['data'] as unknown as readonly Entry[]).filter(({ kind }) => MOVES.includes(kind));
  const found = new Map<string, number[]>();
  for (const { account: name, amount } of moves.flatMap(({ postings }) => postings)) {
    const list = name.startsWith('wallet:') ? WALLET : name;
    found.set(list, [...(found.get(list) ?? []), Math.round(amount * 100)]);
  }
  return { steps: lists.map(read => ({ read, list: found.get(read) ?? [] })), outcome: 'committed' };
}
