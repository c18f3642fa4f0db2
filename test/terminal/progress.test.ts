import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/platform/host.ts';
import { createProgress, type ProgressMode } from '../../src/terminal/progress.ts';
import { memoryStreams } from '../support/streams.ts';

function progressAt(mode: ProgressMode, columns = 80, rowsOnScreen = false) {
  let now = 0;
  const streams = memoryStreams({ stderrTerminal: mode === 'redraw', columns });
  let wake: () => void = () => undefined;
  const sleep = () =>
    new Promise<void>(resolve => {
      wake = resolve;
    });
  const clock: Clock = { now: () => now, monotonic: () => now, sleep };
  const restores = new Set<() => void>();
  const progress = createProgress({
    mode,
    stderr: streams.stderr,
    clock,
    columns: () => columns,
    rowsOnScreen,
    watched: mode !== 'none',
    onCrash(restore) {
      restores.add(restore);
      return () => restores.delete(restore);
    },
    writeTerminal: text => void streams.stderr.write(text),
  });
  return {
    progress,
    begin(seconds: number) {
      now = seconds * 1000;
      progress.begin();
    },
    /** At that second so many rows are done. */
    at(seconds: number, done: number, { refused = 0, unknown = 0, not_sent = 0, total = 500 } = {}) {
      now = seconds * 1000;
      progress.update({ total, done, refused, unknown, not_sent });
    },
    /** At that second so many rows of a list were read. */
    read(seconds: number, rows: number, total?: number) {
      now = seconds * 1000;
      progress.reading({ noun: 'card', rows, total });
    },
    /** At that second what is waited for is looked at. */
    async look(seconds: number) {
      now = seconds * 1000;
      wake();
      await Promise.resolve();
    },
    /** A signal, as the program takes it. */
    signal: () => {
      for (const restore of restores) restore();
    },
    text: () => streams.err,
  };
}

const drawn = (text: string) => text.split('\r\x1b[2K').slice(1);

describe('progress on a terminal', () => {
  it('redraws one line with rate and time left', () => {
    const { at, text } = progressAt('redraw');
    at(0, 0);
    at(39.5, 309, { refused: 2, unknown: 1 });
    expect(drawn(text()).at(-1)).toBe('312/500  62%  ok 309  failed 2  unknown 1  7.9/s  24 s left');
  });

  it('says not sent of rows that were not sent, as the summary does', () => {
    const told = (['redraw', 'lines'] as const).map(mode => {
      const { at, text } = progressAt(mode);
      at(0, 0);
      at(20, 300, { refused: 2, not_sent: 3 });
      return text();
    });
    expect(told[0]).toContain('305/500  61%  ok 300  failed 2  unknown 0  not sent 3');
    expect(told[1]).toBe('305 of 500: 300 done, 2 failed, 0 unknown, 3 not sent\n');
  });
});

describe('a line that tells what is waited for', () => {
  it('is redrawn and taken away, and a signal leaves it and begins a new line, once', async () => {
    const { progress, look, signal, text } = progressAt('redraw');
    const answered = progress.asked('the sandbox');
    await look(0);
    answered();
    progress.end();
    expect(text()).toBe('\r\x1b[2Kwaiting for the sandbox\r\x1b[2K');
    signal();
    progress.asked('the sandbox');
    await look(1);
    signal();
    signal();
    progress.line('error: stopped');
    expect(text()).toMatch(/waiting for the sandbox {2}1 s\nerror: stopped\n$/);
  });
  it.each(['lines', 'none'] as const)('is not drawn in mode %s', async mode => {
    const { progress, look, text } = progressAt(mode);
    const answered = progress.asked('the sandbox');
    await look(0);
    answered();
    expect(text()).toBe(mode === 'none' ? '' : 'waiting for the sandbox\n');
  });
});

describe('progress in a log', () => {
  it('writes a sentence every 10 s without a control character', () => {
    const { at, text } = progressAt('lines');
    for (let done = 1; done <= 500; done += 1)
      at(done / 8, done - Math.floor(done / 250), { refused: Math.floor(done / 250) });
    const lines = text().trimEnd().split('\n');
    // Who read how far it is reads that it came to its end.
    expect(lines.length).toBe(7);
    expect(lines[2]).toBe('240 of 500: 240 done, 0 failed, 0 unknown');
    expect(lines[6]).toMatch(/^500 of 500: /);
    expect(text()).not.toMatch(/[\r\x1b]/);
  });
});
