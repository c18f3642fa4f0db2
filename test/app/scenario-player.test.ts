import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scenarioPlayer } from '../../src/app/sandbox-started.ts';
import { Secret } from '../../src/core/secret.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const STAGE = { origin: 'http://127.0.0.1:1', key: new Secret('sk_test_1'), adminToken: new Secret('sandbox_1') };

const SCENARIO = 'scenario: one\nsteps:\n  - cards.freeze: { card_id: card_1 }\n';

/** What became of a scenario whose program is this script. */
async function endOf(script: string) {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'program.mjs');
  await writeFile(path, script);
  const noise = { bytes: (count: number) => new Uint8Array(count), fraction: () => 0.5 };
  const player = scenarioPlayer({ noise, env: {}, program: [process.execPath, path] });
  const begun = await player.play(SCENARIO, STAGE);
  for (;;) {
    const run = player.find(begun?.id ?? '');
    if (run?.state !== 'running') return run;
    await setImmediate();
  }
}

test('a letter whose bytes come in two parts is told as it is', async () => {
  const run = await endOf(`
    const bytes = Buffer.from(JSON.stringify({ error: { message: 'paid 5 €' } }));
    const half = bytes.indexOf(0xe2) + 1;
    process.stderr.write(bytes.subarray(0, half));
    setTimeout(() => process.stderr.write(bytes.subarray(half), () => process.exit(15)), 20);
  `);
  expect(run).toMatchObject({ state: 'failed', says: 'paid 5 €' });
});

test('an error that is none ends the run, and not the sandbox', async () => {
  const run = await endOf(`console.error('{"error":{'); process.exitCode = 15;`);
  expect(run).toMatchObject({ state: 'failed', says: 'It ended with 15. {"error":{' });
});

test('a line of a step that is none is passed over', async () => {
  const done = { step: 1, line: 3, operation: 'cards.freeze', outcome: 'ok', id: 'card_1' };
  const run = await endOf(`console.log('{'); console.log('${JSON.stringify(done)}');`);
  expect(run).toMatchObject({ state: 'as_expected', steps: [{ state: 'as_expected', id: 'card_1' }] });
});
