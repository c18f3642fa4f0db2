/** A plan of a fleet, from its file and the account as it is now. Reads alone. */
import type { Context } from '../../cli/context.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, centsOf, dollars, toCents } from '../../core/money.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { Account, CardRecords } from '../../fleet/account.ts';
import type { Scope } from '../../fleet/keys.ts';
import { matchCards } from '../../fleet/match.ts';
import { cardsToRead, planFleet } from '../../fleet/plan.ts';
import { type PlanDocument, planDocument } from '../../fleet/plan-document.ts';
import type { Allowed, PlanInput } from '../../fleet/plan-input.ts';
import type { NumberedStep } from '../../fleet/step.ts';
import type { UnmarkedCards } from '../../fleet/unmarked.ts';
import { type Bin, binFor, rankBins } from '../bins/rank.ts';
import { readFleetJournal } from './fleet-journal.ts';
import { readAccount, readRecords } from './read-account.ts';
import type { NamedFleet } from './read-file.ts';
import { lockedNames } from './unknown-rows.ts';

export interface PlanOptions {
  readonly allowed: Allowed;
  /** How long the plan may be applied, ms. */
  readonly lifeMs: number;
  /** The plan that is carried out: its BINs are taken, and its witness is asked for. */
  readonly of?: PlanDocument | undefined;
}

export interface MadePlan {
  readonly document: PlanDocument;
  readonly account: Account;
  readonly records: ReadonlyMap<string, CardRecords>;
  readonly scope: Scope;
  /** Cards that applies of this machine have made there. */
  readonly made: ReadonlySet<string>;
}

/** Throws as `planFleet` and `readAccount` do; `contract_mismatch` where a card would be made that could not be told. */
export async function makePlan(ctx: Context, named: NamedFleet, wishes: PlanOptions): Promise<MadePlan> {
  const { fleet, content, name: file } = named;
  const { allowed, lifeMs, of } = wishes;
  const { baseUrl: origin, mode } = await ctx.identity();
  const scope: Scope = { origin, mode, fleet: fleet.name };
  const { unknown, made } = await readFleetJournal(ctx, origin);
  // A sandbox that was begun anew gives its ids again, and shows all of every card.
  const marked = mode === 'sandbox' ? new Set<string>() : made;
  const { account, bins, showsMarkers, unmarked } = await readAccount(ctx, fleet, {
    witness: of?.bound.witness,
    marked,
  });
  const match = matchCards(fleet, account);
  const records = await readRecords(ctx, cardsToRead(fleet, account, match), account.now);
  const locked = lockedNames(unknown, { fleet, account, scope });
  const chosen = binsOf(of);
  const best = bestOf(bins);
  const pickBin: PlanInput['pickBin'] = (wish, wanted) => chosen.get(wanted.name) ?? best(wish, wanted);
  const planned = planFleet({ fleet, file, account, match, records, scope, allowed, locked, pickBin });
  if (!showsMarkers && planned.steps.some(step => step.do === 'create')) throw cannotTell();
  if (mode !== 'sandbox') refuseLikelyTwins(planned.steps, unmarked);
  const overrides = await ctx.overrides();
  const around = { fleet, account, scope, allowed, content, overrides, version: ctx.version, lifeMs };
  return { document: planDocument(planned, around), account, records, scope, made };
}

/** As `bins pick` ranks them, of those that take as much a month. */
function bestOf(bins: readonly Bin[]): PlanInput['pickBin'] {
  return (wish, { least }) => {
    if (wish.by === 'auto') return binFor(bins, least)?.id;
    const fit = bins.filter(bin => (centsOf(bin.max_monthly ?? 0) ?? 0) >= least);
    const { needs, purpose, minTransaction } = wish;
    return rankBins(fit, { needs, purpose, minTransaction })[0]?.bin.id;
  };
}

/** The BINs that a plan has chosen, by name. */
function binsOf(plan: PlanDocument | undefined): ReadonlyMap<string, string> {
  const creates = plan?.steps.flatMap(step => (step.do === 'create' ? [[step.name, step.body.bin_id] as const] : []));
  return new Map(creates ?? []);
}

/** On another machine its create may have made the very card, where the service shows no metadata of any card. */
function refuseLikelyTwins(steps: readonly NumberedStep[], unmarked: UnmarkedCards): void {
  for (const step of steps) {
    if (step.do !== 'create') continue;
    const { label } = step.body;
    const card = unmarked.withLabel(label ?? '');
    if (card === undefined) continue;
    const labelled = label === undefined ? 'no label, as the file says' : `the label ${JSON.stringify(label)}`;
    throw new CliError('contract_mismatch', {
      message: `no card here shows metadata, and ${card} has ${labelled}: it may be the card of ${step.name} already. Nothing was planned`,
      notes: [
        `When it is: write card: ${card} at ${step.name} in the file.`,
        `When it is not: give ${step.name} another label.`,
      ],
      hint: `cardwright cards get ${shellWord(card)}`,
      outcome: 'not_sent',
    });
  }
}

function cannotTell(): CliError {
  return new CliError('contract_mismatch', {
    message:
      'this service does not show what a card was made with, so that a card of the fleet would look like any other: none is made',
    notes: ['Make the card with cardwright cards create, then adopt it with cardwright fleet import --card'],
    outcome: 'not_sent',
  });
}

/** Throws `guarded` for a plan beyond the caps of its file. */
export function refuseOverCaps({ document }: Pick<MadePlan, 'document'>): void {
  const { totals, caps, fleet, cards_after: cards } = document;
  const over: string[] = [];
  if (totals.create + totals.fund > 0 && totals.spend > caps.per_apply) {
    over.push(`it would spend ${usd(totals.spend)}, and caps.per_apply is ${usd(caps.per_apply)}`);
  }
  if (totals.create > 0 && cards > caps.cards)
    over.push(`it would have ${cards} cards, and caps.cards is ${caps.cards}`);
  if (over.length === 0) return;
  throw new CliError('guarded', {
    reason: 'fleet_caps',
    message: `the plan of ${fleet} is beyond its caps: ${over.join('; ')}. Nothing was sent; raise caps in the file, when that is meant`,
    outcome: 'not_sent',
  });
}

function usd(amount: number): string {
  return dollars(toCents(amount));
}

/** Throws `insufficient_funds` where the wallet and what comes back do not cover the plan and the reserve. */
export function refuseLowWallet({ totals, caps }: PlanDocument): void {
  const after = toCents(totals.wallet_after);
  const reserve = toCents(caps.wallet_reserve);
  if (totals.spend === 0 || after >= reserve) return;
  const short = (reserve - after) as Cents;
  const kept = reserve === 0 ? '' : `, and ${dollars(reserve)} must stay (wallet_reserve)`;
  const returns = totals.returns === 0 ? '' : ` and ${usd(totals.returns)} comes back`;
  throw new CliError('insufficient_funds', {
    message: `the wallet is too low: ${usd(totals.spend)} asked, ${usd(totals.wallet)} there${returns}${kept}; ${dollars(short)} short. Nothing was sent`,
    hint: 'cardwright wallet addresses',
    outcome: 'not_sent',
  });
}
