import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { CHALLENGE_COLUMNS, MATCH_FLAGS, matching } from './match.ts';

/** Lists open 3DS challenges with their one-time codes. */
export const listChallenges = command({
  path: '3ds list',
  summary: 'List open 3DS challenges with their one-time codes',
  operation: 'challenges.list',
  flags: { card: 'query.card_id', status: 'query.status', ...MATCH_FLAGS },
  examples: [
    { does: 'All that are open', run: '3ds list' },
    { does: 'The codes of one card', run: '3ds list --card card_1 --json --fields otp,expires_at' },
  ],
  async run(ctx, { card, status, merchant, amount }) {
    const list = await ctx.read('challenges.list', { card_id: card, status });
    ctx.maskInLog(list.data.map(({ otp }) => otp));
    return wholeListing(list, { noun: 'challenge', keep: [matching({ merchant, amount })] });
  },
  show: listing => ({ listing, noun: 'challenge', columns: CHALLENGE_COLUMNS }),
});
