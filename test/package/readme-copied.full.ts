/**
 * What the README and the guides show, copied line by line into a shell on an empty home with the built program: without a terminal,
 * with standard error away, with standard input closed, and where the first failure ends the script.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { GUIDE_PAGES } from '../support/guide-pages.ts';
import { home, ROOT } from './built.ts';

interface Line {
  readonly text: string;
  /** The exit code that the page shows. */
  readonly code: number;
}

interface Copied {
  readonly title: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly lines: readonly Line[];
}

/** Another service, an op, an id or a program that only its reader has, and what sets the program up. */
const NOT_HERE =
  /…|api\.example\.com|^npm |-- npm |\brows\.csv|checkout\.sh|card_7\b|^cardwright --profile team|^cardwright login|^cardwright profiles set team/;

const blocks: Copied[] = GUIDE_PAGES.flatMap(page => {
  const markdown = readFileSync(join(ROOT, page), 'utf8');
  const files = [...markdown.matchAll(/^```file (\S+)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => ({
    name,
    text,
  }));
  return [...markdown.matchAll(/^```(sh|console[^\n]*)\n(.*?)^```$/gms)]
    .map(([, kind = '', text = '']) => (kind === 'sh' ? plainLines(text) : consoleLines(text)))
    .map(lines => lines.filter(({ text }) => !NOT_HERE.test(text) || files.some(({ name }) => text.includes(name))))
    .filter(lines => lines.length > 0)
    .map(lines => ({ title: `${page}: ${lines[0]?.text ?? ''}`, files, lines }));
});

function plainLines(text: string): Line[] {
  const lines = text.split('\n').filter(line => line.trim() !== '');
  return lines.map(line => ({ text: line.replace(/\s+#.*$/, ''), code: 0 }));
}

function consoleLines(text: string): Line[] {
  const steps = text
    .replaceAll(/\\\n\s*/g, '')
    .split(/^\$ /m)
    .slice(1);
  return steps.map(step => ({
    text: step.split('\n')[0] ?? '',
    code: Number(/^\[exit (\d+)\]$/m.exec(step)?.[1] ?? 0),
  }));
}

/** Runs the lines in one shell that has run the lines before them; resolves to the code of each that was reached. */
async function copied({ lines, files: beside }: Copied, begin: string): Promise<readonly number[]> {
  await using place = await home();
  const bin = join(place.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'cardwright'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'bin', 'cardwright.js')}' "$@"\n`,
  );
  chmodSync(join(bin, 'cardwright'), 0o755);
  for (const { name, text } of beside) writeFileSync(join(place.folder, name), text);
  const told = join(place.folder, 'told');
  const steps = lines.map(({ text }) => `${text}\necho $? >> '${told}'`);
  const script = `trap 'code=$?; echo $code >> "${told}"; cardwright sandbox stop > "${told}.stop" 2>&1; exit $code' EXIT
cardwright profiles use sandbox > '${told}.use' 2>&1
${begin}
${steps.join('\n')}`;
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: place.folder, SHLVL: '1' };
  const ran = spawnSync('bash', ['-c', script], { cwd: place.folder, env, encoding: 'utf8', timeout: 120_000 });
  expect(ran.signal).toBeNull();
  return readFileSync(told, 'utf8').split('\n').slice(0, -1).map(Number);
}

describe.each(blocks)('$title', block => {
  const codes = block.lines.map(({ code }) => code);

  it.each([
    ['without a terminal', ':'],
    ['with standard error away', 'exec 2> /dev/null'],
    ['with standard input closed', 'exec 0<&-'],
  ])('works as copied %s', async (_, begin) => {
    expect((await copied(block, begin)).slice(0, -1)).toEqual(codes);
  });

  it('works as copied where the first failure ends it', async () => {
    const failing = codes.findIndex(code => code !== 0);
    const reached = failing === -1 ? [...codes, 0] : codes.slice(0, failing + 1);
    expect(await copied(block, 'set -euo pipefail')).toEqual(reached);
  });
});

it('covers most of what the pages show', () => {
  expect(blocks.length).toBeGreaterThanOrEqual(9);
  expect(blocks.flatMap(({ lines }) => lines).length).toBeGreaterThanOrEqual(25);
});
