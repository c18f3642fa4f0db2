/** A program without types is told of an option that is none, in place of a sandbox other than it asked for. */
import { expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { checkOptions } from '../../src/sandbox/serving/library.ts';

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
  [{ clock: 'frozen' }, 'the option clock of startSandbox: must be an object'],
  [{ clock: {} }, 'the option clock of startSandbox: mode is missing'],
  [{ clock: { mode: 'scaled', rate: 60 } }, 'the option clock of startSandbox: mode must be real or frozen'],
  [{ clock: { mode: 'frozen' } }, 'the option clock of startSandbox: at is missing'],
  [{ clock: { mode: 'frozen', at: '2026-02-30T00:00:00Z' } }, 'at must be an ISO 8601 time'],
  [{ clock: { mode: 'real', at: '2026-11-20T14:00:00Z' } }, 'the option clock of startSandbox: at is not known here'],
  [{ data: 'demo', wallet: 5 }, 'the option wallet of startSandbox: for the data set empty; demo has its own'],
])('%j', (options, message) => {
  expect(() => checkOptions(options)).toThrow(message);
});

it('takes all there are, and what is undefined for left out', () => {
  for (const dialect of DIALECT_NAMES) checkOptions({ dialect });
  checkOptions({});
  checkOptions({ seed: undefined, wallet: undefined, data: 'demo', clock: undefined });
  checkOptions({ clock: { mode: 'frozen', at: '2026-11-20T14:00:00Z' }, wallet: 12.5 });
  checkOptions({
    ...{ store: '/tmp/store.db', listen: 'socket', port: 0, seed: 0, ids: 'counted', data: 'empty', wallet: 12.5 },
    ...{ clock: { mode: 'real' }, rateLimits: false, timers: 'on-request', deliveries: 'on-deliver' },
    ...{ allowRemoteWebhooks: true, webhookSecret: 'a secret of tests', onFault: () => undefined },
  });
});
