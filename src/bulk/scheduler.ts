/**
 * Drives the rows of a run: several at once, fewer when the service asks to slow down, one of a card at a time, and
 * the outcomes out in the order of the input. What one row takes is the journal's matter.
 */
import { asCliError, CliError } from '../core/errors.ts';
import type { Run } from '../journal/run.ts';
import type { RowOutcome } from '../journal/types.ts';

/** A row to drive; with an outcome already it is only handed over in its turn. */
export interface DriveRow {
  readonly row: number;
  /** The card that it changes: rows of one card are executed one after the other. */
  readonly card?: string | undefined;
  readonly earlier?: RowOutcome | undefined;
  /** Its outcome was unknown before: that it stays so says nothing about the service. No new row is sent while it is looked for. */
  readonly isUnknown?: boolean | undefined;
  /** It is begun when all rows of lower phases have ended. */
  readonly phase?: number | undefined;
  /** Rows of lower phases that must be done; else it is not begun. */
  readonly needs?: readonly number[] | undefined;
  /** It takes money from the wallet: in a run with phases, the first that finds it too low ends these rows alone. */
  readonly spends?: boolean | undefined;
}

/** `begun` is false for rows that the run stopped before. */
export interface DrivenOutcome extends RowOutcome {
  readonly begun: boolean;
}

interface DriveSettings {
  readonly run: Pick<Run, 'execute'>;
  readonly rows: readonly DriveRow[];
  /** Most rows at once. */
  readonly concurrency: number;
  /** A wallet that is too low for one row does not stop the others. */
  readonly keepGoing: boolean;
  /** Aborted: no row is begun any more, what is under way comes to its end. */
  readonly stop: AbortSignal;
  /** Called with every outcome as it comes, whatever its order. */
  readonly onOutcome: (outcome: RowOutcome) => void;
  /** Asked before the first row of a phase; what it resolves to stops the run. */
  readonly beforePhase?: ((phase: number) => Promise<CliError | undefined>) | undefined;
}

/** Rows in a row without a usable answer after which the service counts as gone. */
const SILENT_ROWS = 8;
/** Rows after which what has ended is handed over, however fast more of them come. */
const TOGETHER = 256;
/** How far rows may be begun ahead of the oldest one that is not handed over; bounds what waits in memory. */
const WINDOW = 4_096;

export function drive(settings: DriveSettings) {
  const { run, rows, stop } = settings;
  const pace = createPace(settings.concurrency);
  /** Those that came before their turn. */
  const outcomes: (DrivenOutcome | undefined)[] = [];
  const cards = createCardQueues();
  const phases = createPhases(settings.beforePhase);
  let [next, handed, inFlight, underWay, ended, silent, lookedFor] = [0, 0, 0, 0, 0, 0, 0];
  let halted = false;
  let cause: CliError | undefined;
  let wake = (): void => undefined;

  function halt(because: CliError | undefined): void {
    halted = true;
    cause ??= because;
  }

  /** After a row without an answer no more are begun than it takes to call the service gone. */
  const workers = () => (silent === 0 ? pace.workers() : Math.min(pace.workers(), SILENT_ROWS - silent));

  function fill(): void {
    while (!halted && !stop.aborted && inFlight < workers()) {
      const freed = cards.ready();
      const index = freed ?? nextIndex();
      if (index === undefined) return;
      const row = rows[index];
      if (row === undefined) return;
      if (row.earlier !== undefined) {
        phases.learn(row, row.earlier);
        outcomes[index] = { ...row.earlier, begun: true };
      } else if (phases.skips(row)) {
        outcomes[index] = { row: row.row, outcome: 'not_sent', begun: false };
        if (freed !== undefined) cards.leave(row.card);
      } else if (freed !== undefined || cards.enter(row.card, index)) begin(index, row);
    }
  }

  function nextIndex(): number | undefined {
    if (next >= rows.length || next - handed >= WINDOW) return undefined;
    const row = rows[next];
    // A list that grows while it is read page by page shows nothing.
    if (lookedFor > 0 && row?.earlier === undefined && row?.isUnknown !== true) return undefined;
    if (!mayEnter(row?.phase)) return undefined;
    next += 1;
    return next - 1;
  }

  /** False while rows of the phase before are under way, and while it is asked whether the next may begin. */
  function mayEnter(phase: number | undefined): boolean {
    if (phase === undefined || phase <= phases.now()) return true;
    if (underWay > 0) return false;
    const entering = phases.enter(phase);
    if (entering === undefined) return true;
    underWay += 1;
    const go = (because: CliError | undefined) => {
      underWay -= 1;
      if (because !== undefined) halt(because);
      fill();
      wake();
    };
    entering.then(go, thrown => go(asCliError(thrown)));
    return false;
  }

  function begin(index: number, row: DriveRow): void {
    underWay += 1;
    inFlight += 1;
    if (row.isUnknown === true) lookedFor += 1;
    const epoch = pace.epoch();
    const execution = run.execute(row.row).catch((thrown: unknown) => rejected(row.row, thrown));
    void execution.then(outcome => settled(index, row, outcome, epoch));
  }

  function settled(index: number, row: DriveRow, outcome: RowOutcome, epoch: number): void {
    underWay -= 1;
    inFlight -= 1;
    ended += 1;
    cards.leave(row.card);
    if (row.isUnknown === true) lookedFor -= 1;
    phases.learn(row, outcome);
    // Without the resource: hundreds of them may wait for a slow row.
    outcomes[index] = { ...outcome, result: undefined, begun: true };
    pace.learn(outcome, epoch);
    if (row.isUnknown !== true) silent = isSilent(outcome) ? silent + 1 : 0;
    if (row.phase !== undefined && outcome.error?.kind === 'insufficient_funds') cause ??= outcome.error;
    else if (stops(outcome, settings.keepGoing) || silent >= SILENT_ROWS) halt(outcome.error);
    settings.onOutcome(outcome);
    fill();
    wake();
  }

  /** Outcomes that follow what was handed over already. */
  function contiguous(): DrivenOutcome[] {
    const batch: DrivenOutcome[] = [];
    for (let found = outcomes[handed]; found !== undefined; found = outcomes[handed]) {
      batch.push(found);
      outcomes[handed] = undefined;
      handed += 1;
    }
    return batch;
  }

  const settling = () =>
    new Promise<void>(resolve => {
      wake = resolve;
    });

  /** While every turn of the event loop brings rows they are handed over together: printing has its price. */
  async function gathering(): Promise<void> {
    const first = ended;
    for (let seen = 0; seen < ended && ended - first < TOGETHER; ) {
      seen = ended;
      await new Promise(resolve => setImmediate(resolve));
    }
  }

  async function* inOrder(): AsyncGenerator<readonly DrivenOutcome[]> {
    const onStop = () => wake();
    stop.addEventListener('abort', onStop);
    try {
      for (;;) {
        fill();
        const batch = contiguous();
        if (batch.length > 0) yield batch;
        else if (underWay > 0) {
          await settling();
          await gathering();
        } else break;
      }
      while (handed < rows.length) yield notBegun();
    } finally {
      halted = true;
      while (underWay > 0) await settling();
      stop.removeEventListener('abort', onStop);
    }
  }

  /** The rest of a stopped run, a piece at a time. */
  function notBegun(): DrivenOutcome[] {
    const batch: DrivenOutcome[] = [];
    for (; handed < rows.length && batch.length < 1_000; handed += 1) {
      const row = rows[handed];
      const earlier = outcomes[handed] ?? (row?.earlier && { ...row.earlier, begun: true });
      batch.push(earlier ?? { row: row?.row ?? 0, outcome: isTaken(cause) ? 'unknown' : 'not_sent', begun: false });
    }
    return batch;
  }

  return {
    /** Every row once, in order. Leaving it early stops the run and waits for what is under way. */
    outcomes: inOrder() as AsyncIterable<readonly DrivenOutcome[]>,
    /** Rows under way now. */
    inFlight: () => inFlight,
    /** Why rows were left out; undefined while none was. */
    stoppedBy: () => cause,
  };
}

function stops({ outcome, error, stops: isStopping }: RowOutcome, keepGoing: boolean): boolean {
  if (isStopping === true || error?.kind === 'internal' || error?.kind === 'rate_limited') return true;
  return outcome === 'refused' && error?.kind === 'insufficient_funds' && !keepGoing;
}

/** Nothing came back that could be used: the service may be gone. */
function isSilent({ outcome, error }: RowOutcome): boolean {
  return outcome === 'unknown' || (outcome === 'not_sent' && error?.kind === 'unreachable');
}

/** The journal takes nothing more, so the row was not sent; a bug of ours, or an op that another process took, says nothing of that. */
function rejected(row: number, thrown: unknown): RowOutcome {
  const error = asCliError(thrown);
  return { row, outcome: error.kind === 'internal' || isTaken(error) ? 'unknown' : 'not_sent', error, stops: true };
}

const isTaken = (error: CliError | undefined) => error?.facts.reason === 'taken_over';

/** True for an error that a signal caused. */
export function isSignal(thrown: unknown): thrown is CliError {
  return thrown instanceof CliError && (thrown.kind === 'interrupted' || thrown.kind === 'terminated');
}

// Rows of one card go one after the other.

function createCardQueues() {
  const waiting = new Map<string, number[]>();
  const free: number[] = [];
  return {
    /** A row that has waited and whose card is its own now, oldest first. */
    ready: () => free.shift(),
    /** False when another row of the card is under way; the row waits then. */
    enter(card: string | undefined, index: number): boolean {
      if (card === undefined) return true;
      const line = waiting.get(card);
      if (line === undefined) waiting.set(card, []);
      else line.push(index);
      return line === undefined;
    },
    leave(card: string | undefined): void {
      if (card === undefined) return;
      const index = waiting.get(card)?.shift();
      if (index === undefined) waiting.delete(card);
      else free.push(index);
    },
  };
}

// How many rows of a run are under way at once.

/** Workers before the first row is done: a service that is not there must not be asked by all of them. */
const FIRST_WORKERS = 8;
/** A service that slowed us down is tried with one worker more after so many rows. */
const CLEAN_ROWS = 20;

/** `most` rows at once: halved when the service asks to slow down, one more after a while without. */
function createPace(most: number) {
  let [limit, epoch, clean] = [most, 0, 0];
  let proved = false;
  return {
    workers: () => (proved ? limit : Math.min(limit, FIRST_WORKERS)),
    /** Rows of one epoch that are slowed down together halve it once. */
    epoch: () => epoch,
    learn({ outcome, throttled }: RowOutcome, begunIn: number): void {
      if (throttled === true) {
        clean = 0;
        if (begunIn !== epoch) return;
        epoch += 1;
        limit = Math.max(1, Math.floor(limit / 2));
      } else if (outcome === 'done') {
        proved = true;
        clean += 1;
        if (clean < CLEAN_ROWS) return;
        clean = 0;
        limit = Math.min(most, limit + 1);
      }
    },
  };
}

// Rows in phases: which phase is on, and which rows are not begun because of others.

type BeforePhase = (phase: number) => Promise<CliError | undefined>;

/** `before` is asked when a phase begins; what it resolves to stops the run. */
function createPhases(before: BeforePhase | undefined) {
  const notDone = new Set<number>();
  let [now, isEmpty] = [0, false];
  return {
    now: () => now,
    /** Undefined where it begins at once. */
    enter(phase: number): Promise<CliError | undefined> | undefined {
      now = phase;
      return before?.(phase);
    },
    learn({ row, phase }: DriveRow, { outcome, error }: RowOutcome): void {
      if (phase === undefined || outcome === 'done') return;
      notDone.add(row);
      if (error?.kind === 'insufficient_funds') isEmpty = true;
    },
    skips({ row, phase, needs = [], spends = false }: DriveRow): boolean {
      const skipped = phase !== undefined && ((spends && isEmpty) || needs.some(each => notDone.has(each)));
      if (skipped) notDone.add(row);
      return skipped;
    },
  };
}
