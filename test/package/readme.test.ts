/** The examples of the README and the guides that start processes: run in a real shell with the built program. */
import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { GUIDE_PAGES } from '../support/guide-pages.ts';
import { fits } from '../support/transcript.ts';
import { home, ROOT } from './built.ts';

interface Step {
  readonly line: string;
  readonly expected: string;
}

const pages = await Promise.all(GUIDE_PAGES.map(page => readFile(join(ROOT, page), 'utf8')));
const blocks = pages.flatMap(page =>
  [...page.matchAll(/^```console shell\n(.*?)^```$/gms)].map(([, text = '']) => stepsOf(text)),
);

function stepsOf(text: string): readonly Step[] {
  const parts = text.split(/^\$ /m).slice(1);
  return parts.map(part => {
    const [line = '', ...expected] = part.trimEnd().split('\n');
    return { line, expected: expected.join('\n') };
  });
}

const MARK = '--- next ---';

/** One shell for all lines; resolves to what each wrote, both streams, with its code when it is not 0. */
async function inShell(steps: readonly Step[]): Promise<readonly string[]> {
  await using place = await home();
  const program = join(place.folder, 'cardwright');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'bin', 'cardwright.js')}' "$@"\n`);
  await chmod(program, 0o755);
  const script = steps.map(({ line }) => `${line}\ncode=$?; [ $code = 0 ] || echo "[exit $code]"; echo '${MARK}'\n`);
  const env = { PATH: `${place.folder}:${process.env['PATH']}`, CARDWRIGHT_CONFIG_DIR: join(place.folder, 'home') };
  const text = await new Promise<string>(resolve => {
    const how = { cwd: place.folder, env, timeout: 60_000 };
    execFile('sh', ['-c', `exec 2>&1\n${script.join('')}cardwright sandbox stop`], how, (_error, stdout) =>
      resolve(stdout),
    );
  });
  return text.split(`${MARK}\n`).map(part => part.trimEnd());
}

describe('the guides in a shell', () => {
  it.each(blocks.map(steps => [steps[0]?.line ?? '', steps] as const))('%s', { timeout: 180_000 }, async (_, steps) => {
    const told = await inShell(steps);
    for (const [index, { line, expected }] of steps.entries()) {
      const came = told[index] ?? '';
      expect(fits(expected, came), `$ ${line}\n${came}`).toBe(true);
    }
  });

  it('has its examples', () => {
    expect(blocks).toHaveLength(2);
  });
});
