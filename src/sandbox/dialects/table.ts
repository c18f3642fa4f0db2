/** Every dialect by its name (docs/design/contract-and-assumptions.md, section 14). */
import type { DialectName } from '../../contract/sandbox/faults.ts';
import { wireChallenge } from '../account/ledger.ts';
import { type ChallengeRow, everyChallenge } from '../store/account.ts';
import type { Dialect } from './dialect.ts';
import { ENVELOPE_ITEMS, ENVELOPE_MORE, ENVELOPE_WRAPPED, MINIMAL } from './envelopes.ts';
import { LEDGER_BALANCE } from './ledger-balance.ts';
import { NAMES_INCREASE, NAMES_STRIPE, NOOP_200, STRICT_422 } from './names.ts';
import { AUTH_SINGLE } from './single-record.ts';
import { STRICT_FREEZE } from './strict-freeze.ts';

/** A challenge nobody cancelled by a word of its own shows what the merchant sees: it failed. */
const finished = ({ status, expires_at }: ChallengeRow, now: number): string => {
  if (status === 'cancelled') return 'failed';
  return status === 'pending' && now >= expires_at ? 'expired' : status;
};

const TDS_TERMINAL: Dialect = {
  changes: 'finished challenges stay listed as approved, failed or expired',
  handlers: {
    async 'challenges.list'({ sql, account, now, input: { card_id, status } }) {
      const rows = await everyChallenge(sql, account);
      const all = rows.map(row => ({ ...wireChallenge(row), status: finished(row, now) }));
      const fits = (row: (typeof all)[number]) =>
        (card_id === undefined || row.card_id === card_id) && (status === undefined || row.status === status);
      return { data: all.filter(fits), page: {} };
    },
  },
};

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  default: { changes: 'nothing' },
  minimal: MINIMAL,
  'envelope-items': ENVELOPE_ITEMS,
  'envelope-more': ENVELOPE_MORE,
  'envelope-wrapped': ENVELOPE_WRAPPED,
  'names-stripe': NAMES_STRIPE,
  'names-increase': NAMES_INCREASE,
  'strict-422': STRICT_422,
  'noop-200': NOOP_200,
  'tds-terminal': TDS_TERMINAL,
  'auth-single': AUTH_SINGLE,
  'ledger-balance': LEDGER_BALANCE,
  'strict-freeze': STRICT_FREEZE,
  'sig-prefixed': {
    changes: 'signatures as X-Hub-Signature-256: sha256=<hex>',
    signature: { header: 'X-Hub-Signature-256', prefix: 'sha256=' },
  },
  'keys-ignored': { changes: 'X-Idempotency-Key is dropped at the edge', ignoresKeys: true },
  'paths-other': {
    changes: 'DELETE to terminate, /suspend, /activate, /topup, /unload, /balance: reached only with overrides',
    paths: {
      'cards.terminate': { method: 'DELETE', path: '/cards/{card_id}' },
      'cards.freeze': { path: '/cards/{card_id}/suspend' },
      'cards.unfreeze': { path: '/cards/{card_id}/activate' },
      'cards.fund': { path: '/cards/{card_id}/topup' },
      'cards.withdraw': { path: '/cards/{card_id}/unload' },
      'wallet.get': { path: '/balance' },
    },
  },
};
