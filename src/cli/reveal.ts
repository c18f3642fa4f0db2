/** The gate in front of card numbers (CLI.md, "Revealing a card"). Nothing is sent before it opens. */

import type { Result } from '../contract/calls.ts';
import type { Reader, Service } from '../contract/service.ts';
import { CliError } from '../errors.ts';
import { dollars, toCents } from '../money.ts';
import type { Prompts } from '../terminal/prompts.ts';
import type { Column } from '../terminal/view.ts';
import type { Shown } from './command.ts';
import type { Identity, RevealOptions } from './context.ts';
import { guardEffect } from './guard.ts';

const SHOWN_SECONDS = 30;

export interface RevealSettings {
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
  readonly allowUnattended: () => Promise<boolean>;
  /** Lines on the alternate screen; resolves when they are gone again. */
  readonly showOnScreen: (lines: readonly string[], seconds: number) => Promise<{ readonly shownMs: number }>;
  /** Makes a new file of mode 0600; refuses an existing one and links. */
  readonly createPrivate: (path: string, content: string) => Promise<void>;
  readonly notice: (text: string) => void;
}

type Details = Result<'cards.details'>;

const COLUMNS: readonly Column[] = [
  { field: 'card_id', title: 'CARD', kind: 'id', priority: 1 },
  { field: 'number', title: 'NUMBER', kind: 'id', priority: 1 },
  { field: 'cvv', title: 'CVV', kind: 'id', priority: 1 },
  { field: 'exp_month', title: 'MONTH', kind: 'integer', priority: 1 },
  { field: 'exp_year', title: 'YEAR', kind: 'integer', priority: 1 },
];

/** Opens the gate, fetches the details once and hands them to the one place that was asked for. */
export async function revealCard(settings: RevealSettings, cardId: string, options: RevealOptions): Promise<Shown> {
  refuseUnasked(settings, cardId, options);
  const identity = await settings.identity();
  const verdict = guardEffect({
    ...settings,
    identity,
    effect: 'reveals-secret',
    safeDirection: true,
    readOnly: false,
  });
  if (identity.mode === 'live' && !settings.canAsk) await refuseUnattended(settings, identity);
  if (!options.reveal || verdict === 'ask') await askForLastFour(settings, cardId, identity);
  const { result } = await (await settings.service()).send('cards.details', { card_id: cardId });
  return hand(settings, { cardId, options, details: result });
}

/** Off a terminal nothing is asked: the wish must stand on the command line, or no request is sent. */
function refuseUnasked(settings: RevealSettings, cardId: string, { reveal, print, out }: RevealOptions): void {
  if (settings.dryRun)
    throw new CliError('usage', { message: 'cards details reads only; it has no dry run', outcome: 'not_sent' });
  const sink = print || out !== undefined;
  if (reveal && sink) return;
  if (settings.canAsk && (sink || settings.stdoutIsTerminal)) return;
  throw new CliError('not_confirmed', {
    message: 'off a terminal card details are given only when asked for by name',
    notes: [`into a private file: cardwright cards details ${cardId} --reveal --out card.json`],
    hint: `cardwright cards details ${cardId} --reveal --print`,
    outcome: 'not_sent',
    operation: 'cards.details',
  });
}

async function refuseUnattended(settings: RevealSettings, { profile }: Identity): Promise<void> {
  if (await settings.allowUnattended()) return;
  throw new CliError('guarded', {
    message: `profile ${profile} does not allow card details of a live key off a terminal`,
    hint: `cardwright profiles set ${profile} allow_unattended_reveal true`,
    outcome: 'not_sent',
    operation: 'cards.details',
  });
}

async function askForLastFour(settings: RevealSettings, cardId: string, { mode, profile }: Identity): Promise<void> {
  const card = await (await settings.reader()).read('cards.get', { card_id: cardId });
  if (mode !== 'live') settings.notice(mode === profile ? mode : `${mode} · ${profile}`);
  const label = card.label ? `, ${JSON.stringify(card.label)}` : '';
  settings.notice(
    `${card.network ?? 'card'} ending ${card.last4}${label}, ${card.status}, ${dollars(toCents(card.balance))}`,
  );
  const typed = await settings.prompts.typed('Type the last four digits to go on', {
    expect: card.last4,
    flag: '--reveal',
  });
  if (typed) return;
  throw new CliError('not_confirmed', {
    message: 'those are not the last four digits. Nothing was shown.',
    outcome: 'not_sent',
    operation: 'cards.details',
  });
}

interface Revealed {
  readonly cardId: string;
  readonly options: RevealOptions;
  readonly details: Details;
}

async function hand(settings: RevealSettings, { cardId, options, details }: Revealed): Promise<Shown> {
  const { number, cvv, exp_month, exp_year } = details;
  const expiry = `${String(exp_month).padStart(2, '0')}/${String(exp_year).slice(-2)}`;
  const data = { card_id: details.card_id ?? cardId, number: number.expose(), cvv: cvv.expose(), exp_month, exp_year };
  const single =
    options.field === undefined ? undefined : { number: data.number, cvv: data.cvv, expiry }[options.field];
  if (options.out !== undefined) {
    await newFile(settings, options.out, `${single ?? JSON.stringify(data, null, 2)}\n`);
    return writtenTo(data.card_id, options.out);
  }
  if (options.print) {
    if (single !== undefined) return { verbatim: `${single}\n`, noun: 'card', columns: [] };
    const pairs = [
      ['Number', grouped(data.number)],
      ['CVV', data.cvv],
      ['Expires', expiry],
    ] as const;
    return { data, noun: 'card', idField: 'number', columns: COLUMNS, blocks: [{ kind: 'pairs', pairs }] };
  }
  const lines =
    single === undefined ? [`Number  ${grouped(data.number)}`, `CVV     ${data.cvv}      Expires ${expiry}`] : [single];
  const { shownMs } = await settings.showOnScreen(
    [`  card ${data.card_id}`, ...lines.map(line => `  ${line}`), '', '  any key hides it'],
    SHOWN_SECONDS,
  );
  settings.notice(`Shown for ${Math.round(shownMs / 1000)} s and cleared.`);
  return { verbatim: '', noun: 'card', columns: [] };
}

async function newFile({ createPrivate }: RevealSettings, path: string, content: string): Promise<void> {
  try {
    await createPrivate(path, content);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    const why = code === 'EEXIST' ? 'it is there already, and nothing is overwritten' : code;
    throw new CliError('usage', {
      message: `--out ${JSON.stringify(path)} cannot be made: ${why}`,
      operation: 'cards.details',
      cause: error,
    });
  }
}

function writtenTo(cardId: string, file: string): Shown {
  return {
    data: { card_id: cardId, file },
    noun: 'card',
    idField: 'file',
    columns: [
      { field: 'card_id', title: 'CARD', kind: 'id', priority: 1 },
      { field: 'file', title: 'FILE', kind: 'text', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Written to ${file}; only you can read it.` }],
  };
}

function grouped(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}
