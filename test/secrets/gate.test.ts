/** The gate in front of card numbers, in real processes: what a pipe says is no answer. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CODE_CACHE, ended, type Home, home, ROOT } from '../package/built.ts';

const PROGRAM = join(ROOT, 'bin', 'cardwright.js');
let place: Home;
let card: string;
beforeAll(async () => {
  place = await home();
  card = (await place.run(['--sandbox', 'cards', 'create', '--bin', 'auto', '--amount', '5', '-q'])).out.trim();
});
afterAll(() => place[Symbol.asyncDispose]());

/** Runs a shell line in which `$run` is the program. */
function shell(line: string) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    CARDWRIGHT_CONFIG_DIR: place.folder,
    CARDWRIGHT_CACHE: CODE_CACHE,
    run: `${process.execPath} ${PROGRAM} --sandbox`,
    card,
  };
  return ended(spawn('bash', ['-c', line], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

const DETAILS = 'cards details $card';
const WAYS: readonly (readonly [string, string])[] = [
  ['yes |', `yes | $run ${DETAILS}; echo "exit \${PIPESTATUS[1]}"`],
  ['closed standard input', `$run ${DETAILS} <&-; echo "exit $?"`],
  ['no terminal at all', `setsid $run cards exec $card </dev/null -- env; echo "exit $?"`],
];

it.each(WAYS)('is refused with %s', async (_, line) => {
  const { out, err } = await shell(line);
  expect(out).toBe('exit 3\n');
  expect(err).toContain('No change was sent.');
  expect(err).not.toMatch(/\d{13,19}/);
});

it('no reveal was recorded by any of them', async () => {
  const { out } = await place.run(['--sandbox', 'audit', 'list', '--event', 'reveal', '--json']);
  expect(JSON.parse(out)).toMatchObject({ data: [] });
});
