import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { choice, list, money, text } from '../../contract/field.ts';
import { BIN } from '../../contract/resources.ts';
import { CliError } from '../../core/errors.ts';
import { BIN_COLUMNS } from './columns.ts';
import { NEEDS, rankBins } from './rank.ts';

/** Ranks the BINs for a job and says why. */
export const pickBin = command({
  path: 'bins pick',
  summary: 'Rank BINs for a job, best first, and say why',
  answers: { list: { ...BIN, why: tells.text('Reasons for its rank.') } },
  operation: 'bins.list',
  ends: { not_found: 'No BIN has all these features.' },
  flags: {
    need: option(
      list(choice(NEEDS, { doc: 'Feature.', basis: OURS }), { doc: 'Features that it must have.', basis: OURS }),
      '<a,b>',
    ),
    for: option(text({ doc: 'Purpose; BINs made for it come first.', basis: OURS }), '<tag>'),
    minTransaction: option(money({ doc: 'Single transaction that it must allow, USD.', basis: OURS, min: 1 })),
  },
  examples: [
    { does: 'For advertising, with Apple Pay and 3DS', run: 'bins pick --for ads --need apple_pay,3ds' },
    { does: 'Ids alone, the best one first', run: 'bins pick -o id' },
  ],
  async run(ctx, { need, for: purpose, minTransaction }) {
    const { data } = await ctx.read('bins.list', {});
    const ranked = rankBins(data, { needs: need ?? [], purpose, minTransaction });
    if (ranked.length === 0) {
      throw new CliError('not_found', {
        message: `none of the ${data.length} BINs has all these features`,
        hint: 'cardwright bins list',
        operation: 'bins.list',
      });
    }
    return ranked.map(({ bin, why }) => ({ ...bin, why }));
  },
  show(rows) {
    async function* batches() {
      yield rows;
    }
    return {
      listing: {
        batches: batches(),
        page: () => ({ total: rows.length }),
        footer: count => `${count} BIN${count === 1 ? '' : 's'}, best first.`,
      },
      noun: 'BIN',
      columns: [
        ...BIN_COLUMNS.filter(({ field }) => field !== 'best_for'),
        { field: 'why', title: 'WHY', kind: 'text', priority: 1 },
      ],
    };
  },
});
