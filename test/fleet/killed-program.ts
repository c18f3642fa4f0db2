/**
 * The built program, killed by SIGKILL while it applies a plan to a sandbox that is a process of its own, and gone on with as
 * the guide says: with the journal of the killed one or without it. Never a second card, no cent lost, nothing left to do.
 */
import { once } from 'node:events';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Ended, ended, type Home, home } from '../package/built.ts';

const CARDS = 6;
const SUM = 100;

/** A fleet of its own for each strike, with names of its own: the cards of the others are strangers to it. */
const fileOf = (fleet: string, bin: string) => `version: 1
fleet: ${fleet}
caps: {per_apply: 900.00, cards: 20}
defaults: {bin: ${bin}, amount: 10.00}
cards:
  ${fleet}-event: {label: "event {n}", count: ${CARDS - 1}}
  ${fleet}-search: {label: search, floor: 20.00, top_up_to: 50.00}
`;

export interface Strikes {
  readonly kills: number;
  /** Applies that came to their end before they could be killed. */
  readonly survived: number;
  /** Kills after which some of the cards were there, and not all. */
  readonly midway: number;
  readonly broken: readonly string[];
}

interface Service {
  readonly url: string;
  readonly key: string;
  readonly bin: string;
}

interface Strike {
  readonly place: Home;
  readonly service: Service;
  readonly fleet: string;
  /** ms after its first card was there. */
  readonly afterMs: number;
  /** Cards that are there when it is killed, at least. */
  readonly atCards: number;
  readonly journal: 'kept' | 'lost';
}

interface Found {
  readonly killed: boolean;
  readonly cards: number;
  readonly broken: readonly string[];
}

interface SandboxCard {
  readonly id: string;
  readonly balance: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** So many strikes, in turn with the journal kept and lost, each at another card and another moment. */
export async function strikes(count: number, dialect: 'default' | 'keys-ignored'): Promise<Strikes> {
  await using place = await home();
  const server = place.start([
    'sandbox',
    'start',
    '--json',
    '--no-rate-limits',
    '--data',
    'empty',
    '--dialect',
    dialect,
  ]);
  try {
    const service = await serviceOf(place, server.stdout);
    const found = { kills: 0, survived: 0, midway: 0, broken: [] as string[] };
    for (let number = 0; number < count; number += 1) {
      const journal = number % 2 === 0 ? 'kept' : 'lost';
      const atCards = (number >> 1) % (CARDS + 1);
      const strike = { place, service, fleet: `f${number}`, atCards, afterMs: (number * 7) % 12, journal } as const;
      const { killed, cards, broken } = await strikeOnce(strike);
      found[killed ? 'kills' : 'survived'] += 1;
      if (killed && cards > 0 && cards < CARDS) found.midway += 1;
      found.broken.push(...broken.map(what => `strike ${number}, journal ${journal}, ${cards} cards: ${what}`));
      if (found.broken.length > 5) break;
    }
    return found;
  } finally {
    server.kill('SIGKILL');
  }
}

async function serviceOf(place: Home, out: NodeJS.ReadableStream | null): Promise<Service> {
  if (out === null) throw new Error('a child without standard output');
  const [said] = (await once(out, 'data')) as [Buffer];
  const { url, api_key_file: file } = JSON.parse(String(said)) as { url: string; api_key_file: string };
  const [bin = ''] = (await good(place, 'bins list -o id')).split('\n');
  const deposit = (await good(place, 'sandbox simulate deposit --currency btc --amount 100000 -q')).trim();
  await good(place, `sandbox simulate confirm ${deposit}`);
  return { url, key: (await readFile(file, 'utf8')).trim(), bin };
}

async function good(place: Home, line: string, cwd?: string): Promise<string> {
  const { code, out, err } = await run(place, line, cwd);
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${err}`);
  return out;
}

const wordsOf = (line: string) => ['--sandbox', ...line.split(' ')];

function run(place: Home, line: string, cwd?: string): Promise<Ended> {
  return place.run(wordsOf(line), cwd === undefined ? {} : { cwd });
}

async function asked({ url, key }: Service, path: string) {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`);
  return (await answer.json()) as { data: SandboxCard[]; balance: number };
}

async function cardsOf(service: Service, fleet: string): Promise<readonly SandboxCard[]> {
  const cards: SandboxCard[] = [];
  for (let page = 1; ; page += 1) {
    const { data } = await asked(service, `/cards?per_page=100&page=${page}`);
    cards.push(...data.filter(({ metadata }) => metadata['cardwright']?.startsWith(`fleet/${fleet}/`)));
    if (data.length < 100) return cards;
  }
}

async function strikeOnce(strike: Strike): Promise<Found> {
  const { place, service, fleet, journal } = strike;
  const cwd = join(place.folder, fleet);
  await mkdir(cwd);
  await writeFile(join(cwd, 'cards.fleet.yaml'), fileOf(fleet, service.bin));
  await good(place, 'fleet plan --out plan.json', cwd);
  const before = (await asked(service, '/wallet')).balance;
  const killed = await killedApply(strike, cwd);
  const cards = (await cardsOf(service, fleet)).length;
  if (journal === 'lost') await rename(join(place.folder, 'state'), join(place.folder, `state-${fleet}`));
  const broken = await goOn(strike, cwd, journal === 'kept');
  const there = await cardsOf(service, fleet);
  const spent = Math.round((before - (await asked(service, '/wallet')).balance) * 100);
  const held = Math.round(there.reduce((sum, { balance }) => sum + balance, 0) * 100);
  const markers = new Set(there.map(({ metadata }) => metadata['cardwright']));
  if (there.length !== CARDS || markers.size !== CARDS) broken.push(`${there.length} cards, ${markers.size} markers`);
  if (spent !== held || held !== SUM * 100) broken.push(`the wallet gave ${spent} cents, the cards hold ${held}`);
  return { killed, cards, broken };
}

async function killedApply({ place, service, fleet, atCards, afterMs }: Strike, cwd: string): Promise<boolean> {
  const child = place.start(wordsOf('fleet apply --plan plan.json --concurrency 1 --yes'), { cwd });
  child.stdin?.end();
  const over = ended(child);
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  while (!isOver && (await cardsOf(service, fleet)).length < atCards) await wait(1);
  await Promise.race([over, wait(atCards === 0 ? 40 * afterMs : afterMs)]);
  child.kill('SIGKILL');
  return (await over).signal === 'SIGKILL';
}

/** What a person does: the same plan again where its journal is there, then new plans until nothing is left. */
async function goOn({ place }: Strike, cwd: string, kept: boolean): Promise<string[]> {
  const broken: string[] = [];
  if (kept) {
    const { code, err } = await run(place, 'fleet apply --plan plan.json --yes', cwd);
    // 14: it had ended, or nothing of it was begun and its cards are there.
    if (code !== 0 && code !== 14) broken.push(`the same plan ended with ${code}: ${err}`);
  }
  for (let round = 1; round <= 4; round += 1) {
    const plan = await run(place, `fleet plan --out next-${round}.json --exit-code any`, cwd);
    if (plan.code === 0) return broken;
    if (plan.code !== 16) return [...broken, `plan ${round} ended with ${plan.code}: ${plan.err}`];
    const applied = await run(place, `fleet apply --plan next-${round}.json --yes`, cwd);
    if (applied.code !== 0) broken.push(`apply ${round} ended with ${applied.code}: ${applied.err}`);
  }
  return [...broken, 'four plans later something is left'];
}
