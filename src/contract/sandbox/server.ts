/** A sandbox that serves other programs: that it is there, that it is ours, and its end. */
import { integer, must, text } from '../field.ts';
import { one, operation } from '../operation.ts';
import { change, described, ours, reading } from './basis.ts';

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
} as const;
