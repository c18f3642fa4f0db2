/**
 * `npm run simulate`: plays histories in several processes, shortens what fails, and prints how often everything occurred.
 * A failing seed is one line with the command that replays it alone.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { FOUND } from './found.ts';
import { type History, historyOf, shorter } from './history.ts';
import { MISTAKES } from './mistakes.ts';
import { takeCrashes } from './platform.ts';
import { type Played, play } from './play.ts';
import { buildProgram, openProgram, type Program } from './program.ts';

/** What a process that plays is told to do. */
interface Task {
  readonly from: number;
  readonly count: number;
}

/** What came of it. */
interface Result {
  readonly failed: readonly { readonly seed: number; readonly broken: readonly string[] }[];
  readonly counts: readonly (readonly [string, number])[];
  readonly played: number;
  readonly cpuMs: number;
}

const CHUNK = 40;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    found: { type: 'boolean', default: false },
    mistakes: { type: 'boolean', default: false },
    mistake: { type: 'string' },
    workers: { type: 'string', default: String(Math.min(8, availableParallelism())) },
    worker: { type: 'string' },
    stop: { type: 'boolean', default: false },
    raw: { type: 'boolean', default: false },
  },
});

async function command(): Promise<number> {
  if (values.mistakes) return judgeMistakes();
  const mistake =
    values.mistake === undefined ? undefined : MISTAKES.find(({ name }) => name.startsWith(values.mistake ?? ''));
  if (values.mistake !== undefined && mistake === undefined) throw new Error(`no mistake is named ${values.mistake}`);
  const text = await buildProgram(mistake?.exchanges);
  if (values.found && (await replayFound(text)) > 0) return 1;
  if (values.found && values.seeds === undefined) return 0;
  if (values.seeds === undefined && values.seed !== undefined) return replay(text, values.seed.split(',').map(Number));
  const from = Number(values.seed ?? 1);
  const { failed, counts, played, cpuMs } = await playAll(text, from, Number(values.seeds ?? 2000), values.stop);
  print(table(counts));
  print(
    `${played} seeds, ${failed.length} failed, ${Math.round(cpuMs / 1000)} s of processor time, ${Math.round(cpuMs / played)} ms a seed`,
  );
  const program = failed.length > 0 ? await opened(text) : undefined;
  for (const { seed, broken } of failed.toSorted((a, b) => a.seed - b.seed).slice(0, 10)) {
    print(`\nseed ${seed}: ${broken[0]}\n  npm run simulate -- --seed ${seed}`);
    if (program !== undefined && failed.length <= 3) await showShortest(program, historyOf(seed));
  }
  return failed.length > 0 ? 1 : 0;
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

async function opened(text: string): Promise<Program> {
  takeCrashes();
  return openProgram(text);
}

async function replay(text: string, seeds: readonly number[]): Promise<number> {
  const program = await opened(text);
  let failed = 0;
  for (const seed of seeds) {
    const played = await play(program, historyOf(seed));
    print(`seed ${seed}:`);
    show(played);
    if (played.broken.length === 0) continue;
    failed += 1;
    if (values.stop) break;
    await showShortest(program, historyOf(seed));
  }
  return failed === 0 ? 0 : 1;
}

function show({ story, broken }: Played): void {
  for (const line of story) print(`  ${values.raw ? line : line.slice(0, 260)}`);
  for (const line of broken) print(`  BROKEN ${line}`);
}

/** The shortest history that still breaks the same law. */
async function showShortest(program: Program, history: History): Promise<void> {
  const kind = lawOf((await play(program, history)).broken[0] ?? '');
  let shortest = history;
  for (let isShorter = true; isShorter; ) {
    isShorter = false;
    for (const next of shorter(shortest)) {
      const { broken } = await play(program, next);
      if (!broken.some(line => lawOf(line) === kind)) continue;
      [shortest, isShorter] = [next, true];
      break;
    }
  }
  print('the shortest:');
  show(await play(program, shortest));
  print(`  ${JSON.stringify(shortest)}`);
}

const lawOf = (broken: string) =>
  broken
    .replace(/\d+/g, '')
    .replace(/^step :/, '')
    .replace(/^in the end:/, '');

async function replayFound(text: string): Promise<number> {
  const program = await opened(text);
  let failed = 0;
  for (const { name, history } of FOUND) {
    const played = await play(program, history);
    const broken = played.broken.length > 0;
    print(`${broken ? 'BROKEN' : 'kept'}: ${name}`);
    if (broken && values.raw) show(played);
    if (broken) failed += 1;
  }
  return failed === 0 ? 0 : 1;
}

/** Each mistake in a process of its own: its seed first, and where that finds it no more, those from the first on. */
async function judgeMistakes(): Promise<number> {
  const left = MISTAKES.filter(({ name }) => name.search(values.mistake ?? '') !== -1);
  let missed = 0;
  const drive = async () => {
    for (let mistake = left.shift(); mistake !== undefined; mistake = left.shift()) {
      const { name, seed, exchanges } = mistake;
      try {
        const text = await buildProgram(exchanges);
        const kept = await playAll(text, seed, 1, true, 1);
        const { failed, played } =
          kept.failed.length > 0 ? kept : await playAll(text, 1, Number(values.seeds ?? 2000), true, 1);
        const [first] = failed;
        if (first === undefined) missed += 1;
        const said = first === undefined ? `NOT FOUND in ${played} seeds` : `seed ${first.seed}`;
        print(`${said}\t${name}\t${first?.broken[0] ?? ''}`);
      } catch (thrown) {
        missed += 1;
        print(`NOT PLANTED\t${name}\t${(thrown as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, drive));
  return missed === 0 ? 0 : 1;
}

/** In several processes, each with a part of them. `stop`: until one fails. */
async function playAll(
  text: string,
  from: number,
  count: number,
  stop: boolean,
  workers = Number(values.workers),
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'cardwright-simulate-'));
  const file = join(folder, 'program.cjs');
  writeFileSync(file, text);
  const counts = new Map<string, number>();
  const failed: Result['failed'][number][] = [];
  let [next, played, cpuMs] = [from, 0, 0];
  const drive = async () => {
    const child: ChildProcess = fork(process.argv[1] ?? '', ['--worker', file, ...(stop ? ['--stop'] : [])], {
      execArgv: ['--max-semi-space-size=64', '--interrupt-budget=2000000'],
    });
    let left: (() => void) | undefined;
    child.on('exit', code => {
      if (left !== undefined && code !== 0)
        failed.push({ seed: next, broken: [`a process that plays ended with ${code}`] });
      left?.();
    });
    while (next < from + count && !(stop && failed.length > 0)) {
      const task: Task = { from: next, count: Math.min(CHUNK, from + count - next) };
      next += task.count;
      const result = await new Promise<Result | undefined>(resolve => {
        left = () => resolve(undefined);
        child.once('message', message => resolve(message as Result));
        child.send(task);
      });
      if (result === undefined) break;
      failed.push(...result.failed);
      if (!values.mistakes) for (const { seed, broken } of result.failed) print(`seed ${seed}: ${broken[0]}`);
      played += result.played;
      cpuMs += result.cpuMs;
      for (const [what, times] of result.counts) counts.set(what, (counts.get(what) ?? 0) + times);
    }
    left = undefined;
    child.disconnect();
  };
  await Promise.all(Array.from({ length: workers }, drive));
  rmSync(folder, { recursive: true });
  return { failed, counts: [...counts], played, cpuMs };
}

/** A process that plays what it is told to. */
async function work(file: string): Promise<void> {
  const program = await opened(readFileSync(file, 'utf8'));
  process.on('message', ({ from, count }: Task) => {
    void (async () => {
      const counts = new Map<string, number>();
      const failed: Result['failed'][number][] = [];
      const before = process.cpuUsage();
      let seed = from;
      for (; seed < from + count; seed += 1) {
        const played = await play(program, historyOf(seed));
        for (const [what, times] of played.counts) counts.set(what, (counts.get(what) ?? 0) + times);
        if (played.broken.length === 0) continue;
        failed.push({ seed, broken: played.broken });
        if (values.stop) break;
      }
      const { user, system } = process.cpuUsage(before);
      const result: Result = { failed, counts: [...counts], played: seed - from, cpuMs: (user + system) / 1000 };
      process.send?.(result);
    })();
  });
  process.on('disconnect', () => process.exit(0));
}

/** How often each thing occurred, by kind. */
function table(counts: Result['counts']): string {
  const kind = (what: string) =>
    /^(?:exit|says|does|somebody|dies|stands|is interrupted|killed)/.exec(what)?.[0] ?? 'also';
  return counts
    .toSorted(([a, n], [b, m]) => kind(a).localeCompare(kind(b)) || m - n)
    .map(([what, times]) => `${String(times).padStart(8)}  ${what}`)
    .join('\n');
}

if (values.worker !== undefined) await work(values.worker);
else process.exitCode = await command();
