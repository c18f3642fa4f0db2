import { describe, expect, it } from 'vitest';
import { type DrivenOutcome, type DriveRow, drive } from '../../src/bulk/scheduler.ts';
import { CliError, type ErrorKind } from '../../src/core/errors.ts';
import type { RowOutcome } from '../../src/journal/types.ts';

/** Rows on the wire until the test lets them end. */
function heldRun(outcomeOf: (row: number) => Omit<RowOutcome, 'row'> = () => ({ outcome: 'done' })) {
  const waiting = new Map<number, () => void>();
  const begun: number[] = [];
  let most = 0;
  return {
    begun,
    waiting,
    most: () => most,
    async execute(row: number): Promise<RowOutcome> {
      begun.push(row);
      return new Promise(resolve => {
        waiting.set(row, () => {
          waiting.delete(row);
          resolve({ row, ...outcomeOf(row) });
        });
        most = Math.max(most, waiting.size);
      });
    },
    end: (row: number) => waiting.get(row)?.(),
  };
}

/** Rows that come back at once, after a turn. */
function quickRun(outcomeOf: (row: number) => Omit<RowOutcome, 'row'>) {
  const begun: number[] = [];
  return {
    begun,
    async execute(row: number): Promise<RowOutcome> {
      begun.push(row);
      return { row, ...outcomeOf(row) };
    },
  };
}

const rowsTo = (count: number): DriveRow[] => Array.from({ length: count }, (_, index) => ({ row: index + 1 }));

function failed(outcome: RowOutcome['outcome'], kind: ErrorKind): Omit<RowOutcome, 'row'> {
  return { outcome, error: new CliError(kind, { message: kind }) };
}

async function all(outcomes: AsyncIterable<readonly DrivenOutcome[]>): Promise<DrivenOutcome[]> {
  const found: DrivenOutcome[] = [];
  for await (const batch of outcomes) found.push(...batch);
  return found;
}

const usual = {
  concurrency: 8,
  keepGoing: false,
  stop: new AbortController().signal,
  onOutcome: () => undefined,
};

/** Every promise that is due has run. */
const turn = () => new Promise<void>(resolve => setImmediate(resolve));

describe('driving the rows of a run', () => {
  it('calls no row of an op that another process has taken "not sent"', async () => {
    const execute = async (row: number): Promise<RowOutcome> => {
      if (row > 2) throw new CliError('guarded', { message: 'taken', reason: 'taken_over' });
      return { row, outcome: 'done' };
    };
    const { outcomes } = drive({ ...usual, run: { execute }, rows: rowsTo(40), concurrency: 1 });
    const told = (await all(outcomes)).map(({ outcome }) => outcome);
    expect(told.slice(0, 2)).toEqual(['done', 'done']);
    expect([...new Set(told.slice(2))]).toEqual(['unknown']);
  });

  it('halves its workers once when several are slowed down together, and regains one for 20 clean rows', async () => {
    let slow = true;
    const run = heldRun(() => ({ outcome: 'done', ...(slow && { throttled: true }) }));
    const told = all(drive({ ...usual, run, rows: rowsTo(200), concurrency: 16 }).outcomes);
    const endAll = async () => {
      for (const row of [...run.waiting.keys()]) run.end(row);
      await turn();
    };
    await turn();
    expect(run.waiting.size).toBe(8);
    // All eight of the first were told to slow down: 16 workers become 8, not none.
    await endAll();
    slow = false;
    expect(run.waiting.size).toBe(8);
    for (let rounds = 0; rounds < 3; rounds += 1) await endAll();
    expect(run.waiting.size).toBe(9);
    while (run.waiting.size > 0) await endAll();
    expect((await told).length).toBe(200);
  });

  it.each([
    ['a wallet that is too low', failed('refused', 'insufficient_funds'), false, true],
    ['a wallet that is too low, when told to go on', failed('refused', 'insufficient_funds'), true, false],
    ['a limit that stays', failed('refused', 'rate_limited'), true, true],
    ['a refused key', { ...failed('refused', 'not_authenticated'), stops: true }, true, true],
    ['a row of its own fault', failed('refused', 'refused'), false, false],
  ] as const)('%s', async (_what, outcome, keepGoing, stopped) => {
    const run = quickRun(row => (row === 3 ? outcome : { outcome: 'done' }));
    const told = await all(drive({ ...usual, run, rows: rowsTo(100), concurrency: 1, keepGoing }).outcomes);
    expect(run.begun.length).toBe(stopped ? 3 : 100);
    expect(told.length).toBe(100);
    expect(told.filter(({ begun }) => begun).length).toBe(run.begun.length);
  });
  it('goes on with the rows of a card behind one that is left out', async () => {
    const wallet = failed('refused', 'insufficient_funds');
    const run = heldRun(row => (row === 2 ? wallet : { outcome: 'done' }));
    const [spends, phase] = [true, 1];
    const rows = [
      { row: 1, card: 'a', phase },
      { row: 2, phase, spends },
    ];
    const behind = [
      { row: 3, card: 'a', phase, spends },
      { row: 4, card: 'a', phase },
    ];
    const told = all(drive({ ...usual, run, rows: [...rows, ...behind] }).outcomes);
    for (const row of [2, 1, 4]) {
      await turn();
      run.end(row);
    }
    expect((await told).map(({ outcome, begun }) => (begun ? outcome : 'left out'))).toEqual([
      ...['done', 'refused', 'left out', 'done'],
    ]);
  });

  it('takes a journal that fails for the end, and a bug for an unknown row', async () => {
    for (const [thrown, outcome] of [
      [new CliError('guarded', { message: 'disk full' }), 'not_sent'],
      [new TypeError('bug'), 'unknown'],
    ] as const) {
      const run = {
        async execute(row: number): Promise<RowOutcome> {
          if (row === 2) throw thrown;
          return { row, outcome: 'done' };
        },
      };
      const driven = drive({ ...usual, run, rows: rowsTo(10), concurrency: 1 });
      const told = await all(driven.outcomes);
      expect(told[1]?.outcome).toBe(outcome);
      expect(told.filter(({ begun }) => begun).length).toBe(2);
      expect(driven.stoppedBy()).toBeDefined();
    }
  });
});
