/** A sandbox that serves other programs: that it is there, that it is ours, and its end. */
import { choice, integer, must, sealed, text } from '../field.ts';
import { one, operation } from '../operation.ts';
import { change, described, ours, reading } from './basis.ts';
import { DIALECT_NAMES } from './faults.ts';

export const SERVER_OPERATIONS = {
  health: operation({
    ...reading,
    summary: 'Tell that the sandbox answers, and prove that it is the one that holds the admin token',
    path: '/health',
    credential: 'none',
    query: { nonce: text({ ...described('Random text of the asker, proved over.'), maxLength: 128 }) },
    returns: one(
      {
        status: must(text(described('ok: the store answers too.'))),
        version: must(text(described('Version of cardwright that serves it.'))),
        instance: must(text(described('Which store it is.'))),
        proof: text(described('HMAC-SHA256 of nonce and port under the admin token, lowercase hex.')),
      },
      ours,
    ),
  }),
  stop: operation({
    ...change,
    summary: 'End a sandbox that was started for other programs, once running requests are finished',
    path: '/stop',
    returns: one({ pid: must(integer(described('Process that ends.'))) }, ours),
  }),
  'accounts.open': operation({
    ...change,
    summary: 'Open an account of a server of many accounts; it is made on first use',
    path: '/accounts',
    repeat: 'freely',
    body: {
      name: must(text({ ...described('Its name: lower-case letters, digits and -.'), minLength: 1, maxLength: 32 })),
      data: choice(['empty', 'demo'], { ...described('What a new one holds at first.'), defaults: 'demo' }),
      seed: integer({ ...described('Seed of a new one.'), min: 0 }),
      dialect: choice(DIALECT_NAMES, described('How it speaks from now on, until the server ends.')),
    },
    returns: one(
      {
        name: must(text(described('Its name.'))),
        api_key: must(sealed(described('Key for the service, the same each time.'))),
        admin_token: must(sealed(described('Token for its control surface, the same each time.'))),
      },
      ours,
    ),
  }),
} as const;
