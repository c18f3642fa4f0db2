/** A program without types is told of an option that is none, in place of a sandbox other than it asked for. */
import { expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox-faults.ts';
import { checkOptions } from '../../src/sandbox/library-options.ts';

it.each<[object, string]>([
  [{ rateLimit: false }, 'startSandbox has no option "rateLimit"; there are store, listen, '],
  [{ data: 'load' }, 'the option data of startSandbox: must be empty or demo'],
  [{ ids: 'x' }, 'the option ids of startSandbox: must be derived or counted'],
  [{ dialect: 'nope' }, 'the option dialect of startSandbox: must be default, minimal'],
  [{ listen: 'udp' }, 'the option listen of startSandbox: must be tcp or socket'],
  [{ seed: -1 }, 'the option seed of startSandbox: -1 is outside the limit: at least 0'],
  [{ seed: 1.5 }, 'the option seed of startSandbox: must be a whole number'],
  [{ port: 70_000 }, 'the option port of startSandbox: 70000 is outside the limit'],
  [{ wallet: -5 }, 'the option wallet of startSandbox: -$5.00 is outside the limit'],
  [{ wallet: 1.001 }, 'the option wallet of startSandbox: must be an amount with at most two decimals'],
  [{ rateLimits: 'no' }, 'the option rateLimits of startSandbox: must be true or false'],
  [{ timers: true }, 'the option timers of startSandbox: must be text'],
])('%j', (options, message) => {
  expect(() => checkOptions(options)).toThrow(message);
});

it('takes all there are, and what is undefined for left out', () => {
  for (const dialect of DIALECT_NAMES) checkOptions({ dialect });
  checkOptions({});
  checkOptions({ seed: undefined, wallet: undefined });
  checkOptions({
    ...{ store: '/tmp/store.db', listen: 'socket', port: 0, seed: 0, ids: 'counted', data: 'demo', wallet: 12.5 },
    ...{ clock: { mode: 'real' }, rateLimits: false, timers: 'on-request', deliveries: 'on-deliver' },
    ...{ allowRemoteWebhooks: true, webhookSecret: 'secret', onFault: () => undefined },
  });
});
