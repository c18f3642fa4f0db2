import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { createPrompts, type Prompts } from '../../src/terminal/prompts.ts';
import { memoryStreams } from '../support/streams.ts';

const BOTH = { stdinTerminal: true, stderrTerminal: true };

/** Types the keys as soon as the question is on the screen; gives the answer and all that was printed. */
async function asked<Answer>(keys: string, question: (prompts: Prompts) => Promise<Answer>, columns = 80) {
  const input = new PassThrough();
  const output = new PassThrough();
  let screen = '';
  let typed = false;
  output.on('data', chunk => {
    screen += String(chunk);
    if (typed || !screen.includes('?')) return;
    typed = true;
    // The library listens for keys only after it has drawn.
    setImmediate(() => input.write(keys));
  });
  const prompts = createPrompts({ streams: memoryStreams({ ...BOTH, columns }), allowed: true, input, output });
  const answer = await question(prompts).catch((thrown: unknown) => thrown);
  return { answer, screen };
}

const YES = { flag: '--yes' };

describe('answers', () => {
  test('a choice takes one line of the screen, and is found by what was left out', async () => {
    const choices = [
      { value: 1, name: 'card_aaaaaaaaaaaaaaaaaaaaaaaa  visa 4242  active  広告 広告 広告 広告 広告' },
      { value: 2, name: 'card_bbbbbbbbbbbbbbbbbbbbbbbb  visa 1881  active  広告 広告 広告 広告 zebra' },
    ];
    const [input, output] = [new PassThrough(), new PassThrough()];
    let screen = '';
    const steps = [
      { shown: '> card_a', keys: 'zebra' },
      { shown: '> card_b', keys: '\r' },
    ];
    output.on('data', chunk => {
      screen += String(chunk);
      const [step] = steps;
      if (step === undefined || !screen.includes(step.shown)) return;
      steps.shift();
      setImmediate(() => input.write(step.keys));
    });
    const streams = memoryStreams({ ...BOTH, columns: 60 });
    const prompts = createPrompts({ streams, allowed: true, input, output });
    expect(await prompts.search('Which?', choices, { flag: 'a card' })).toBe(2);
    expect(screen).toContain('> card_aaaaaaaaaaaaaaaaaaaaaaaa  visa 4242  active  広告...\n');
    expect(screen).not.toContain('広告 広告');
  });

  /** `team 2` is the second of the list. */
  const TEAMS = ['team 1', 'team 2', 'ads'].map(name => ({ value: name, name }));
  const pickTeam = (prompts: Prompts) => prompts.search('Which?', TEAMS, { flag: 'a card' });

  test('Enter where nothing matches chooses nothing, says so, and keeps what was typed', async () => {
    const nothing = await asked('zzz\r\x03', pickTeam);
    expect(nothing.answer).toMatchObject({ kind: 'interrupted' });
    expect(nothing.screen).toContain('? Which? (type to search) zzz\n> Nothing matches: Enter chooses nothing.');
    expect((await asked('adsz\r\x7f\r', pickTeam)).answer).toBe('ads');
  });

  test.each([
    ['y\r', true],
    ['yes\r', true],
    ['n\r', false],
    ['\r', false],
  ])('confirm: %j', async (keys, expected) => {
    const { answer, screen } = await asked(keys, prompts => prompts.confirm('Create 3 cards?\x1b]0;x\x07', YES));
    expect(answer).toBe(expected);
    expect(screen).toContain('? Create 3 cards?\\x1b]0;x\\x07 (y/N)');
  });

  test.each([
    ['4242\r', true],
    [' 4242 \r', true],
    ['4243\r', false],
    ['\r', false],
  ])('typed: %j', async (keys, expected) => {
    const options = { expect: '4242', flag: '--yes' };
    expect((await asked(keys, prompts => prompts.typed('Last four?', options))).answer).toBe(expected);
  });

  test('a secret is not echoed, whatever is pressed', async () => {
    const { answer, screen } = await asked('sk_test_hush\x14\r', prompts =>
      prompts.secret('Key?', { flag: '--key-stdin' }),
    );
    expect((answer as { expose(): string }).expose()).toBe('sk_test_hush');
    expect(screen).not.toContain('hush');
  });
});

describe('no answer', () => {
  test('^C is interrupted', async () => {
    const { answer } = await asked('\x03', prompts => prompts.confirm('Sure?', YES));
    expect(answer).toMatchObject({ kind: 'interrupted', exitCode: 130 });
  });

  test('the signal ends the question with its reason', async () => {
    const abort = new AbortController();
    const reason = new CliError('terminated', { message: 'stopped' });
    const output = new PassThrough().on('data', () => abort.abort(reason));
    const input = new PassThrough();
    const prompts = createPrompts({ streams: memoryStreams(BOTH), allowed: true, input, output, signal: abort.signal });
    await expect(prompts.confirm('Sure?', YES)).rejects.toBe(reason);
  });

  test.each([
    [{ stdinTerminal: false, stderrTerminal: true }, true],
    [{ stdinTerminal: true, stderrTerminal: false }, true],
    [BOTH, false],
  ])('nobody to ask: %j, allowed %s', async (terminals, allowed) => {
    const input = new PassThrough();
    input.write('y\ny\n4242\n');
    const output = new PassThrough();
    const prompts = createPrompts({ streams: memoryStreams(terminals), allowed, input, output });
    expect(prompts.available).toBe(false);
    const refusal = (kind: string, flag: string) => ({
      kind,
      facts: { [kind === 'usage' ? 'message' : 'hint']: expect.stringContaining(flag) },
    });
    await expect(prompts.confirm('Sure?', YES)).rejects.toMatchObject(refusal('not_confirmed', '--yes'));
    await expect(prompts.typed('?', { expect: '4242', flag: '--reveal' })).rejects.toMatchObject(
      refusal('not_confirmed', '--reveal'),
    );
    await expect(prompts.text('?', { flag: '--label' })).rejects.toMatchObject(refusal('usage', '--label'));
    await expect(prompts.secret('?', { flag: '--key-stdin' })).rejects.toMatchObject(refusal('usage', '--key-stdin'));
    await expect(prompts.choose('?', [], { flag: '--bin' })).rejects.toMatchObject(refusal('usage', '--bin'));
    expect(output.read()).toBeNull();
  });
});
