/** Card details behind the gate: where they may go, what is asked before, and what is shown. */

import { REVEALS_A_MINUTE, type RevealBudget } from '../audit/reveal-budget.ts';
import type { Item, Result } from '../contract/calls.ts';
import type { Reader, Service } from '../contract/service.ts';
import { CliError, notSent } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { dollars, toCents } from '../core/money.ts';
import { sameCommandWith, shellWord } from '../core/shell-quote.ts';
import type { Environment } from '../platform/host.ts';
import type { Clipboard } from '../terminal/clipboard.ts';
import type { Prompts } from '../terminal/prompts.ts';
import { type Column, lineBlock, pairsBlock } from '../terminal/view.ts';
import type { Recorder } from '../writes/audit-record.ts';
import { guardEffect } from '../writes/guard.ts';
import type { CardPart, RevealOptions, RunWithCard, Shown } from './context.ts';
import { isSet } from './parsing/globals.ts';

export interface Runtime {
  /** Arguments of the runtime itself. */
  readonly execArgv: readonly string[];
  readonly env: Environment;
  readonly inspected: boolean;
}

/** Options that open the memory to others, or write it or the traffic out. */
const OPENING =
  /^--(?:inspect|report|heapsnapshot|heap-prof|heap-snapshot|tls-keylog|abort-on-uncaught-exception|experimental-network-inspection|debug(?:-brk|-port)?$)/;
/** Options that put foreign code into the process. */
const PRELOADING =
  /^(?:-r|--require|--import|--loader|--experimental-loader|--experimental-config-file|--experimental-default-config-file)$/;

/** The options and variables that let somebody read along, as they were given; empty when nobody can. */
export function watchers({ execArgv, env, inspected }: Runtime): readonly string[] {
  const found = optionsOf({ execArgv, env }).filter(option => OPENING.test(option));
  if (inspected && found.length === 0) found.push('an open debugger port');
  // Node prints headers and bodies of its own modules when told to.
  if (/\b(?:http|https|http2|net|tls|stream|child_process)\b|\*/i.test(env['NODE_DEBUG'] ?? ''))
    found.push('NODE_DEBUG');
  return [...new Set(found)];
}

/** Options that load foreign code before ours. */
export function preloads(runtime: Omit<Runtime, 'inspected'>): readonly string[] {
  return [...new Set(optionsOf(runtime).filter(option => PRELOADING.test(option)))];
}

/** Variables that say a session is recorded or seen elsewhere. */
export function recorders(env: Environment): readonly string[] {
  return Object.keys(env).filter(
    name => env[name] && (name === 'SSH_CONNECTION' || name === 'CI' || name.startsWith('ASCIINEMA_')),
  );
}

/** Names of all options of the runtime, without values. Node takes `_` for `-` in them, and quotes around them. */
function optionsOf({ execArgv, env }: Omit<Runtime, 'inspected'>): string[] {
  const words = (env['NODE_OPTIONS'] ?? '').replace(/["\\]/g, '').split(/\s+/);
  return [...execArgv, ...words]
    .filter(word => word.startsWith('-'))
    .map(word => word.split('=')[0] ?? word)
    .map(word => (word.startsWith('--') ? word.replaceAll('_', '-') : word));
}

const SHOWN_SECONDS = 30;

type Destination = 'screen' | 'print' | 'file' | 'clipboard' | 'child';

export interface GateSettings {
  readonly identity: () => Promise<Identity>;
  readonly service: () => Promise<Service>;
  readonly reader: () => Promise<Reader>;
  readonly prompts: Prompts;
  /** Questions are allowed, and stdin and stderr are terminals. */
  readonly canAsk: boolean;
  readonly stdoutIsTerminal: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly live: string | undefined;
  readonly runtime: Runtime;
  readonly allowUnattended: () => Promise<boolean>;
  /** Where the administrator of this machine lets cards be revealed: nowhere, at a terminal, or also into a program; in which file. */
  readonly revealRule: () => Promise<
    { readonly rule: 'never' | 'terminal' | 'exec'; readonly path: string } | undefined
  >;
  readonly budget: () => Promise<RevealBudget>;
  /** Waits and shows the time left on the terminal. */
  readonly countDown: (ms: number) => Promise<void>;
  readonly recorder: Recorder;
  readonly notice: (text: string) => void;
}

interface RevealRequest {
  readonly cardId: string;
  readonly sink: Destination;
  /** Stands for the typed digits. */
  readonly reveal: boolean;
  /** What to run where nobody can be asked. */
  readonly command: string;
}

/** A wish of a command that makes the card itself: there is no id yet. */
type WishBeforeCard = Omit<RevealRequest, 'cardId'> & { readonly cardId: string | undefined };

export interface Opened {
  readonly details: Result<'cards.details'>;
  readonly card: Item<'cards.list'>;
}

/** Everything that refuses without a question: for whoever makes a card only to reveal it. Nothing is sent. */
async function checkGate(
  settings: GateSettings,
  options: WishBeforeCard,
): Promise<{ identity: Identity; asks: boolean }> {
  if (settings.dryRun) {
    throw notSent('usage', 'card details are only read; there is no dry run');
  }
  refuseUnasked(settings, options);
  refuseWatched(settings.runtime);
  const identity = await settings.identity();
  await refuseByAdministrator(settings, options);
  const guard = { ...settings, identity, effect: 'reveals-secret', safeDirection: true, readOnly: undefined } as const;
  const verdict = guardEffect(guard);
  if (identity.mode === 'live') await refuseExposed(settings, identity);
  return { identity, asks: !options.reveal || verdict === 'ask' };
}

/**
 * Opens the gate and fetches the details once. Every refusal comes before the request, but for the number of another
 * card: the card is read first, and what does not end in its last four digits goes to nobody (`contract_mismatch`).
 */
async function throughGate(settings: GateSettings, options: RevealRequest): Promise<Opened> {
  const { identity, asks } = await checkGate(settings, options);
  const card = await (await settings.reader()).read('cards.get', { card_id: options.cardId });
  const budget = await settings.budget();
  if (asks) await askForLastFour(settings, identity, card, { sink: options.sink, used: await budget.used() });
  await takeOne(settings, budget);
  const { cardId, sink } = options;
  const { result } = await settings.recorder.around(
    { event: 'reveal', operation: 'cards.details', card_id: cardId, sink },
    async () => {
      const answered = await (await settings.service()).send('cards.details', { card_id: cardId });
      checkSameCard(answered.result, card, cardId);
      return answered;
    },
    ({ result: { number } }) => ({ last4: number.expose().slice(-4) }),
  );
  return { details: result, card };
}

function checkSameCard({ number }: Result<'cards.details'>, { last4 }: Item<'cards.list'>, cardId: string): void {
  if (/^\d{4}$/.test(last4) && number.expose().endsWith(last4)) return;
  throw new CliError('contract_mismatch', {
    message: `cards.details: the number in the answer does not end in ${last4}, as ${cardId} does. Nothing was shown`,
    hint: `cardwright cards get ${shellWord(cardId)}`,
    operation: 'cards.details',
  });
}

/** Off a terminal nothing is asked: the wish must stand on the command line, or no request is sent. */
function refuseUnasked(settings: GateSettings, { sink, reveal, command, cardId }: WishBeforeCard): void {
  const named = sink !== 'screen';
  if (reveal && named) return;
  if (settings.canAsk && (named || settings.stdoutIsTerminal)) return;
  throw notSent('not_confirmed', 'when nobody can be asked, card details need an explicit option', {
    ...(cardId !== undefined && { notes: otherSinks(cardId) }),
    hint: command,
    operation: 'cards.details',
  });
}

function otherSinks(cardId: string): readonly string[] {
  return [
    `to one command:     cardwright cards exec ${shellWord(cardId)} --reveal -- ./checkout.sh`,
    `to a private file:  cardwright cards details ${shellWord(cardId)} --reveal --out card.json`,
  ];
}

async function refuseByAdministrator({ revealRule, canAsk }: GateSettings, { sink }: WishBeforeCard): Promise<void> {
  const managed = await revealRule();
  if (managed === undefined) return;
  const { rule, path } = managed;
  if (rule !== 'never' && (canAsk || (rule === 'exec' && sink === 'child'))) return;
  const where = rule === 'never' ? 'nowhere' : rule === 'exec' ? 'at a terminal or by cards exec' : 'at a terminal';
  throw notSent('guarded', `reveal of ${path} is ${rule}: card details are shown ${where}`, {
    notes: [`The administrator of this machine sets it, in ${path}.`],
    reason: 'reveal',
    hint: 'cardwright whoami',
    operation: 'cards.details',
  });
}

function refuseWatched(runtime: Runtime): void {
  const [watcher] = watchers(runtime);
  if (watcher === undefined) return;
  throw guarded(`card details are not fetched while another program can read them: ${watcher}`, 'cardwright doctor');
}

/** A live card: nobody but the person at this machine may see it, unless the profile allows more. */
async function refuseExposed(settings: GateSettings, { profile }: Identity): Promise<void> {
  const [preload] = preloads(settings.runtime);
  if (preload !== undefined) {
    throw guarded(`a live card is not revealed together with preloaded code: ${preload}`, 'cardwright doctor');
  }
  if (await settings.allowUnattended()) return;
  const hint = `cardwright profiles set ${profile} allow_unattended_reveal true`;
  const [recorder] = recorders(settings.runtime.env);
  if (recorder !== undefined) {
    throw guarded(
      `${recorder} is set: this session may be recorded or visible elsewhere, and ${profile} is live`,
      hint,
    );
  }
  if (!settings.canAsk) {
    throw guarded(`profile ${profile} does not allow card details of a live key when nobody can be asked`, hint);
  }
}

const WHERE: Readonly<Record<Destination, string>> = {
  screen: `will be shown on this screen for ${SHOWN_SECONDS} s and leave no scrollback`,
  print: 'will be printed and will stay in the scrollback',
  file: 'will be written to a new file that only you can read',
  clipboard: 'will be put on the clipboard for 45 s',
  child: 'will be in the environment of one program',
};

async function askForLastFour(
  settings: GateSettings,
  { mode, profile }: Identity,
  card: Item<'cards.list'>,
  { sink, used }: { readonly sink: Destination; readonly used: number },
): Promise<void> {
  if (mode !== 'live') settings.notice(mode === profile ? mode : `${mode} · ${profile}`);
  const label = card.label ? `, ${JSON.stringify(card.label)}` : '';
  const facts = `${card.network ?? 'card'} ending ${card.last4}${label}, ${card.status}`;
  settings.notice(`${facts}, ${dollars(toCents(card.balance))}`);
  settings.notice(`Number and CVV ${WHERE[sink]}.`);
  settings.notice(
    `Reveals left this minute, counted on this machine: ${REVEALS_A_MINUTE - used} of ${REVEALS_A_MINUTE}.`,
  );
  const question = 'Type the last four digits to continue (Ctrl-C cancels):';
  if (await settings.prompts.typed(question, { expect: card.last4, flag: '--reveal' })) return;
  throw notSent('not_confirmed', 'these are not the last four digits. Nothing was shown.', {
    operation: 'cards.details',
  });
}

/** A person is waited with as often as a minute can be full; a script is told when to come back. */
async function takeOne(settings: GateSettings, budget: RevealBudget): Promise<void> {
  let waitMs = 0;
  for (let round = 0; round < 3; round += 1) {
    const answer = await budget.take();
    if (answer.taken) return;
    waitMs = answer.waitMs;
    if (!settings.canAsk) break;
    await settings.countDown(waitMs);
  }
  throw notSent(
    'rate_limited',
    `${REVEALS_A_MINUTE} cards were revealed on this machine in the last minute; the next is possible in ${Math.ceil(waitMs / 1000)} s`,
    { retryAfterMs: waitMs, operation: 'cards.details' },
  );
}

function guarded(message: string, hint: string): CliError {
  return notSent('guarded', message, { hint, operation: 'cards.details' });
}

export const CLIPBOARD_SECONDS = 45;

/** Keys of the reveal screen, each with the line that is shown after it. */
export type ScreenActions = ReadonlyMap<string, () => Promise<string>>;

export interface DestinationSettings extends GateSettings {
  /** Lines on the alternate screen; resolves when they are gone again. */
  readonly showOnScreen: (
    lines: readonly string[],
    settings: { readonly seconds: number; readonly actions: ScreenActions },
  ) => Promise<{ readonly shownMs: number }>;
  /** Throws `usage` when a file cannot be made there. */
  readonly checkNew: (path: string) => Promise<void>;
  /** Makes a new file of mode 0600. Throws `usage` for an existing one and links. */
  readonly createPrivate: (path: string, content: string) => Promise<void>;
  readonly clipboard: () => Promise<Clipboard | undefined>;
  /** Clears the clipboard after the seconds or at a signal, when it still holds the text. */
  readonly clearLater: (clipboard: Clipboard, text: string) => Promise<boolean>;
  /** Throws `usage` when there is no such program. */
  readonly checkProgram: (name: string | undefined) => Promise<void>;
  readonly maskInLog: (texts: readonly string[]) => void;
  readonly runChild: (program: readonly string[], variables: Readonly<Record<string, string>>) => Promise<number>;
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
  const named = options.field === undefined ? '' : ` --field ${options.field}`;
  // What a CI job prints stays in its log.
  const place = isSet(settings.runtime.env['CI']) ? '--out card.json' : '--print';
  const command =
    sink === 'screen'
      ? `cardwright cards details ${shellWord(cardId)}${named} --reveal ${place}`
      : sameCommandWith('--reveal');
  const { out } = options;
  if (out !== undefined) await settings.checkNew(out);
  const opened = await throughGate(settings, { cardId, sink, reveal: options.reveal, command });
  const parts = partsOf(opened, cardId);
  const { copy, print, field } = options;
  if (out !== undefined) return intoFile(settings, parts, out, field);
  if (copy !== undefined && clipboard !== undefined) return ontoClipboard(settings, parts, copy, clipboard);
  return print ? printed(parts, field) : onScreen(settings, opened, parts, field);
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

type Parts = ReturnType<typeof partsOf>;

/** `expiry` is `MM/YY`. */
function partsOf({ details }: Opened, asked: string) {
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
    blocks: [pairsBlock(pairs)],
  };
}

async function onScreen(
  settings: DestinationSettings,
  { card }: Opened,
  parts: Parts,
  field: CardPart | undefined,
): Promise<Shown> {
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
  path: string,
  field: CardPart | undefined,
): Promise<Shown> {
  const content = field === undefined ? JSON.stringify(documentOf(parts), null, 2) : parts[field];
  await settings.createPrivate(path, `${content}\n`);
  return {
    data: { card_id: parts.cardId, file: path },
    noun: 'card',
    idField: 'file',
    columns: [
      { field: 'card_id', title: 'CARD', kind: 'id', priority: 1 },
      { field: 'file', title: 'FILE', kind: 'text', priority: 1 },
    ],
    blocks: [lineBlock(`Written to ${path}; only you can read it.`)],
  };
}

async function ontoClipboard(
  settings: DestinationSettings,
  parts: Parts,
  part: CardPart,
  clipboard: Clipboard,
): Promise<Shown> {
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
  return notSent('usage', message, { operation: 'cards.details' });
}

function grouped(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}
