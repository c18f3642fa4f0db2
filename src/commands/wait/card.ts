import { CONDITION_VALUES, NEEDED_CONDITIONS } from '../../cli/condition.ts';
import { command } from '../../cli/parsing/command.ts';
import { CARD } from '../../contract/card.ts';
import { card } from '../cards/arguments.ts';
import { CARD_COLUMNS, cardPairs } from '../cards/columns.ts';
import { WAIT_TIMEOUT } from './flags.ts';
import { recordUntil } from './until.ts';

/** Waits until a card is as asked for. */
export const waitCard = command({
  path: 'wait card',
  summary: 'Wait until a card meets a condition',
  about: [
    'Asks at once and then at most once a second. If the condition is not met in time, that is exit 8 with the last value.',
    CONDITION_VALUES,
  ],
  operation: 'cards.get',
  ends: { wait_expired: 'It did not become so within --wait-timeout.' },
  args: { card },
  flags: {
    until: NEEDED_CONDITIONS,
    waitTimeout: WAIT_TIMEOUT,
  },
  examples: [
    { does: 'Until it may be used again', run: "wait card card_1 --until 'status=active'" },
    { does: 'Until little is left', run: "wait card card_1 --until 'balance<500' --wait-timeout 10m" },
  ],
  run: (ctx, { card: id, until, waitTimeout }) =>
    recordUntil(ctx, {
      name: id,
      until,
      waitTimeout,
      shape: CARD,
      read: signal => ctx.read('cards.get', { card_id: id }, { signal }),
      isFinal: ({ status }) => status === 'terminated',
    }),
  show: found => ({
    noun: 'card',
    columns: CARD_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: [['Id', found.id], ...cardPairs(found)] }],
  }),
});
