/**
 * What the guards must say to every command in every situation, from the effect column alone: a second telling of
 * docs/design/cli.md, "Guards", that shares no code with `writes/guard.ts`.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { type Command, commandsOf } from '../../src/cli/parsing/declaration.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { LIVE_ADDRESS, liveFront } from '../support/live-front.ts';
import { type World, world } from '../support/world.ts';

export type Mode = 'sandbox' | 'test' | 'live';
export type Where = 'pipe' | 'terminal' | 'terminal --no-input' | 'terminal, answered';
export type Said = '' | '--yes' | '--live @' | '--yes --live @' | '--yes --live other' | '--dry-run';

export const MODES: readonly Mode[] = ['sandbox', 'test', 'live'];
export const WHERES: readonly Where[] = ['pipe', 'terminal', 'terminal --no-input', 'terminal, answered'];
export const SAIDS: readonly Said[] = ['', '--yes', '--live @', '--yes --live @', '--yes --live other', '--dry-run'];

export interface Case {
  readonly command: Command;
  /** A line of its examples, without what speaks of guards, shells and formats. */
  readonly line: string;
}

/** Active in the demo data, where the cards of the examples have ended. */
const ACTIVE = ['card_12', 'card_11'] as const;

const SAYING = / --(?:yes|dry-run|json|reveal|probe-idempotency)\b| -q\b| [<>|] .*$/g;

/** Files that lines name, by their names. Their cards are active in the demo data. */
const FILES: Readonly<Record<string, string>> = {
  'team.csv': 'bin_id,amount\nbin_1,5\nbin_1,6\n',
  'cards.csv': `card_id\n${ACTIVE.join('\n')}\n`,
};

/** Rows of a file or of a condition: their count is asked for, with every key. */
export function isChosen(line: string): boolean {
  return / --(?:file|where|idle) /.test(line);
}

/** Every command with lines to try: the first of its examples, or all. */
export async function everyCommand(all = false): Promise<readonly Case[]> {
  const groups = await Promise.all(REGISTRY.map(commandsOf));
  return groups.flat().flatMap(command => {
    const lines = command.examples.map(({ run }) =>
      run
        .replaceAll(SAYING, '')
        .replace(/ --wait-timeout \S+/, ' --wait-timeout 100ms')
        .replace(' auto', ' bin_1')
        // No card of the demo data is idle for so long.
        .replace(' --idle 30d', ' --idle 1d')
        .replaceAll('card_1', ACTIVE[0])
        .replaceAll(/card_2\b/g, ACTIVE[1]),
    );
    const distinct = [...new Set(lines)];
    const runnable = distinct.filter(
      line =>
        // Without a shared journal it is refused before anything is asked.
        !line.includes('--without-journal') && (!line.includes('--file') || (all && fileOf(line) in FILES)),
    );
    return (all ? runnable : runnable.slice(0, 1)).map(line => ({ command, line }));
  });
}

/** Freezing, in each of its examples and each way to say which cards. */
export async function freezings(): Promise<readonly Case[]> {
  const examples = (await everyCommand(true)).filter(({ command }) => command.operation === 'cards.freeze');
  const ways = [ACTIVE[0], ACTIVE.join(' '), '--file cards.csv', '--where status=active', '--idle 1d'];
  const lines = new Set([...examples.map(({ line }) => line), ...ways.map(way => `cards freeze ${way}`)]);
  return examples.slice(0, 1).flatMap(({ command }) => [...lines].map(line => ({ command, line })));
}

const fileOf = (line: string) => / --file (\S+)/.exec(line)?.[1] ?? '';

export function effectOf({ operation }: Command) {
  return operation !== undefined && operation in OPERATIONS
    ? OPERATIONS[operation as keyof typeof OPERATIONS].effect
    : undefined;
}

/** `sent`: a writing request left. The number is the exit code of a refusal. */
export type Verdict = 'sent' | 'planned' | 3 | 14;

export function verdictOf(
  { command, line }: Case,
  { mode, where, said }: { readonly mode: Mode; readonly where: Where; readonly said: Said },
): Verdict {
  const irreversible = effectOf(command) === 'irreversible';
  const chosen = isChosen(line);
  // Freezing the cards that were named is the safe direction.
  const safe = command.operation === 'cards.freeze' && !chosen;
  const asks = where.startsWith('terminal') && where !== 'terminal --no-input';
  const [yes, named] = [said.includes('--yes'), said.includes('--live @')];
  const several = / \S+_\d+ \S+_\d+/.test(line);
  const answered = where === 'terminal, answered';
  if (said === '--dry-run') return 'planned';
  if (said.includes('other')) return 14;
  // The count of several cards is asked for before any of them is looked at.
  if (several && irreversible && !yes && !asks) return 3;
  if (mode === 'live' && !asks && !(named && (yes || safe))) return 14;
  const question = !yes && (irreversible || chosen || (mode === 'live' && !safe));
  if (!question || (asks && answered)) return 'sent';
  return 3;
}

/** What a person types who agrees. */
async function answersTo({ command, line }: Case, { mode, last4, run }: Stage): Promise<readonly string[]> {
  if (isChosen(line)) {
    if (mode !== 'live' && effectOf(command) !== 'irreversible') return ['y'];
    const { out } = await run(`${line} --dry-run --json`);
    // One request is shown by itself.
    const { data } = JSON.parse(out) as { data?: unknown[] };
    return [String(data?.length ?? 1)];
  }
  const ids = line.match(/ card_\d+/g) ?? [];
  if (effectOf(command) !== 'irreversible' || ids.length === 0) return ['y', 'y'];
  return [ids.length > 1 ? String(ids.length) : last4];
}

export interface Stage extends AsyncDisposable {
  readonly here: World;
  readonly mode: Mode;
  readonly last4: string;
  /** Runs the line as the profile of this mode. */
  run(line: string, how?: Parameters<World['run']>[1]): ReturnType<World['run']>;
  /** Requests since the last question that are not GET, or that reveal. */
  newWrites(): Promise<number>;
  /** The name `--live` must give. */
  readonly name: string;
}

const KEYS = { test: 'sk_test_9c1e77aa03d24bfe', live: 'sk_live_51f0c2d89ab34e67' } as const;

/** A world with cards, transactions and a subscription, and a profile of the mode. */
export async function stage(mode: Mode): Promise<Stage> {
  const here = await world({ data: 'demo', env: { CARDWRIGHT_PROFILE: '' } });
  const last4 = (await here.run(`cards get ${ACTIVE[0]} --sandbox --json`)).out.match(/"last4": "(\d{4})"/)?.[1] ?? '';
  const front = await liveFront(here.sandbox, here.folder);
  // What the examples take for granted.
  await writeFile(join(here.folder, 'secret.txt'), 'whsec_0123456789abcdef0123456789abcdef\n');
  for (const [file, text] of Object.entries(FILES)) await writeFile(join(here.folder, file), text);
  const name = mode === 'sandbox' ? 'sandbox' : 'shop';
  if (mode !== 'sandbox') {
    const login = `login --profile shop --base-url ${LIVE_ADDRESS} --key-stdin`;
    const { code } = await here.run(login, { stdin: KEYS[mode] });
    if (code !== 0) throw new Error('nobody is logged in');
  }
  let seen = 0;
  const run: Stage['run'] = (line, how = {}) =>
    here.run(`${line.trim()} --profile ${name}`, { ...how, env: { ...front.env, ...how.env } });
  const writes = async () => {
    if (mode !== 'sandbox') return front.asked.filter(({ method }) => method !== 'GET').length;
    const { out } = await here.run('audit list --all --json --sandbox');
    const { data } = JSON.parse(out) as { data: { event: string; of?: number; outcome?: string }[] };
    // What was refused before it was sent has its lines too.
    const unsent = data.filter(({ of, outcome }) => of !== undefined && outcome === 'not_sent').length;
    return data.filter(({ event }) => event === 'write' || event === 'run').length - unsent;
  };
  seen = await writes();
  return {
    here,
    mode,
    name,
    last4,
    run,
    async newWrites() {
      const now = await writes();
      const fresh = now - seen;
      seen = now;
      return fresh;
    },
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await here[Symbol.asyncDispose]();
    },
  };
}

/** What happens, in the words of `Verdict`. */
export async function happened(
  on: Stage,
  one: Case,
  { where, said }: { readonly where: Where; readonly said: Said },
): Promise<{ readonly verdict: Verdict | 'nothing'; readonly code: number; readonly err: string }> {
  const flags = `${said.replace('@', on.name)}${where === 'terminal --no-input' ? ' --no-input' : ''}`;
  const typed = where === 'terminal, answered' ? await answersTo(one, on) : [];
  const { code, err } = await on.run(`${one.line} ${flags}`, where === 'pipe' ? {} : { terminal: 100, typed });
  const writes = await on.newWrites();
  const verdict = writes > 0 ? 'sent' : code === 0 ? 'planned' : code === 3 || code === 14 ? code : 'nothing';
  return { verdict, code, err };
}

/** Commands whose effect must be agreed to. What hands a card to a program follows the rules of reveals. */
export function writes({ command }: Case): boolean {
  const effect = effectOf(command);
  return effect !== undefined && effect !== 'read' && effect !== 'reveals-secret' && !command.rest;
}

export interface Walk {
  readonly mode: Mode;
  readonly wheres: readonly Where[];
  readonly saids: readonly Said[];
}

/** Worlds in which nothing was sent so far; they serve the next line too. */
const unused = new Map<Mode, Stage>();

async function unusedStage(mode: Mode): Promise<Stage> {
  const kept = unused.get(mode);
  unused.delete(mode);
  return kept ?? stage(mode);
}

/** Closes the worlds that walks leave, behind the tests of this file. */
export function closesStages(): void {
  afterAll(async () => {
    for (const each of unused.values()) await each[Symbol.asyncDispose]();
    unused.clear();
  });
}

/** Runs the line in each situation; one world serves until something was sent. Returns how many were walked. */
export async function walk(one: Case, { mode, wheres, saids }: Walk): Promise<number> {
  let on = await unusedStage(mode);
  let walked = 0;
  let isOver = false;
  try {
    for (const where of wheres) {
      for (const said of saids) {
        const situation = { line: one.line, mode, where, said };
        const demanded = verdictOf(one, situation);
        const { verdict, code, err } = await happened(on, one, situation);
        const demandedCode = typeof demanded === 'number' ? demanded : 0;
        expect({ ...situation, verdict, code, err }).toMatchObject({
          ...situation,
          verdict: demanded,
          code: demandedCode,
        });
        if (mode === 'live') expect(err).toContain('LIVE · shop');
        walked += 1;
        if (verdict !== 'sent') continue;
        await on[Symbol.asyncDispose]();
        on = await stage(mode);
      }
    }
    isOver = true;
  } finally {
    if (isOver && !unused.has(mode)) unused.set(mode, on);
    else await on[Symbol.asyncDispose]();
  }
  return walked;
}
