/** Dialects with other names for what the interface does not name, and other statuses for refusals. */
import type { Answer } from '../http/answer.ts';
import type { Dialect, Fields, Spoken } from './dialect.ts';
import { withBody } from './dialect.ts';

const isDone = ({ answer }: Spoken) => answer.status < 300;
const isFunding = ({ operation }: Spoken) => operation === 'cards.fund' || operation === 'cards.withdraw';

export const NAMES_STRIPE: Dialect = {
  changes: 'details as number and cvc, fund as {card, wallet}, events as {event, data: {object}}',
  speak(spoken) {
    if (!isDone(spoken)) return spoken.answer;
    const body = spoken.body as Fields;
    if (spoken.operation === 'cards.details') {
      const { card_id: id, pan: number, cvv: cvc, ...expiry } = body;
      return withBody(spoken.answer, { id, number, cvc, ...expiry });
    }
    if (!isFunding(spoken)) return spoken.answer;
    const { card_id: id, card_balance: balance, wallet_balance: wallet } = body;
    return withBody(spoken.answer, { card: { id, balance }, wallet: { balance: wallet, currency: 'USD' } });
  },
  payload: ({ id, type, created_at: created, data }) => ({ id, event: type, created, data: { object: data } }),
};

export const NAMES_INCREASE: Dialect = {
  changes: 'details as primary_account_number and verification_code; 409 for a reused key',
  speak(spoken) {
    const { answer, operation } = spoken;
    const body = spoken.body as Fields;
    if (body?.['error'] === 'idempotency_key_reused') return withBody(answer, { ...body, code: 409 }, 409);
    if (operation !== 'cards.details' || !isDone(spoken)) return answer;
    const { card_id, pan, cvv, exp_month, exp_year } = body;
    return withBody(answer, {
      card_id,
      primary_account_number: pan,
      verification_code: cvv,
      expiration_month: exp_month,
      expiration_year: exp_year,
    });
  },
};

const STATE_CONFLICTS: readonly unknown[] = [
  'card_already_frozen',
  'card_not_frozen',
  'card_terminated',
  'card_expired',
];

/** The error of the interface itself, an empty wallet, keeps its status: it is stated. */
export const STRICT_422: Dialect = {
  changes: 'validation and state conflicts are 422, with errors[]',
  speak({ answer, body }) {
    if (answer.status < 400) return answer;
    const said = body as Fields;
    const error = said['error'];
    const isValidation = answer.status === 400 && error === 'invalid_request';
    if (!isValidation && !STATE_CONFLICTS.includes(error)) return answer;
    const message = String(said['message']);
    const field = /^(\w+):/.exec(message)?.[1] ?? null;
    return withBody(
      answer,
      { ...said, error: isValidation ? 'validation_error' : error, code: 422, errors: [{ field, message }] },
      422,
    );
  },
};

/** What an action leads to is there already. */
const ALREADY: Readonly<Record<string, string>> = {
  'cards.freeze': 'card_already_frozen',
  'cards.unfreeze': 'card_not_frozen',
  'cards.terminate': 'card_terminated',
};

export const NOOP_200: Dialect = {
  changes: 'freeze, unfreeze and terminate once more are 200',
  speak({ operation, answer, body, params, readCard }): Answer | Promise<Answer> {
    const isAlready = answer.status === 409 && (body as Fields)['error'] === ALREADY[operation];
    return isAlready ? readCard(String(params['card_id'])) : answer;
  },
};
