import { columnsOf } from '../../cli/columns.ts';
import { command } from '../../cli/command.ts';
import { OURS, option } from '../../cli/flag.ts';
import { wholeListing } from '../../cli/listing.ts';
import { money, text } from '../../contract/field.ts';
import { CHALLENGE } from '../../contract/resources.ts';
import { centsOf } from '../../money.ts';

const COLUMNS = columnsOf(CHALLENGE, {
  id: { priority: 2 },
  card_id: { title: 'CARD', priority: 4 },
  merchant: { priority: 2, shrink: true },
  amount: { priority: 1 },
  otp: { title: 'CODE', priority: 1 },
  status: { priority: 5 },
  expires_at: { title: 'EXPIRES', priority: 3 },
});

/** Lists open 3DS challenges with their one-time codes. */
export const listChallenges = command({
  path: '3ds list',
  summary: 'List open 3DS challenges with their one-time codes',
  operation: 'challenges.list',
  flags: {
    card: 'query.card_id',
    status: 'query.status',
    merchant: option(text({ doc: 'Only where the merchant contains this.', basis: OURS })),
    amount: option(money({ doc: 'Only of exactly this amount, USD.', basis: OURS, min: 1 })),
  },
  examples: [
    { does: 'All that are open', run: '3ds list' },
    { does: 'The codes of one card', run: '3ds list --card card_1 --json --fields otp,expires_at' },
  ],
  async run(ctx, { card, status, merchant, amount }) {
    const list = await ctx.read('challenges.list', { card_id: card, status });
    const has = (row: Readonly<Record<string, unknown>>) =>
      merchant === undefined ||
      String(row['merchant'] ?? '')
        .toLowerCase()
        .includes(merchant.toLowerCase());
    const costs = (row: Readonly<Record<string, unknown>>) =>
      amount === undefined || (typeof row['amount'] === 'number' && centsOf(row['amount']) === amount);
    return wholeListing(list, { noun: 'challenge', keep: [has, costs] });
  },
  show: listing => ({ listing, noun: 'challenge', columns: COLUMNS }),
});
