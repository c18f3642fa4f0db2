/** Programs that are not ours and that tests drive: skipped aloud where they are missing, a failure where CI has them. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** Programs that `.ci/install-programs` installs, with the command that succeeds where they are. */
const installed = new Map(
  readFileSync(join(import.meta.dirname, '..', '..', '.ci', 'programs'), 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.split(' '))
    .map(([name = '', , ...probe]) => [name, probe]),
);

const known = new Map<string, boolean>();

function isThere(name: string): boolean {
  const [program = name, ...words] = installed.get(name) ?? [name, '--version'];
  const found = known.get(name) ?? spawnSync(program, words, { stdio: 'ignore' }).status === 0;
  if (!known.has(name) && !found) process.stderr.write(`SKIPPED: ${name} is not here, and what needs it did not run\n`);
  known.set(name, found);
  return found;
}

export interface Surroundings {
  readonly ci: boolean;
  readonly platform: NodeJS.Platform;
  readonly isThere: (name: string) => boolean;
}

const HERE: Surroundings = { ci: process.env['CI'] === 'true', platform: process.platform, isThere };

/**
 * Why tests that need these programs are skipped here, for `skipIf` and `skip`; undefined when all are there. Throws
 * under CI on Linux, where a program of `.ci/programs` must be there: a proof that is skipped proves nothing.
 */
export function requires(
  names: string | readonly string[],
  { ci, platform, isThere: there } = HERE,
): string | undefined {
  const missing = [names].flat().find(name => !there(name));
  if (missing === undefined) return undefined;
  if (ci && platform === 'linux' && installed.has(missing)) {
    throw new Error(`${missing} is not here, and CI must have it: .ci/install-programs`);
  }
  return `${missing} is not here`;
}
