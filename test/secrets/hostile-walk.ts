/** Every command of the registry against the hostile service, in every format, on a terminal. */
import { expect } from 'vitest';
import { stoppedBy } from '../../src/cli/run.ts';
import { serve } from '../client/served.ts';
import { world } from '../support/world.ts';
import { effectOf, everyCommand, writes } from './guard-cases.ts';
import { ACTS, hostileService, SEED } from './hostile-service.ts';

/** What the service refuses is shown as well. */
const REFUSED = ['cards get card_refused', 'cards freeze card_refused'];
/** What this machine keeps of it, and the question before a card is shown. */
const KEPT = ['audit list', 'ops list', 'doctor', 'cards details card_12'];
const FORMATS = ['wide', 'json', 'ndjson', 'csv', 'tsv', 'env', 'id'] as const;
const formatsOf = (nth: number) => ['table', FORMATS[nth % 8] ?? 'json', FORMATS[(nth + 3) % 8] ?? 'csv'];
/** Writes go to the journal and the audit log as well, which takes a while. */
const FEW_FORMATS = ['table', 'json', 'csv'];
const LOOKS = ['', ' --accessible', ' --debug'];

/** Ways for a command that waits or watches to end: nothing came, or it was stopped. */
const ENDLESS = [8, 130, 143];
const PATIENCE_MS = 1_500;
/** Whoever asks again and again shows the same from then on. */
const PAUSES = 4;

interface Stop {
  readonly signal: AbortSignal;
  /** Of the pauses between two looks, which pass at once meanwhile. */
  readonly onPause: () => void;
  readonly done: () => void;
}

/** Ctrl-C in the fourth pause, or after a while for what waits without asking. */
export function stopAfter(ms: number): Stop {
  const stopping = new AbortController();
  const stop = () => stopping.abort(stoppedBy('interrupted'));
  const timer = setTimeout(stop, ms);
  let pauses = 0;
  const onPause = () => {
    pauses += 1;
    if (pauses === PAUSES) stop();
  };
  return { signal: stopping.signal, onPause, done: () => clearTimeout(timer) };
}

export interface Walked {
  readonly runs: number;
  readonly strings: number;
  readonly lines: readonly string[];
}

/**
 * Goes round until so many hostile strings were sent. Expects that not one of them acts. Each round shows every command as a
 * table, the view of its own, and in two of the other formats, which are made in one way of every command's rows.
 */
export async function walkHostile(least: number): Promise<Walked> {
  const cases = (await everyCommand()).filter(({ command }) => effectOf(command) !== undefined && !command.rest);
  const reading = [...cases.filter(({ command }) => effectOf(command) === 'read').map(({ line }) => line), ...REFUSED];
  const writing = cases.filter(writes).map(({ line }) => `${line} --yes --timeout 2s`);
  const { answer, handedOut } = hostileService();
  await using service = await serve(answer);
  await using here = await world({ terminal: 200 });
  const env = { ...service.env, NO_COLOR: '1' };
  const shown = new Map<string, number>();
  const lasting = new Set<string>();
  let runs = 0;
  const one = async (line: string, format: string, look: string) => {
    const { done, ...stopping } = stopAfter(lasting.has(line) ? 400 : PATIENCE_MS);
    const ran = await here.run(`${line} -o ${format}${look}`, { env, ...stopping }).finally(done);
    if (ENDLESS.includes(ran.code)) lasting.add(line);
    runs += 1;
    shown.set(line, Math.max(shown.get(line) ?? 0, ran.out.length + ran.err.length));
    inert(`${line} -o ${format}${look}, seed ${SEED}`, format, ran);
    return ran;
  };
  for (let round = 0; handedOut() < least; round += 1) {
    const look = LOOKS[round % LOOKS.length] ?? '';
    for (const [nth, line] of reading.entries()) {
      if (lasting.has(line) && round > 0) continue;
      for (const format of lasting.has(line) ? FEW_FORMATS : formatsOf(nth + round)) {
        const { code, err } = await one(line, format, look);
        // An error would hide the view; only `env` cannot show a list. Rows that a filter leaves out are refused.
        if (!lasting.has(line) && !line.includes('refused') && format !== 'env')
          expect([line, format, err, code]).toEqual([line, format, err, err.includes('which the filter') ? 13 : 0]);
      }
    }
    // A round of them is enough: their answers have the shape of what is read.
    if (round > 0) continue;
    for (const line of [...writing, ...KEPT]) for (const format of FEW_FORMATS) await one(line, format, look);
  }
  // Every command had something to show in some format.
  expect([...shown].filter(([, length]) => length < 20)).toEqual([]);
  return { runs, strings: handedOut(), lines: [...shown.keys()] };
}

function inert(where: string, format: string, ran: { readonly out: string; readonly err: string }): void {
  for (const text of [ran.out, ran.err]) {
    const acting = ACTS.exec(format === 'tsv' ? text.replaceAll('\t', ' ') : text);
    const around = acting && text.slice(Math.max(0, acting.index - 40), acting.index + 20);
    expect([where, around]).toEqual([where, null]);
    // CSV keeps a newline of the data as one of its own, inside quotes.
    if (format === 'csv') continue;
    expect([where, /^\W*FORGED/m.exec(text)?.[0]]).toEqual([where, undefined]);
  }
}
