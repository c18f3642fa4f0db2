/** Ranks BINs for a job, and says why. */
import type { Context } from '../../cli/context.ts';
import type { Item } from '../../contract/calls.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, centsOf, dollars } from '../../core/money.ts';

export type Bin = Item<'bins.list'>;
export const NEEDS = ['apple_pay', 'google_pay', '3ds'] as const;

export interface BinCriteria {
  readonly needs?: readonly (typeof NEEDS)[number][];
  /** A tag of `best_for`; BINs with it come first. */
  readonly purpose?: string | undefined;
  readonly minTransaction?: Cents | undefined;
}

export interface RankedBin {
  readonly bin: Bin;
  readonly why: string;
}

/** BINs that meet the needs: those made for the purpose first, then by acceptance rate, then by id. */
export function rankBins(bins: readonly Bin[], options: BinCriteria): readonly RankedBin[] {
  const { needs = [], purpose, minTransaction } = options;
  const fits = (bin: Bin) =>
    needs.every(need => bin[need] === true) &&
    (minTransaction === undefined || (centsOf(bin.max_transaction ?? 0) ?? 0) >= minTransaction);
  const made = (bin: Bin) => purpose !== undefined && (bin.best_for ?? []).includes(purpose);
  const rate = (bin: Bin) => bin.acceptance_rate ?? 0;
  return bins
    .filter(fits)
    .sort((a, b) => Number(made(b)) - Number(made(a)) || rate(b) - rate(a) || (a.id < b.id ? -1 : 1))
    .map(bin => ({ bin, why: reasons(bin, options, made(bin)).join(', ') }));
}

function reasons(bin: Bin, { needs = [], purpose, minTransaction }: BinCriteria, made: boolean): string[] {
  return [
    ...(made ? [`made for ${purpose}`] : []),
    ...(bin.acceptance_rate == null ? [] : [`${bin.acceptance_rate}% accepted`]),
    ...needs.map(need => need.replace('_', ' ')),
    ...(minTransaction === undefined ? [] : [`takes ${dollars(minTransaction)} at once`]),
  ];
}

/** The best BIN for a card with this much money, undefined when none can take it. */
export function binFor(bins: readonly Bin[], amount: Cents): Bin | undefined {
  return rankBins(
    bins.filter(bin => (centsOf(bin.max_monthly ?? 0) ?? 0) >= amount),
    {},
  )[0]?.bin;
}

/** The first BIN for a card with this much money. Throws `not_found` when none can take it. */
export async function bestBin(ctx: Context, amount: Cents): Promise<Bin> {
  const { data } = await ctx.read('bins.list', {});
  const best = binFor(data, amount);
  if (best === undefined) {
    throw new CliError('not_found', {
      message: `no BIN takes ${dollars(amount)}`,
      hint: 'cardwright bins list',
      operation: 'bins.list',
      outcome: 'not_sent',
    });
  }
  return best;
}
