import { maybe, tells } from '../../cli/answer-fields.ts';
import { MAX_AGE, maxAge, OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { manyArguments, OURS, option } from '../../cli/parsing/flag.ts';
import { SEARCH_FLAGS, searched } from '../../cli/search.ts';
import { text } from '../../contract/field.ts';
import { TRANSACTION } from '../../contract/resources.ts';
import { TRANSACTION_COLUMNS } from './columns.ts';
import { refuseBackwards } from './range.ts';

/** Finds transactions by words in the copy of the account. */
export const searchTransactions = command({
  path: 'tx search',
  summary: 'Find transactions by words, over the whole past',
  answers: {
    list: TRANSACTION,
    page: { as_of: maybe(tells.time('The copy is of this instant of the service.')) },
  },
  about: [
    'Each word must begin a word of the merchant, or of label, last four digits or metadata of the card; accents and capitals do not count. The newest come first, 25 unless --limit or --all says otherwise.',
    'The mirror of the account is searched; a copy that is older than --max-age is brought up to date first.',
  ],
  operation: 'transactions.list',
  flags: {
    card: 'query.card_id',
    type: 'query.type',
    since: 'query.from',
    until: 'query.to',
    mcc: option(text({ doc: 'Only of this merchant category.', basis: OURS }), '<mcc>'),
    ...SEARCH_FLAGS,
    offline: OFFLINE,
    maxAge: MAX_AGE,
  },
  args: { words: manyArguments(text({ doc: 'Beginnings of words.', basis: OURS, maxLength: 200 })) },
  examples: [
    { does: 'Everything at one merchant', run: 'tx search acme --all' },
    {
      does: 'Large ones of this year, without asking the service',
      run: 'tx search acme --min 500 --since 2026-01-01 --offline',
    },
    { does: 'A part in the middle of a word', run: 'tx search cme --like' },
  ],
  async run(ctx, { words, card, type, since, until, mcc, min, max, label, like, all, limit, offline, maxAge: age }) {
    refuseBackwards({ since, until });
    const mirror = await ctx.mirror();
    const copy = offline ? await mirror.read() : await mirror.readFresh(maxAge(age));
    const query = { words, card_id: card, type, from: since, to: until, mcc, min, max, label, like };
    return searched(copy, copy => copy.transactions(query), { noun: 'transaction', all, limit });
  },
  show: listing => ({ listing, noun: 'transaction', columns: TRANSACTION_COLUMNS }),
});
