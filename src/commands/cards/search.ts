import { maybe, tells } from '../../cli/answer-fields.ts';
import { MAX_AGE, maxAge, OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { manyArguments, OURS } from '../../cli/parsing/flag.ts';
import { SEARCH_FLAGS, searched } from '../../cli/search.ts';
import { CARD } from '../../contract/card.ts';
import { text } from '../../contract/field.ts';
import { CARD_COLUMNS } from './columns.ts';

/** Finds cards by words in the copy of the account. */
export const searchCards = command({
  path: 'cards search',
  summary: 'Find cards by words of label, last four or metadata',
  answers: {
    list: CARD,
    page: { as_of: maybe(tells.time('The copy is of this instant of the service.')) },
  },
  about: [
    'Each word must begin a word of label, last four digits or metadata; accents and capitals do not count. --min and --max are about the balance. The newest come first, 25 unless --limit or --all says otherwise.',
    'The mirror of the account is searched; a copy that is older than --max-age is brought up to date first.',
  ],
  operation: 'cards.list',
  flags: {
    status: 'query.status',
    bin: 'query.bin_id',
    ...SEARCH_FLAGS,
    offline: OFFLINE,
    maxAge: MAX_AGE,
  },
  args: { words: manyArguments(text({ doc: 'Beginnings of words.', basis: OURS, maxLength: 200 })) },
  examples: [
    { does: 'By its label', run: 'cards search ads' },
    {
      does: 'Active ones with fifty dollars and more, as data',
      run: 'cards search ads --status active --min 50 --json',
    },
  ],
  async run(ctx, { words, status, bin, min, max, label, like, all, limit, offline, maxAge: age }) {
    const mirror = await ctx.mirror();
    const copy = offline ? await mirror.read() : await mirror.readFresh(maxAge(age));
    const query = { words, status, bin_id: bin, min, max, label, like };
    return searched(copy, copy => copy.cards(query), { noun: 'card', all, limit });
  },
  show: listing => ({ listing, noun: 'card', columns: CARD_COLUMNS }),
});
