/**
 * Console blocks in Markdown as tests; test/README.md shows how to write one. A block opens with ```console and
 * options (`sandbox`, `served`, `wallet=15`, `data=demo`, `terminal=80`, `fresh`); each line that begins with `$ ` is a
 * command, what follows is exactly its output, stdout and stderr as they came.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ran, type RunOptions, type World, type WorldOptions, world } from './world.ts';

export interface Step {
  readonly kind: 'command';
  readonly line: string;
  /** What is typed at questions, one answer a line: the lines `< answer` under the command. */
  readonly typed: readonly string[];
  readonly expected: string;
  /** Line of the command, and the lines of its output: from, to (exclusive). All from 0. */
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

export interface Block {
  readonly kind: 'console';
  readonly options: ReadonlyMap<string, string>;
  readonly steps: readonly Step[];
}

/** A block ```file name: written into the folder of the world before what follows. */
export interface NamedFile {
  readonly kind: 'file';
  readonly name: string;
  readonly content: string;
}

/** The parts of a Markdown text that are meant to be run: files, and console blocks with the word `sandbox`. */
export function readBlocks(markdown: string): (Block | NamedFile)[] {
  const lines = markdown.split('\n');
  const blocks: (Block | NamedFile)[] = [];
  for (let at = 0; at < lines.length; at++) {
    const opened = /^```(?:console (?<options>.*\bsandbox\b.*)|file (?<name>\S+))$/.exec(lines[at] ?? '')?.groups;
    if (!opened) continue;
    const end = lines.indexOf('```', at + 1);
    if (opened['name']) {
      blocks.push({ kind: 'file', name: opened['name'], content: `${lines.slice(at + 1, end).join('\n')}\n` });
    } else
      blocks.push({ kind: 'console', options: readOptions(opened['options']), steps: readSteps(lines, at + 1, end) });
    at = end;
  }
  return blocks;
}

function readOptions(text = ''): ReadonlyMap<string, string> {
  return new Map(text.split(' ').map(word => [word.split('=')[0] ?? '', word.split('=')[1] ?? ''] as const));
}

function readSteps(lines: readonly string[], start: number, end: number): Step[] {
  const steps: Step[] = [];
  for (let at = start; at < end; ) {
    const command = at;
    let line = (lines[at++] ?? '').replace(/^\$ /, '');
    while (line.endsWith('\\')) line = line.slice(0, -1) + (lines[at++] ?? '').trim();
    const typed: string[] = [];
    while (at < end && /^<( |$)/.test(lines[at] ?? '')) typed.push((lines[at++] ?? '').slice(2));
    const from = at;
    while (at < end && !lines[at]?.startsWith('$ ')) at++;
    const expected = lines.slice(from, at).join('\n');
    steps.push({ kind: 'command', line, typed, expected, at: command, from, to: at });
  }
  return steps;
}

/** What a run shows in a transcript: control and direction characters by their number, so that a page can hold them. */
export function shownAs({ all, code }: Ran): string {
  const text = all.replace(/\n$/, '').replace(/[\0-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, named);
  if (code === 0) return text;
  return text === '' ? `[exit ${code}]` : `${text}\n[exit ${code}]`;
}

function named(char: string): string {
  return `⟨${char.charCodeAt(0).toString(16).padStart(4, '0')}⟩`;
}

/** True when `actual` is `expected` with its gaps filled. */
export function fits(expected: string, actual: string): boolean {
  const pattern = expected
    .split('\n')
    .map(line => (line === '…' ? '(?:.*(?:\\n|$))*?' : `${line.split('…').map(escapeForRegExp).join('.*?')}\\n`))
    .join('');
  return new RegExp(`^${pattern}$`, 'u').test(`${actual}\n`);
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** In place of the address of a served sandbox, whose port is another one each time. */
const SHOWN_ADDRESS = 'https://api.example.com/v1';

export interface TranscriptWishes {
  /** Writes what came into the file instead of comparing. */
  readonly update: boolean;
  /** What stands between its commands and their sandbox. */
  readonly between?: WorldOptions['between'];
}

/** Runs the blocks of a file; resolves to what came otherwise than it stands there. */
export async function runTranscript(path: string, wishes: TranscriptWishes): Promise<readonly string[]> {
  const { update, between } = wishes;
  const markdown = await readFile(path, 'utf8');
  const problems: string[] = [];
  const replacements: { readonly step: Step; readonly actual: string }[] = [];
  const files: NamedFile[] = [];
  let current: World | undefined;
  let variables = new Map<string, string>();
  try {
    for (const block of readBlocks(markdown)) {
      if (block.kind === 'file') {
        files.push(block);
        continue;
      }
      const { options, steps } = block;
      if (current === undefined || ['fresh', 'wallet', 'data'].some(word => options.has(word))) {
        await current?.[Symbol.asyncDispose]();
        current = await world({ ...worldOptions(options), between });
        variables = new Map();
        if (options.has('served')) {
          variables.set('address', current.sandbox.url);
          await writeFile(join(current.folder, 'key.txt'), `${current.sandbox.key.expose()}\n`, { mode: 0o600 });
        }
      }
      for (const { name, content } of files) await writeFile(join(current.folder, name), content);
      for (const step of steps) {
        const shown = shownAs(await inShell(current, step, { options, variables })).replaceAll(current.folder, '~');
        const actual = options.has('served') ? shown.replaceAll(current.sandbox.url, SHOWN_ADDRESS) : shown;
        if (fits(step.expected, actual)) continue;
        replacements.push({ step, actual });
        problems.push(`${path}:${step.at + 1}\n$ ${step.line}\n--- expected\n${step.expected}\n--- came\n${actual}`);
      }
    }
  } finally {
    await current?.[Symbol.asyncDispose]();
  }
  if (!update || replacements.length === 0) return problems;
  await writeFile(path, rewritten(markdown, replacements));
  return [];
}

function worldOptions(options: ReadonlyMap<string, string>) {
  const wallet = options.get('wallet');
  return {
    ...(wallet === undefined ? {} : { wallet: Number(wallet) }),
    ...(options.get('data') === 'demo' ? { data: 'demo' as const } : {}),
    ...(options.has('served') ? { served: true } : {}),
  };
}

interface Shell {
  readonly options: ReadonlyMap<string, string>;
  /** Set by `name=$(cardwright …)`. */
  readonly variables: Map<string, string>;
}

/** As `pipeline`, with `name=$(cardwright …)` before it and `"$name"` in it. */
async function inShell(current: World, step: Step, { options, variables }: Shell): Promise<Ran> {
  const [, name, command] = /^([a-z_]+)=\$\((.*)\)$/.exec(step.line) ?? [];
  const asked = (command ?? step.line).replace(/"\$([a-z_]+)"/g, (whole, wanted) => variables.get(wanted) ?? whole);
  const ran = await pipeline(current, { line: asked, typed: step.typed }, options, name !== undefined);
  if (name === undefined) return ran;
  variables.set(name, ran.out.trimEnd());
  return { ...ran, all: ran.err };
}

/**
 * Runs `echo '…' | cardwright …`, `cardwright … | cardwright …`, `cardwright … < file` and `NAME=value cardwright …`.
 * As in a shell, a pipe takes the terminal away from the ends it joins, and the last command's code counts.
 */
export async function pipeline(
  current: World,
  step: Pick<Step, 'line' | 'typed'>,
  options: ReadonlyMap<string, string>,
  captured = false,
): Promise<Ran> {
  const terminal = options.get('terminal');
  const parts = step.line.split(/ \| (?=cardwright )/);
  let before: Ran = { code: 0, out: '', err: '', all: '' };
  let piped: string | undefined;
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    const text = /^echo '([^']*)'$/.exec(part)?.[1];
    if (text !== undefined) {
      piped = `${text}\n`;
      continue;
    }
    const { command, env: written, file } = readCommand(part);
    // As a shell does it; the folder of the world is at home.
    const env = Object.fromEntries(
      Object.entries(written).map(([name, value]) => [name, value.replace(/^~(?=\/)/, current.folder)]),
    );
    const stdin = file === undefined ? piped : await readFile(join(current.folder, file), 'utf8');
    const told: RunOptions = {
      env: { NO_COLOR: '1', ...env },
      typed: step.typed,
      ...(stdin === undefined ? {} : { stdin }),
      // What waits without a terminal tells nobody how long: its pauses pass at once.
      ...(terminal === undefined
        ? { onPause: () => undefined }
        : { terminal: Number(terminal), stdoutPiped: captured || !last }),
    };
    const ran = await current.run(command, told);
    before = { ...ran, all: last ? before.all + ran.all : before.all + ran.err };
    piped = ran.out;
  }
  return before;
}

function readCommand(part: string) {
  const [, variables = '', rest = '', file] = /^((?:[A-Z_]+=\S* )*)(.*?)(?: < (\S+))?$/.exec(part) ?? [];
  const pairs = variables
    .split(' ')
    .filter(Boolean)
    .map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const);
  return { command: rest, env: Object.fromEntries(pairs), file };
}

function rewritten(
  markdown: string,
  replacements: readonly { readonly step: Step; readonly actual: string }[],
): string {
  const lines = markdown.split('\n');
  for (const { step, actual } of [...replacements].reverse()) {
    lines.splice(step.from, step.to - step.from, ...(actual === '' ? [] : actual.split('\n')));
  }
  return lines.join('\n');
}
