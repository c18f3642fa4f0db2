import { CONDITION_VALUES, NEEDED_CONDITIONS } from '../../cli/condition.ts';
import { command } from '../../cli/parsing/command.ts';
import { WALLET } from '../../contract/resources.ts';
import { showsWallet } from '../wallet/wallet.ts';
import { WAIT_TIMEOUT } from './flags.ts';
import { recordUntil } from './until.ts';

/** Waits until the wallet is as asked for. */
export const waitWallet = command({
  path: 'wait wallet',
  summary: 'Wait until the wallet meets a condition',
  about: [
    'Asks at once and then at most once a second. If the condition is not met in time, that is exit 8 with the last value.',
    CONDITION_VALUES,
  ],
  operation: 'wallet.get',
  ends: { wait_expired: 'It did not become so within --wait-timeout.' },
  flags: {
    until: NEEDED_CONDITIONS,
    waitTimeout: WAIT_TIMEOUT,
  },
  examples: [
    { does: 'Until a deposit has arrived', run: "wait wallet --until 'balance>=500' --wait-timeout 1h" },
    { does: 'Nothing is on its way', run: "wait wallet --until 'pending_deposits=0'" },
  ],
  run: (ctx, { until, waitTimeout }) =>
    recordUntil(ctx, {
      name: 'the wallet',
      until,
      waitTimeout,
      shape: WALLET,
      read: signal => ctx.read('wallet.get', {}, { signal }),
    }),
  show: showsWallet,
});
