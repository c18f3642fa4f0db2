/** The gate in front of card numbers (docs/design/cli.md, "Revealing a card"). Nothing is sent before it opens. */

import type { RevealBudget } from '../audit/reveal-budget.ts';
import { REVEALS_A_MINUTE } from '../audit/reveal-budget.ts';
import type { Item, Result } from '../contract/calls.ts';
import type { Reader, Service } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { dollars, toCents } from '../core/money.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { Prompts } from '../terminal/prompts.ts';
import type { Recorder } from '../writes/audit-record.ts';
import { guardEffect } from '../writes/guard.ts';
import { preloads, type Runtime, recorders, watchers } from './process-exposure.ts';

export const SHOWN_SECONDS = 30;

export type Destination = 'screen' | 'print' | 'file' | 'clipboard' | 'child';

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

export interface RevealRequest {
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
export async function checkGate(
  settings: GateSettings,
  options: WishBeforeCard,
): Promise<{ identity: Identity; asks: boolean }> {
  if (settings.dryRun) {
    throw new CliError('usage', { message: 'card details are only read; there is no dry run', outcome: 'not_sent' });
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
export async function throughGate(settings: GateSettings, options: RevealRequest): Promise<Opened> {
  const { identity, asks } = await checkGate(settings, options);
  const card = await (await settings.reader()).read('cards.get', { card_id: options.cardId });
  const budget = await settings.budget();
  if (asks) await askForLastFour(settings, { card, identity, options, used: await budget.used() });
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
  throw new CliError('not_confirmed', {
    message: 'when nobody can be asked, card details need an explicit option',
    ...(cardId !== undefined && { notes: otherSinks(cardId) }),
    hint: command,
    outcome: 'not_sent',
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
  throw new CliError('guarded', {
    message: `reveal of ${path} is ${rule}: card details are shown ${where}`,
    notes: [`The administrator of this machine sets it, in ${path}.`],
    reason: 'reveal',
    hint: 'cardwright whoami',
    outcome: 'not_sent',
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

interface Asking {
  readonly card: Item<'cards.list'>;
  readonly identity: Identity;
  readonly options: RevealRequest;
  readonly used: number;
}

const WHERE: Readonly<Record<Destination, string>> = {
  screen: `will be shown on this screen for ${SHOWN_SECONDS} s and leave no scrollback`,
  print: 'will be printed and will stay in the scrollback',
  file: 'will be written to a new file that only you can read',
  clipboard: 'will be put on the clipboard for 45 s',
  child: 'will be in the environment of one program',
};

async function askForLastFour(settings: GateSettings, { card, identity, options, used }: Asking): Promise<void> {
  const { mode, profile } = identity;
  if (mode !== 'live') settings.notice(mode === profile ? mode : `${mode} · ${profile}`);
  const label = card.label ? `, ${JSON.stringify(card.label)}` : '';
  const facts = `${card.network ?? 'card'} ending ${card.last4}${label}, ${card.status}`;
  settings.notice(`${facts}, ${dollars(toCents(card.balance))}`);
  settings.notice(`Number and CVV ${WHERE[options.sink]}.`);
  settings.notice(
    `Reveals left this minute, counted on this machine: ${REVEALS_A_MINUTE - used} of ${REVEALS_A_MINUTE}.`,
  );
  const question = 'Type the last four digits to continue (Ctrl-C cancels):';
  if (await settings.prompts.typed(question, { expect: card.last4, flag: '--reveal' })) return;
  throw new CliError('not_confirmed', {
    message: 'these are not the last four digits. Nothing was shown.',
    outcome: 'not_sent',
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
  throw new CliError('rate_limited', {
    message: `${REVEALS_A_MINUTE} cards were revealed on this machine in the last minute; the next is possible in ${Math.ceil(waitMs / 1000)} s`,
    retryAfterMs: waitMs,
    outcome: 'not_sent',
    operation: 'cards.details',
  });
}

function guarded(message: string, hint: string): CliError {
  return new CliError('guarded', { message, hint, outcome: 'not_sent', operation: 'cards.details' });
}
