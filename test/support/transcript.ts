/**
 * Console blocks in Markdown as tests. A block opens with ```console and options (`sandbox`, `wallet=15`, `data=demo`,
 * `terminal=80`); each line that begins with `$ ` is a command, what follows is exactly its output, stdout and stderr
 * as they came. `…` stands for any text within a line, on a line of its own for any lines. A code other than 0 is
 * `[exit n]`. Blocks of one file share their world unless a block says `fresh`. `< text` after a command is its input.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { type Ran, type World, world } from './world.ts';

export interface Step {
  readonly line: string;
  /** Standard input, from `$ echo text | cardwright …` or `$ printf …`. */
  readonly stdin: string | undefined;
  readonly expected: string;
  readonly at: number;
}

export interface Block {
  readonly options: ReadonlyMap<string, string>;
  readonly steps: readonly Step[];
}

/** The console blocks of a Markdown text that are meant to be run: those with the word `sandbox`. */
export function readBlocks(markdown: string): Block[] {
  const lines = markdown.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const opened = /^```console (.*\bsandbox\b.*)$/.exec(lines[at] ?? '');
    if (!opened) continue;
    const end = lines.indexOf('```', at + 1);
    const options = new Map(
      (opened[1] ?? '').split(' ').map(word => [word.split('=')[0] ?? '', word.split('=')[1] ?? ''] as const),
    );
    blocks.push({ options, steps: readSteps(lines, at + 1, end) });
    at = end;
  }
  return blocks;
}

function readSteps(lines: readonly string[], from: number, to: number): Step[] {
  const steps: { line: string; stdin: string | undefined; expected: string[]; at: number }[] = [];
  for (let at = from; at < to; at++) {
    const text = lines[at] ?? '';
    if (text.startsWith('$ ')) {
      let line = text.slice(2);
      while (line.endsWith('\\')) line = line.slice(0, -1) + (lines[++at] ?? '').trim();
      const piped = /^echo '([^']*)' \| (.*)$/.exec(line);
      steps.push({ line: piped?.[2] ?? line, stdin: piped ? `${piped[1]}\n` : undefined, expected: [], at });
    } else steps.at(-1)?.expected.push(text);
  }
  return steps.map(step => ({ ...step, expected: step.expected.join('\n') }));
}

/** What a run shows in a transcript. */
export function shownAs({ all, code }: Ran): string {
  const text = all.replace(/\n$/, '');
  return code === 0 ? text : `${text}\n[exit ${code}]`;
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

/** Runs the blocks of a file. With `UPDATE=1` writes what came into the file instead of comparing. */
export async function runTranscript(path: string, update: boolean): Promise<readonly string[]> {
  const markdown = await readFile(path, 'utf8');
  const problems: string[] = [];
  const replacements: { readonly step: Step; readonly actual: string }[] = [];
  let current: World | undefined;
  try {
    for (const { options, steps } of readBlocks(markdown)) {
      if (current === undefined || options.has('fresh') || options.has('wallet') || options.has('data')) {
        await current?.[Symbol.asyncDispose]();
        current = await world(worldOptions(options));
      }
      for (const step of steps) {
        const ran = await current.run(step.line, step.stdin === undefined ? {} : { stdin: step.stdin });
        const actual = shownAs(ran);
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
  const terminal = options.get('terminal');
  return {
    ...(wallet === undefined ? {} : { wallet: Number(wallet) }),
    ...(options.get('data') === 'demo' ? { data: 'demo' as const } : {}),
    ...(terminal === undefined ? {} : { terminal: Number(terminal) }),
  };
}

function rewritten(
  markdown: string,
  replacements: readonly { readonly step: Step; readonly actual: string }[],
): string {
  const lines = markdown.split('\n');
  for (const { step, actual } of [...replacements].reverse()) {
    let start = step.at + 1;
    while (lines[start - 1]?.endsWith('\\')) start++;
    const length = step.expected === '' && lines[start] !== '' ? 0 : step.expected.split('\n').length;
    lines.splice(start, length, ...(actual === '' ? [] : actual.split('\n')));
  }
  return lines.join('\n');
}
