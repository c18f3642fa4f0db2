/**
 * `npm run simulate`: plays histories in several processes, shortens what fails, and prints how often everything occurred.
 * A failing seed is one line with the command that replays it alone.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { buildProgram, type Exchange, openProgram, type Program, planted } from '../support/simulated/program.ts';
import { takeCrashes } from '../support/simulated/world.ts';
import { type History, historyOf, shorter } from './history.ts';
import { type Played, play } from './play.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    /** Each history has a journal that its machines share, in PostgreSQL. */
    shared: { type: 'boolean', default: false },
    mistakes: { type: 'boolean', default: false },
    /** Only those whose names fit: one may hide another. */
    mistake: { type: 'string', default: '' },
    workers: { type: 'string', default: String(Math.min(8, availableParallelism())) },
    /** Of a process that plays: its number. */
    worker: { type: 'string' },
    raw: { type: 'boolean', default: false },
  },
});

const textOf = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const print = (line: string) => void process.stdout.write(`${line}\n`);
const workers = Number(values.workers);
/** What broke a law once, for the seeds 0, -1, -2, … */
const found = textOf('found.jsonl').trim().split('\n');
const from = Number(values.seed ?? (values.mistakes ? 1 : 1 - found.length));
const until = (values.seed === undefined ? 1 : from) + Number(values.seeds ?? 2000);
const historyFor = (seed: number): History =>
  seed > 0 ? historyOf(seed, values.shared) : JSON.parse(found[-seed] as string).history;

/** Resolves to how many have failed. */
async function command(): Promise<number> {
  if (values.mistakes) return judgeMistakes();
  const text = await buildProgram();
  return values.seeds === undefined && values.seed !== undefined ? replay(text) : playAll(text);
}

// Many seeds

interface Failed {
  readonly seed: number;
  readonly broken: string;
}

/** What came of a process that plays. */
interface Result {
  readonly failed: readonly Failed[];
  readonly counts: readonly (readonly [string, number])[];
  readonly cpuMs: number;
}

async function playAll(text: string): Promise<number> {
  const words = ['--workers', `${workers}`, ...process.argv.slice(2)];
  const results = await Promise.all(
    Array.from({ length: workers }, (_, n) => inProcess(['--worker', `${n}`, ...words], text)),
  );
  const counts = new Map<string, number>();
  for (const [what, times] of results.flatMap(result => result.counts)) count(counts, what, times);
  print(table(counts));
  const failed = results.flatMap(result => result.failed).toSorted((a, b) => a.seed - b.seed);
  const cpuMs = results.reduce((sum, result) => sum + result.cpuMs, 0);
  const played = until - from;
  const time = `${Math.round(cpuMs / 1000)} s of processor time, ${Math.round(cpuMs / played)} ms a seed`;
  print(`${played} seeds, ${failed.length} failed, ${time}`);
  const more = values.shared ? ' --shared' : '';
  for (const { seed, broken } of failed.slice(0, 10))
    print(`\nseed ${seed}: ${broken}\n  npm run simulate -- --seed=${seed}${more}`);
  return failed.length;
}

function inProcess(words: readonly string[], text: string): Promise<Result> {
  const child = fork(process.argv[1] ?? '', words, {
    execArgv: ['--max-semi-space-size=16', '--interrupt-budget=600000', '--always-sparkplug'],
  });
  child.send(text);
  return new Promise((resolve, reject) => {
    child.once('message', message => resolve(message as Result));
    child.on('exit', code => reject(new Error(`a process that plays ended with ${code}`)));
  });
}

/** Plays every n-th seed. */
async function work(worker: number): Promise<void> {
  const [text] = (await once(process, 'message')) as [string];
  const program = await openProgram(text);
  const counts = new Map<string, number>();
  const failed: Failed[] = [];
  const before = process.cpuUsage();
  for (let seed = from + worker; seed < until; seed += workers) {
    const played = await play(program, historyFor(seed));
    for (const [what, times] of played.counts) count(counts, what, times);
    const [broken] = played.broken;
    if (broken === undefined) continue;
    failed.push({ seed, broken });
    print(`seed ${seed}: ${broken}`);
  }
  const { user, system } = process.cpuUsage(before);
  const result: Result = { failed, counts: [...counts], cpuMs: (user + system) / 1000 };
  process.send?.(result, () => process.exit(0));
}

const count = (counts: Map<string, number>, what: string, times: number) =>
  counts.set(what, (counts.get(what) ?? 0) + times);

/** How often each thing occurred, by kind. */
function table(counts: ReadonlyMap<string, number>): string {
  const kind = (what: string) => /^(?:exit|says|does|somebody|stands|is interrupted|killed)/.exec(what)?.[0] ?? 'also';
  return [...counts]
    .toSorted(([a, n], [b, m]) => kind(a).localeCompare(kind(b)) || m - n)
    .map(([what, times]) => `${String(times).padStart(8)}  ${what}`)
    .join('\n');
}

// One of them

async function replay(text: string): Promise<number> {
  const program = await openProgram(text);
  const history = historyFor(from);
  const played = await play(program, history);
  show(played);
  if (played.broken.length > 0) await showShortest(program, history, played);
  return played.broken.length;
}

function show({ story, broken }: Played): void {
  for (const line of story) print(`  ${values.raw ? line : line.slice(0, 260)}`);
  for (const line of broken) print(`  BROKEN ${line}`);
}

/** The shortest history that still breaks the same law. */
async function showShortest(program: Program, history: History, played: Played): Promise<void> {
  const lawOf = (broken = '') => broken.replace(/^(?:step \d+|in the end):/, '').replace(/\d+/g, '');
  let shortest = { history, played };
  const isShorter = async () => {
    for (const next of shorter(shortest.history)) {
      // Some make no sense.
      const again = await play(program, next).catch(() => undefined);
      if (!again?.broken.some(line => lawOf(line) === lawOf(played.broken[0]))) continue;
      shortest = { history: next, played: again };
      return true;
    }
    return false;
  };
  while (await isShorter());
  print('the shortest:');
  show(shortest.played);
  print(`  ${JSON.stringify(shortest.history)}`);
}

// Planted mistakes

/** A planted mistake, as `mistakes.diff` writes it. */
interface Mistake {
  readonly name: string;
  /** One that finds it; 0: none is known. */
  readonly seed: number;
  readonly exchanges: readonly Exchange[];
}

function mistakeOf(text: string): Mistake {
  const [title = '', ...files] = text.trimEnd().split('\n@ ');
  const [, name = '', seed = '0'] = /^(.*?)(?: \(seed (\d+)\))?$/.exec(title) ?? [];
  const exchanges = files.map((each): Exchange => {
    const [file = '', ...lines] = each.split('\n');
    const side = (sign: string) => lines.flatMap(line => (line.startsWith(sign) ? [line.slice(1)] : [])).join('\n');
    return [file, side('-'), side('+')];
  });
  return { name, seed: Number(seed), exchanges };
}

/**
 * One program with all mistakes. Each is made alone in the seed that is known; those that are left are made together in one seed
 * after the other, and where a law is broken, in halves of them.
 */
async function judgeMistakes(): Promise<number> {
  const [, ...texts] = textOf('mistakes.diff').split('\n# ');
  const mistakes = texts.map(mistakeOf);
  const program = await openProgram(await buildProgram(mistakes.map(({ exchanges }) => exchanges)));
  const left = new Set([...mistakes.keys()].filter(n => mistakes[n]?.name.match(values.mistake)));
  const playWith = async (seed: number, wrong: readonly number[]) => {
    planted.clear();
    for (const n of wrong) planted.add(n);
    return (await play(program, historyFor(seed))).broken[0];
  };
  const narrow = async (seed: number, wrong: readonly number[]): Promise<void> => {
    const broken = wrong.length === 0 ? undefined : await playWith(seed, wrong);
    if (broken === undefined) return;
    const [only = 0] = wrong;
    if (wrong.length === 1) {
      left.delete(only);
      return print(`seed ${seed}\t${mistakes[only]?.name}\t${broken}`);
    }
    const half = wrong.length >> 1;
    await narrow(seed, wrong.slice(0, half));
    await narrow(seed, wrong.slice(half));
  };
  for (const [n, { seed }] of mistakes.entries()) if (seed > 0 && left.has(n)) await narrow(seed, [n]);
  for (let seed = from; seed < until && left.size > 0; seed += 1) {
    // A seed that breaks a law without them proves nothing.
    if ((await playWith(seed, [...left])) === undefined || (await playWith(seed, [])) !== undefined) continue;
    await narrow(seed, [...left]);
  }
  for (const n of left) print(`NOT FOUND\t${mistakes[n]?.name}`);
  return left.size;
}

takeCrashes();
if (values.worker !== undefined) await work(Number(values.worker));
else process.exitCode = (await command()) === 0 ? 0 : 1;
