/** Card details behind the gate: where they may go, what is asked before, and what is shown. */

import { REVEALS_A_MINUTE } from '../audit/log.ts';
import type { Item, Result } from '../contract/calls.ts';
import { CliError, type ErrorFacts, type ErrorKind, notSent } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { dollars, toCents } from '../core/money.ts';
import { sameCommandWith, shellWord } from '../core/shell-quote.ts';
import { preloads, recorders, watchers } from '../platform/watched.ts';
import { lineBlock, pairsBlock, type Shown } from '../terminal/view.ts';
import { outcomeOf, type Recorder, whyOf } from '../writes/audit-record.ts';
import { guardEffect } from '../writes/guard.ts';
import { checkNewFile, createFile } from './context-files.ts';
import { isSet } from './globals.ts';
import type { Run } from './run.ts';

export type RevealOptions = Readonly<Record<'reveal' | 'print', boolean | undefined>> &
  Readonly<Record<'copy' | 'field', CardPart | undefined>> & { readonly out: string | undefined };

type CardPart = 'number' | 'cvv' | 'expiry';

export interface RunWithCard {
  readonly program: readonly string[];
  readonly reveal: boolean;
  /** Number and CVV are hidden in the log of the CI job first. */
  readonly mask: boolean;
}

type Destination = 'screen' | 'print' | 'file' | 'clipboard' | 'child';

const SHOWN_SECONDS = 30;
const CLIPBOARD_SECONDS = 45;
const WHERE: Readonly<Record<Destination, string>> = {
  screen: `will be shown on this screen for ${SHOWN_SECONDS} s and leave no scrollback`,
  print: 'will be printed and will stay in the scrollback',
  file: 'will be written to a new file that only you can read',
  clipboard: `will be put on the clipboard for ${CLIPBOARD_SECONDS} s`,
  child: 'will be in the environment of one program',
};

interface Wish {
  /** Undefined before the card is made. */
  readonly cardId: string | undefined;
  readonly sink: Destination;
  /** Stands for the typed digits. */
  readonly reveal: boolean;
  /** What to run where nobody can be asked. */
  readonly command: string;
}

type Card = Item<'cards.list'>;

const programs = () => import('./programs.ts');

/** Card details behind the gate. */
export function cardReveal(run: Run, recorder: Recorder) {
  const { host, globals, terminal, notice, opened, reader, limits, audit } = run;
  const { prompts, canAsk } = terminal;
  const runtime = { execArgv: host.execArgv, env: host.env, inspected: host.inspected() };

  /** Everything that refuses without a question; nothing is sent. Resolves to whether the last four digits are asked for. */
  async function check({ cardId, sink, reveal, command }: Wish): Promise<{ identity: Identity; asks: boolean }> {
    if (globals.dryRun) throw notSent('usage', 'card details are only read; there is no dry run');
    // Off a terminal nothing is asked: the wish must stand on the command line.
    const isNamed = sink !== 'screen';
    const canBeAsked = canAsk && (isNamed || host.streams.stdout.isTerminal);
    if (!(reveal && isNamed) && !canBeAsked) {
      throw refusal('not_confirmed', 'when nobody can be asked, card details need an explicit option', {
        ...(cardId !== undefined && {
          notes: [
            `to one command:     cardwright cards exec ${shellWord(cardId)} --reveal -- ./checkout.sh`,
            `to a private file:  cardwright cards details ${shellWord(cardId)} --reveal --out card.json`,
          ],
        }),
        hint: command,
      });
    }
    const [watcher] = watchers(runtime);
    if (watcher !== undefined)
      throw refusal('guarded', `card details are not fetched while another program can read them: ${watcher}`, {
        hint: 'cardwright doctor',
      });
    const identity = await opened.identity();
    const { reveal: rule, path } = await limits.managed();
    const isRuled = rule !== undefined && (rule === 'never' || !(canAsk || (rule === 'exec' && sink === 'child')));
    if (isRuled) {
      const where = rule === 'never' ? 'nowhere' : rule === 'exec' ? 'at a terminal or by cards exec' : 'at a terminal';
      throw refusal('guarded', `reveal of ${path} is ${rule}: card details are shown ${where}`, {
        notes: [`The administrator of this machine sets it, in ${path}.`],
        reason: 'reveal',
        hint: 'cardwright whoami',
      });
    }
    const asked = { identity, effect: 'reveals-secret', safeDirection: true, readOnly: undefined, canAsk } as const;
    const verdict = guardEffect({ ...asked, yes: globals.yes, live: globals.live });
    if (identity.mode === 'live') await refuseExposed(identity);
    return { identity, asks: !reveal || verdict === 'ask' };
  }

  /** A live card: nobody but the person at this machine may see it, unless the profile allows more. */
  async function refuseExposed({ profile }: Identity): Promise<void> {
    const [preload] = preloads(runtime);
    if (preload !== undefined)
      throw refusal('guarded', `a live card is not revealed together with preloaded code: ${preload}`, {
        hint: 'cardwright doctor',
      });
    if ((await opened.settings()).allow_unattended_reveal === true) return;
    const hint = `cardwright profiles set ${profile} allow_unattended_reveal true`;
    const [recording] = recorders(host.env);
    if (recording !== undefined) {
      const why = 'this session may be recorded or visible elsewhere';
      throw refusal('guarded', `${recording} is set: ${why}, and ${profile} is live`, { hint });
    }
    if (!canAsk) {
      const who = `profile ${profile} does not allow card details of a live key`;
      throw refusal('guarded', `${who} when nobody can be asked`, { hint });
    }
  }

  /**
   * Opens the gate and fetches the details once. Every refusal comes before the request, but for the number of another
   * card: the card is read first, and what does not end in its last four digits goes to nobody (`contract_mismatch`).
   */
  async function fetchDetails(wish: Wish & { readonly cardId: string }) {
    const { cardId, sink } = wish;
    const { identity, asks } = await check(wish);
    const card = await (await reader()).read('cards.get', { card_id: cardId });
    if (asks) {
      const { mode, profile } = identity;
      if (mode !== 'live') notice(mode === profile ? mode : `${mode} · ${profile}`);
      const label = card.label ? `, ${JSON.stringify(card.label)}` : '';
      const facts = `${card.network ?? 'card'} ending ${card.last4}${label}, ${card.status}`;
      notice(`${facts}, ${dollars(toCents(card.balance))}`);
      notice(`Number and CVV ${WHERE[sink]}.`);
      const left = REVEALS_A_MINUTE - (await (await audit()).revealsOf(profile));
      notice(`Reveals left this minute, counted on this machine: ${left} of ${REVEALS_A_MINUTE}.`);
      const question = 'Type the last four digits to continue (Ctrl-C cancels):';
      if (!(await prompts.typed(question, { expect: card.last4, flag: '--reveal' })))
        throw refusal('not_confirmed', 'these are not the last four digits. Nothing was shown.');
    }
    const { end } = await recorder.begin({ event: 'reveal', operation: OPERATION, card_id: cardId, sink });
    try {
      const { result } = await (await opened.service()).send(OPERATION, { card_id: cardId });
      const { last4 } = card;
      if (!(/^\d{4}$/.test(last4) && result.number.expose().endsWith(last4)))
        throw new CliError('contract_mismatch', {
          message: `cards.details: the number in the answer does not end in ${last4}, as ${cardId} does. Nothing was shown`,
          hint: `cardwright cards get ${shellWord(cardId)}`,
          operation: OPERATION,
        });
      await end('done', { last4 });
      return { card, parts: partsOf(result, cardId) };
    } catch (thrown) {
      await end(outcomeOf(thrown), whyOf(thrown));
      throw thrown;
    }
  }

  async function onScreen(card: Card, parts: Parts, field: CardPart | undefined): Promise<Shown> {
    const title = [card.network, card.label || parts.cardId].filter(Boolean).join(' · ');
    const whole = [`Number  ${grouped(parts.number)}`, `CVV     ${parts.cvv}      Expires ${parts.expiry}`];
    const shown = field === undefined ? whole : [parts[field]];
    const lines = [title, ...shown, '', 'any key hides it'].map(line => (line === '' ? '' : `  ${line}`));
    const { showOnAlternateScreen } = await import('../terminal/reveal-screen.ts');
    const { clock, signal } = host;
    const keys = host.openKeys();
    const { shownMs } = await showOnAlternateScreen({
      ...{ lines, seconds: SHOWN_SECONDS, keys, clock, signal },
      terminal: { write: text => host.writeTerminal(text) },
      onCrash: restore => host.onCrash(restore),
    }).finally(() => keys.close());
    notice(`Shown for ${Math.round(shownMs / 1000)} s and cleared.`);
    return { verbatim: '', noun: 'card', columns: [] };
  }

  return {
    /** Opens the gate and hands the details to the one place that was asked for. */
    async reveal(cardId: string, options: RevealOptions): Promise<Shown> {
      const { out, copy, field } = options;
      const sink = sinkOf(options);
      // There the card would stay where it was written.
      if (sink === 'screen' && canAsk && host.env['TERM'] === 'dumb') {
        const instead = 'use --print to print here, or --out for a file';
        throw refusal('usage', `this terminal (TERM=dumb) cannot clear its screen; ${instead}`);
      }
      const { findClipboard } = await import('../terminal/clipboard.ts');
      const { platform, env, programFolders: folders } = host;
      const clipboard = sink === 'clipboard' ? await findClipboard({ platform, env, folders }) : undefined;
      if (sink === 'clipboard' && clipboard === undefined) {
        const programs = 'pbcopy, wl-copy, xclip or xsel in a folder of the system';
        throw refusal('usage', `no clipboard program was found (${programs}). Nothing was sent`, {
          hint: `cardwright cards details ${shellWord(cardId)} --reveal --out card.json`,
        });
      }
      // With a place to put them named, the wish to reveal is all that is missing. What a CI job prints stays in its log.
      const place = sink !== 'screen' ? [] : isSet(host.env['CI']) ? ['--out', 'card.json'] : ['--print'];
      const command = sameCommandWith('--reveal', ...place);
      if (out !== undefined) await checkNewFile(host, out);
      const { card, parts } = await fetchDetails({ cardId, sink, reveal: options.reveal === true, command });
      if (out !== undefined) {
        const content = field === undefined ? JSON.stringify(parts.document, null, 2) : parts[field];
        await createFile(host, out, `${content}\n`);
        return {
          ...{ data: { card_id: parts.cardId, file: out }, noun: 'card', idField: 'file', columns: [] },
          blocks: [lineBlock(`Written to ${out}; only you can read it.`)],
        };
      }
      if (copy !== undefined && clipboard !== undefined) {
        await clipboard.write(parts[copy]);
        notice(`Copied the ${copy === 'cvv' ? 'CVV' : copy}.`);
        notice(`The clipboard is cleared in ${CLIPBOARD_SECONDS} s; Ctrl-C clears it now.`);
        const { clock, signal } = host;
        // A signal ends the waiting, not the clearing.
        await clock.sleep(CLIPBOARD_SECONDS * 1000, signal).catch(thrown => {
          if (!signal.aborted) throw thrown;
        });
        const cleared = await clipboard.clearIf(parts[copy]);
        signal.throwIfAborted();
        notice(cleared ? 'The clipboard is cleared.' : 'The clipboard now holds something else and was not changed.');
        const data = { card_id: parts.cardId, copied: copy, cleared };
        return { data, noun: 'card', idField: 'card_id', blocks: [], columns: [] };
      }
      if (sink === 'screen') return onScreen(card, parts, field);
      if (field !== undefined) return { verbatim: `${parts[field]}\n`, noun: 'card', columns: [] };
      const lines = [
        ['Number', grouped(parts.number)],
        ['CVV', parts.cvv],
        ['Expires', parts.expiry],
      ] as const;
      return { data: parts.document, noun: 'card', idField: 'number', columns: [], blocks: [pairsBlock(lines)] };
    },
    /** Whether a program could get a card at all. Throws what `runWithCard` would refuse without a question. */
    async checkRunWithCard({ program, reveal }: Omit<RunWithCard, 'mask'>): Promise<void> {
      await (await programs()).findProgram(program[0], host);
      await check({ cardId: undefined, sink: 'child', reveal, command: sameCommandWith('--reveal', '--yes') });
    },
    /** Details into the environment of one program. Resolves to its exit code. */
    async runWithCard(cardId: string, { program, reveal, mask }: RunWithCard): Promise<number> {
      const { findProgram, runForAccount } = await programs();
      await findProgram(program[0], host);
      const command = sameCommandWith('--reveal');
      const { parts } = await fetchDetails({ cardId, sink: 'child', reveal, command });
      if (mask) terminal.maskInLog([parts.number, grouped(parts.number), parts.cvv]);
      const variables = {
        CARD_ID: parts.cardId,
        CARD_NUMBER: parts.number,
        CARD_CVV: parts.cvv,
        CARD_EXP_MONTH: parts.month,
        CARD_EXP_YEAR: String(parts.document.exp_year),
      };
      return runForAccount(run, program, { variables, handsKeys: false });
    },
  };
}

const OPERATION = 'cards.details';

function refusal(kind: ErrorKind, message: string, facts: Omit<ErrorFacts, 'message' | 'outcome'> = {}): CliError {
  return notSent(kind, message, { ...facts, operation: OPERATION });
}

function sinkOf({ print, out, copy, field }: RevealOptions): Destination {
  const places = [print && '--print', out !== undefined && '--out', copy !== undefined && '--copy'].filter(Boolean);
  if (places.length > 1) throw refusal('usage', `${places.join(' and ')} name several places; give only one`);
  if (copy !== undefined && field !== undefined) throw refusal('usage', '--copy names the field; remove --field');
  return out !== undefined ? 'file' : copy !== undefined ? 'clipboard' : print ? 'print' : 'screen';
}

type Parts = ReturnType<typeof partsOf>;

/** `expiry` is `MM/YY`. */
function partsOf({ card_id, ...details }: Result<'cards.details'>, asked: string) {
  const { exp_month, exp_year } = details;
  const [cardId, number, cvv] = [card_id ?? asked, details.number.expose(), details.cvv.expose()];
  const month = String(exp_month).padStart(2, '0');
  const expiry = `${month}/${String(exp_year).slice(-2)}`;
  return { cardId, number, cvv, month, expiry, document: { card_id: cardId, number, cvv, exp_month, exp_year } };
}

function grouped(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}
