/**
 * A card on a real terminal: whatever ends the program, the screen is wiped and left, and the terminal is as it was.
 * SIGKILL cannot be answered and is not promised. What takes its real time, and more signals, in the whole run.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWhole } from '../support/whole.ts';
import { type Desk, desk, missing, wipedAt } from './shown-card.ts';

let at: Desk;
beforeAll(async () => {
  at = await desk();
});
afterAll(() => at[Symbol.asyncDispose]());

describe.skipIf(missing)('a card on the screen', () => {
  it('ends in order when the terminal itself goes away', async () => {
    const ended = await at.shown((_, __, terminal) => terminal.kill('SIGKILL'));
    // Of the hangup, and not 134 with a core dump that holds the card.
    expect(ended.code).toBe('129');
  });

  it('is wiped at Ctrl-C', async () => {
    const ended = await at.shown((_, type) => type('\x03'));
    at.expectWiped(ended);
    expect(ended.code).toBe('130');
  });
});

describe.skipIf(missing || !isWhole)('a card on the screen, longer and otherwise', () => {
  it.each(['SIGALRM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const)(
    'is wiped at %s, and the program ends with 143',
    signal => wipedAt(at, signal, '143'),
  );

  it('is wiped when the program crashes', async () => {
    const crash = join(at.folder, 'crash.cjs');
    await writeFile(crash, `process.once('SIGUSR2', () => { throw new Error('crash') });\n`);
    const ended = await at.shown(pid => process.kill(pid, 'SIGUSR2'), { env: { NODE_OPTIONS: `--require=${crash}` } });
    at.expectWiped(ended);
    expect(ended.code).toBe('1');
  });

  it('is wiped when it is stopped at a prompt', () => wipedAt(at, 'SIGTSTP', '0'));

  it('opens no debugger at SIGUSR1, and stays until a key; one line stays', async () => {
    const ended = await at.shown(async (pid, type) => {
      process.kill(pid, 'SIGUSR1');
      await wait(1200);
      type('q');
    });
    at.expectWiped(ended);
    expect(ended.code).toBe('0');
    expect(ended.bytes).not.toContain('Debugger');
    expect(ended.bytes).toMatch(/Shown for \d+ s and cleared\.\r?\n$/);
  });

  it('is wiped after 30 seconds when nobody does anything', async () => {
    const started = performance.now();
    const ended = await at.shown(() => undefined);
    const took = performance.now() - started;
    at.expectWiped(ended);
    expect(ended.code).toBe('0');
    expect(ended.bytes).toContain('hides in 1 s');
    expect(ended.bytes).toMatch(/Shown for 30 s and cleared\.\r?\n$/);
    expect(took).toBeGreaterThan(29_000);
  });
});
