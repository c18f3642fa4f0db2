/** The mirror of the profile of this run, on the real disk. */
import { statSync } from 'node:fs';
import type { MoveRow } from '../books/rows.ts';
import { SECOND } from '../core/durations.ts';
import { keyPrint } from '../core/key-print.ts';
import { cents } from '../core/money.ts';
import { SECRET_VARIABLES } from '../core/redaction.ts';
import { utf8Text } from '../core/text.ts';
import type { Journal } from '../journal/journal.ts';
import { type Change, rowState } from '../journal/records.ts';
import { mirrorPath } from '../mirror/file.ts';
import { createMirror, type Mirror } from '../mirror/mirror.ts';
import type { Line, QueryRequest } from '../mirror/query.ts';
import type { OwnOperation } from '../mirror/sync.ts';
import { checkBaseUrl } from '../profile/parts.ts';
import type { AppHost } from './process-host.ts';
import type { Run } from './run.ts';

export async function mirrorFor(run: Run, journal: () => Promise<Journal>): Promise<Mirror> {
  const { host, opened, reader, terminal, warn } = run;
  const { progress } = terminal;
  const acting = await opened.acting();
  const { profile, mode, origin } = acting;
  let rows = 0;
  const path = mirrorPath(host.folders.data, profile);
  // What reads a large copy reads rows by the hundred thousand in one turn.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGE_BYTES) await host.keepSmallAtOnce();
  return createMirror({
    path,
    platform: host.platform,
    clock: host.clock,
    random: host.noise,
    signal: host.signal,
    hasChangedSince: async since => (await run.audit()).hasChangedSince(origin, since),
    forbidden: async () => (await opened.settings()).mirror === 'off',
    account: async () => ({
      ...acting,
      keyPrint: mode === 'sandbox' ? undefined : async salt => keyPrint(await opened.key(), salt),
    }),
    reader,
    serviceNow: opened.serviceNow,
    // Sandboxes are on this machine alone: nobody moves the clock of another service.
    ...((mode === 'sandbox' || checkBaseUrl(origin, mode).loopback) && {
      // A sandbox that gives no answer keeps nobody from reading the copy.
      movedClock: () => run.askServiceTime().catch(() => undefined),
    }),
    ownOperations: async () => operationsIn(await journal(), acting),
    warn,
    onRows(more) {
      rows += more;
      progress.reading({ noun: 'transaction', rows, total: undefined });
    },
    onEnd: () => progress.clear(),
    onPause: (ms, perMinute) =>
      progress.paused(mode === 'sandbox' ? 'the sandbox' : new URL(origin).host, ms, { perMinute }),
    program: [...host.program, '__query'],
    env: Object.fromEntries(
      Object.entries(host.env).filter(([name]) => !(SECRET_VARIABLES as readonly string[]).includes(name)),
    ),
  });
}

/** A copy of some hundred thousand records. */
const LARGE_BYTES = 50_000_000;

/** Answers a query in a process of its own: asked on standard input, answered on standard output. */
export async function answerQuery({ streams }: AppHost): Promise<void> {
  const { runQuery } = await import('../mirror/query.ts');
  const asked = JSON.parse(utf8Text(await streams.stdin.readBytes(LONGEST_QUESTION), 'the question')) as QueryRequest;
  await runQuery(asked, (line: Line) => streams.stdout.write(`${JSON.stringify(line)}\n`));
}

const LONGEST_QUESTION = 16 * 1024 * 1024;

const MOVES: readonly string[] = [
  'cards.create',
  'cards.fund',
  'cards.withdraw',
  'cards.terminate',
] satisfies MoveRow['operation'][];

/** Of every profile: the copy knows by the cards which rows are of its account. */
async function operationsIn(
  journal: Journal,
  acting: Readonly<Record<'profile' | 'mode' | 'origin', string>>,
): Promise<readonly OwnOperation[]> {
  const found = await journal.list();
  return found.map(({ op, last_at, started_at }) => ({
    op,
    last_at,
    async rows() {
      const { changes, profile, mode, origin } = await journal.show(op);
      const isHere = mode === acting.mode && origin === acting.origin;
      return {
        isMine: isHere && profile === acting.profile,
        isHere,
        rows: changes.flatMap(change => moveOf(change, Date.parse(started_at))),
      };
    },
  }));
}

/** The row as the books take it; none for what moved nothing or never left. */
function moveOf(change: Change, startedAt: number): MoveRow[] {
  const { op, n, operation, card, amount, evidence, lastSentAt, facts } = change;
  const { resolved, serviceAt } = evidence;
  const outcome = resolved === undefined ? rowState(change) : resolved.as === 'done' ? 'done' : 'refused';
  if (!MOVES.includes(operation) || outcome === 'open' || outcome === 'not_sent') return [];
  return [
    {
      op,
      row: n,
      operation: operation as MoveRow['operation'],
      card_id: card ?? null,
      cents: cents(amount),
      outcome,
      // The instant of a copy is a whole second.
      at_ms: Math.floor((serviceAt ?? lastSentAt ?? startedAt) / SECOND) * SECOND,
      purpose: facts.purpose ?? null,
    },
  ];
}
