/** Where revealed details go: the alternate screen, the ordinary one, a private file, the clipboard, one child. */

import { CliError } from '../core/errors.ts';
import { sameCommandWith } from '../core/same-command.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { Clipboard } from '../terminal/clipboard.ts';
import type { Column } from '../terminal/view.ts';
import { isSet } from './parsing/globals.ts';
import { checkGate, type Destination, type GateSettings, type Opened, SHOWN_SECONDS, throughGate } from './reveal.ts';
import type { CardPart, RevealOptions, RunWithCard } from './reveal-options.ts';
import type { Shown } from './shown.ts';

export const CLIPBOARD_SECONDS = 45;

/** Keys of the reveal screen, each with the line that is shown after it. */
export type ScreenActions = ReadonlyMap<string, () => Promise<string>>;

export interface DestinationSettings extends GateSettings {
  /** Lines on the alternate screen; resolves when they are gone again. */
  readonly showOnScreen: (
    lines: readonly string[],
    settings: { readonly seconds: number; readonly actions: ScreenActions },
  ) => Promise<{ readonly shownMs: number }>;
  /** Rejects with the system's error when a file cannot be made there. */
  readonly checkNew: (path: string) => Promise<void>;
  /** Makes a new file of mode 0600; refuses an existing one and links. */
  readonly createPrivate: (path: string, content: string) => Promise<void>;
  readonly clipboard: () => Promise<Clipboard | undefined>;
  /** Clears the clipboard after the seconds or at a signal, when it still holds the text. */
  readonly clearLater: (clipboard: Clipboard, text: string) => Promise<boolean>;
  /** Throws `usage` when there is no such program. */
  readonly checkProgram: (name: string | undefined) => Promise<void>;
  readonly maskInLog: (texts: readonly string[]) => void;
  readonly runChild: (program: readonly string[], variables: Readonly<Record<string, string>>) => Promise<number>;
}

interface Parts {
  readonly cardId: string;
  readonly number: string;
  readonly cvv: string;
  readonly month: number;
  readonly year: number;
  /** `MM/YY`. */
  readonly expiry: string;
}

const COLUMNS: readonly Column[] = [
  { field: 'card_id', title: 'CARD', kind: 'id', priority: 1 },
  { field: 'number', title: 'NUMBER', kind: 'id', priority: 1 },
  { field: 'cvv', title: 'CVV', kind: 'id', priority: 1 },
  { field: 'exp_month', title: 'MONTH', kind: 'integer', priority: 1 },
  { field: 'exp_year', title: 'YEAR', kind: 'integer', priority: 1 },
];

const PART_NAMES: Readonly<Record<CardPart, string>> = { number: 'number', cvv: 'CVV', expiry: 'expiry' };

/** Opens the gate and hands the details to the one place that was asked for. */
export async function revealCard(
  settings: DestinationSettings,
  cardId: string,
  options: RevealOptions,
): Promise<Shown> {
  const sink = sinkOf(options);
  // There the card would stay where it was written.
  if (sink === 'screen' && settings.canAsk && settings.runtime.env['TERM'] === 'dumb') {
    throw usage('this terminal (TERM=dumb) cannot clear its screen; use --print to print here, or --out for a file');
  }
  const clipboard = sink === 'clipboard' ? await theClipboard(settings) : undefined;
  // With a place to put them named, the wish to reveal is all that is missing.
  const field = options.field === undefined ? '' : ` --field ${options.field}`;
  // What a CI job prints stays in its log.
  const place = isSet(settings.runtime.env['CI']) ? '--out card.json' : '--print';
  const command =
    sink === 'screen'
      ? `cardwright cards details ${shellWord(cardId)}${field} --reveal ${place}`
      : sameCommandWith('--reveal');
  const { out } = options;
  if (out !== undefined) await inFile(out, () => settings.checkNew(out));
  const opened = await throughGate(settings, { cardId, sink, reveal: options.reveal, command });
  const parts = partsOf(opened, cardId);
  if (options.out !== undefined) return intoFile(settings, parts, { path: options.out, field: options.field });
  if (options.copy !== undefined && clipboard !== undefined) {
    return ontoClipboard(settings, { parts, part: options.copy, clipboard });
  }
  return options.print ? printed(parts, options.field) : onScreen(settings, opened, { parts, field: options.field });
}

/** Whether a program could get a card at all. Throws what `runWithCard` would refuse without a question. */
export async function checkRunWithCard(
  settings: DestinationSettings,
  { program, reveal }: Omit<RunWithCard, 'mask'>,
): Promise<void> {
  await settings.checkProgram(program[0]);
  const command = sameCommandWith('--reveal', '--yes');
  await checkGate(settings, { cardId: undefined, sink: 'child', reveal, command });
}

/** Details into the environment of one program. Resolves to its exit code. */
export async function runWithCard(
  settings: DestinationSettings,
  cardId: string,
  { program, reveal, mask }: RunWithCard,
): Promise<number> {
  const command = sameCommandWith('--reveal');
  await settings.checkProgram(program[0]);
  const opened = await throughGate(settings, { cardId, sink: 'child', reveal, command });
  const { number, cvv, month, year, cardId: id } = partsOf(opened, cardId);
  if (mask) settings.maskInLog([number, grouped(number), cvv]);
  return settings.runChild(program, {
    CARD_ID: id,
    CARD_NUMBER: number,
    CARD_CVV: cvv,
    CARD_EXP_MONTH: String(month).padStart(2, '0'),
    CARD_EXP_YEAR: String(year),
  });
}

function sinkOf({ print, out, copy, field }: RevealOptions): Destination {
  const places = [print && '--print', out !== undefined && '--out', copy !== undefined && '--copy'].filter(Boolean);
  if (places.length > 1) throw usage(`${places.join(' and ')} name several places; give only one`);
  if (copy !== undefined && field !== undefined) throw usage('--copy names the field; remove --field');
  return out !== undefined ? 'file' : copy !== undefined ? 'clipboard' : print ? 'print' : 'screen';
}

function partsOf({ details }: Opened, asked: string): Parts {
  const { number, cvv, exp_month: month, exp_year: year } = details;
  const expiry = `${String(month).padStart(2, '0')}/${String(year).slice(-2)}`;
  return { cardId: details.card_id ?? asked, number: number.expose(), cvv: cvv.expose(), month, year, expiry };
}

function documentOf({ cardId, number, cvv, month, year }: Parts) {
  return { card_id: cardId, number, cvv, exp_month: month, exp_year: year };
}

function printed(parts: Parts, field: CardPart | undefined): Shown {
  if (field !== undefined) return { verbatim: `${parts[field]}\n`, noun: 'card', columns: [] };
  const pairs = [
    ['Number', grouped(parts.number)],
    ['CVV', parts.cvv],
    ['Expires', parts.expiry],
  ] as const;
  return {
    data: documentOf(parts),
    noun: 'card',
    idField: 'number',
    columns: COLUMNS,
    blocks: [{ kind: 'pairs', pairs }],
  };
}

interface OnScreen {
  readonly parts: Parts;
  readonly field: CardPart | undefined;
}

async function onScreen(settings: DestinationSettings, { card }: Opened, { parts, field }: OnScreen): Promise<Shown> {
  const { number, cvv, expiry, cardId } = parts;
  const clipboard = await settings.clipboard();
  let copied: string | undefined;
  const copy = (part: CardPart) => async () => {
    await clipboard?.write(parts[part]);
    copied = parts[part];
    return `  copied the ${PART_NAMES[part]}; the clipboard is cleared after ${CLIPBOARD_SECONDS} s`;
  };
  const actions: ScreenActions =
    clipboard === undefined
      ? new Map()
      : new Map([
          ['n', copy('number')],
          ['c', copy('cvv')],
        ]);
  const title = [card?.network, card?.label || cardId].filter(Boolean).join(' · ');
  const shown =
    field === undefined ? [`Number  ${grouped(number)}`, `CVV     ${cvv}      Expires ${expiry}`] : [parts[field]];
  const keys = clipboard === undefined ? 'any key hides it' : 'n copy number   c copy CVV   any other key hides now';
  const lines = [title, ...shown, '', keys].map(line => (line === '' ? '' : `  ${line}`));
  try {
    const { shownMs } = await settings.showOnScreen(lines, { seconds: SHOWN_SECONDS, actions });
    settings.notice(`Shown for ${Math.round(shownMs / 1000)} s and cleared.`);
  } finally {
    if (clipboard !== undefined && copied !== undefined) await clearCopied(settings, clipboard, copied);
  }
  return { verbatim: '', noun: 'card', columns: [] };
}

async function intoFile(
  settings: DestinationSettings,
  parts: Parts,
  { path, field }: { readonly path: string; readonly field: CardPart | undefined },
): Promise<Shown> {
  const content = field === undefined ? JSON.stringify(documentOf(parts), null, 2) : parts[field];
  await inFile(path, () => settings.createPrivate(path, `${content}\n`));
  return {
    data: { card_id: parts.cardId, file: path },
    noun: 'card',
    idField: 'file',
    columns: [
      { field: 'card_id', title: 'CARD', kind: 'id', priority: 1 },
      { field: 'file', title: 'FILE', kind: 'text', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Written to ${path}; only you can read it.` }],
  };
}

/** System errors in the user's words. */
async function inFile(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    const why = code === 'EEXIST' ? 'the file already exists and is not overwritten' : code;
    throw new CliError('usage', {
      message: `--out ${JSON.stringify(path)} cannot be made: ${why}`,
      operation: 'cards.details',
      cause: error,
    });
  }
}

interface Copying {
  readonly parts: Parts;
  readonly part: CardPart;
  readonly clipboard: Clipboard;
}

async function ontoClipboard(settings: DestinationSettings, { parts, part, clipboard }: Copying): Promise<Shown> {
  await clipboard.write(parts[part]);
  settings.notice(`Copied the ${PART_NAMES[part]}.`);
  const cleared = await clearCopied(settings, clipboard, parts[part]);
  return {
    data: { card_id: parts.cardId, copied: part, cleared },
    noun: 'card',
    idField: 'card_id',
    columns: [
      { field: 'card_id', title: 'CARD', kind: 'id', priority: 1 },
      { field: 'copied', title: 'COPIED', kind: 'word', priority: 1 },
      { field: 'cleared', title: 'CLEARED', kind: 'boolean', priority: 1 },
    ],
    blocks: [],
  };
}

async function clearCopied(settings: DestinationSettings, clipboard: Clipboard, text: string): Promise<boolean> {
  settings.notice(`The clipboard is cleared in ${CLIPBOARD_SECONDS} s; Ctrl-C clears it now.`);
  const cleared = await settings.clearLater(clipboard, text);
  settings.notice(
    cleared ? 'The clipboard is cleared.' : 'The clipboard now holds something else and was not changed.',
  );
  return cleared;
}

async function theClipboard({ clipboard }: DestinationSettings): Promise<Clipboard> {
  const found = await clipboard();
  if (found !== undefined) return found;
  throw usage(
    'no clipboard program was found (pbcopy, wl-copy, xclip or xsel in a folder of the system). Nothing was sent',
  );
}

function usage(message: string): CliError {
  return new CliError('usage', { message, outcome: 'not_sent', operation: 'cards.details' });
}

function grouped(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}
