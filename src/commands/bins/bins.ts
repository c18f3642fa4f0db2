/** BINs: listed, shown, and ranked for a job. */

import type { Context } from '../../cli/context.ts';
import { columnsOf, SHORT_ID } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, option, takes, tells } from '../../cli/parsing/flag.ts';
import type { Item } from '../../contract/calls.ts';
import { BIN_ID } from '../../contract/card.ts';
import { BIN } from '../../contract/resources.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, centsOf, dollars } from '../../core/money.ts';

export const BIN_COLUMNS = columnsOf(
  BIN,
  'id network:2 type:3 3ds:5 apple_pay:6 google_pay:6 max_transaction:3 max_monthly:4 acceptance_rate:2 best_for:7',
  {
    id: { shortTo: SHORT_ID },
    apple_pay: 'APPLE',
    google_pay: 'GOOGLE',
    max_transaction: 'MAX TX',
    max_monthly: 'MAX MONTH',
    acceptance_rate: { title: 'ACCEPTED', kind: 'percent' },
    best_for: { shrink: true },
  },
);

export type Bin = Item<'bins.list'>;
const NEEDS = ['apple_pay', 'google_pay', '3ds'] as const;

interface BinCriteria {
  readonly needs?: readonly (typeof NEEDS)[number][] | undefined;
  /** A tag of `best_for`; BINs with it come first. */
  readonly purpose?: string | undefined;
  readonly minTransaction?: Cents | undefined;
  /** Limit of a month that it has at least. */
  readonly minMonthly?: Cents | undefined;
}

/** BINs that meet the needs: those made for the purpose first, then by acceptance rate, then by id. */
export function rankBins(
  bins: readonly Bin[],
  { needs = [], purpose, minTransaction, minMonthly = cents(0) }: BinCriteria,
): readonly { readonly bin: Bin; readonly why: string }[] {
  const fits = (bin: Bin) =>
    needs.every(need => bin[need] === true) &&
    (centsOf(bin.max_monthly ?? 0) ?? 0) >= minMonthly &&
    (minTransaction === undefined || (centsOf(bin.max_transaction ?? 0) ?? 0) >= minTransaction);
  const made = (bin: Bin) => purpose !== undefined && (bin.best_for ?? []).includes(purpose);
  const rate = (bin: Bin) => bin.acceptance_rate ?? 0;
  return bins
    .filter(fits)
    .sort((a, b) => Number(made(b)) - Number(made(a)) || rate(b) - rate(a) || (a.id < b.id ? -1 : 1))
    .map(bin => {
      const reasons = [
        ...(made(bin) ? [`made for ${purpose}`] : []),
        ...(bin.acceptance_rate == null ? [] : [`${bin.acceptance_rate}% accepted`]),
        ...needs.map(need => need.replace('_', ' ')),
        ...(minTransaction === undefined ? [] : [`takes ${dollars(minTransaction)} at once`]),
      ];
      return { bin, why: reasons.join(', ') };
    });
}

/** The best BIN for a card with this much money, undefined when none can take it. */
export function binFor(bins: readonly Bin[], amount: Cents): Bin | undefined {
  return rankBins(bins, { minMonthly: amount })[0]?.bin;
}

const noBin = (message: string) =>
  new CliError('not_found', { message, hint: 'cardwright bins list', operation: 'bins.list' });

/** The first BIN for a card with this much money. Throws `not_found` when none can take it. */
export async function bestBin(ctx: Context, amount: Cents): Promise<Bin> {
  const { data } = await ctx.api.read('bins.list', {});
  const best = binFor(data, amount);
  if (best === undefined) throw noBin(`no BIN takes ${dollars(amount)}`).with({ outcome: 'not_sent' });
  return best;
}

export const listBins = command({
  path: 'bins list',
  summary: 'List the BINs cards can be issued from',
  operation: 'bins.list',
  examples: {
    'All of them': 'bins list',
    'Best accepted first': 'bins list --sort -acceptance_rate',
  },
  run: ctx => ctx.api.read('bins.list', {}),
  noun: 'BIN',
  columns: BIN_COLUMNS,
});

export const getBin = command({
  path: 'bins get',
  summary: 'Show one BIN',
  answers: { one: BIN },
  operation: 'bins.list',
  about: 'bin_1 stands for an id of yours: bins list -o id prints those there are.',
  ends: { not_found: 'There is no such BIN.' },
  args: { bin: argument(BIN_ID) },
  examples: {
    'In words': 'bins get bin_1',
    'One fact of it': 'bins get bin_1 --jq .max_transaction',
  },
  async run(ctx, { bin }) {
    const { data } = await ctx.api.read('bins.list', {});
    const found = data.find(({ id }) => id === bin);
    if (found === undefined) throw noBin(`no BIN ${bin} among the ${data.length} of this account`);
    return found;
  },
  noun: 'BIN',
  columns: BIN_COLUMNS,
});

export const pickBin = command({
  path: 'bins pick',
  summary: 'Rank BINs for a job, best first, and say why',
  answers: { list: { ...BIN, why: tells.text('Reasons for its rank.') } },
  operation: 'bins.list',
  ends: { not_found: 'No BIN has all these features.' },
  flags: {
    need: option(takes.list(takes.choice(NEEDS, 'Feature.'), 'Features that it must have.'), '<a,b>'),
    for: option(takes.text('Purpose; BINs made for it come first.'), '<tag>'),
    minTransaction: option(takes.money('Single transaction that it must allow, USD.', { min: 1 })),
  },
  examples: { 'For advertising, with Apple Pay and 3DS': 'bins pick --for ads --need apple_pay,3ds' },
  async run(ctx, { need, for: purpose, minTransaction }) {
    const { data } = await ctx.api.read('bins.list', {});
    const ranked = rankBins(data, { needs: need ?? [], purpose, minTransaction });
    if (ranked.length === 0) throw noBin(`none of the ${data.length} BINs has all these features`);
    return ranked.map(({ bin, why }) => ({ ...bin, why }));
  },
  noun: 'BIN',
  columns: [
    ...BIN_COLUMNS.filter(({ field }) => field !== 'best_for'),
    { field: 'why', title: 'WHY', kind: 'text', priority: 1 },
  ],
});
