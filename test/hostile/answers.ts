/**
 * Every way a hostile service may answer a write: what it does, what it says, and on which operations that can be. The
 * names are those of the lists of red cells.
 */
import { errorBody, refusal, type View, type WriteOperation } from '../support/card-books.ts';
import type { LostAt, Play } from '../support/hostile-service.ts';
import type { Says } from './model.ts';

export interface AnswerClass {
  readonly name: string;
  readonly play: Play;
  readonly says: Says;
  /** The operations it is played for; all when left out. */
  readonly only?: readonly WriteOperation[];
}

const MONEY: readonly WriteOperation[] = ['fund', 'withdraw'];
const STATES: readonly WriteOperation[] = ['terminate', 'freeze', 'unfreeze'];
const BOTH = ['done', 'none'] as const;

type Body = unknown | ((view: View) => unknown);

/** What is said, whatever is done. */
export interface Spoken {
  readonly name: string;
  readonly says: Says;
  readonly answer: Play['answer'];
  readonly effects?: readonly Play['effect'][];
  readonly only?: readonly WriteOperation[];
}

const json = (status: number, body: Body) => (view: View) => ({
  status,
  body: typeof body === 'function' ? (body as (view: View) => unknown)(view) : body,
});

const LOST: readonly Spoken[] = (['before-headers', 'after-headers', 'in-body'] as const satisfies LostAt[]).map(
  at => ({
    name: `lost ${at}`,
    says: 'lost',
    answer: { lost: at },
    effects: at === 'before-headers' ? ['done', 'none', 'later'] : BOTH,
  }),
);

const SAYS_NO: readonly Spoken[] = (
  [
    ['status failed', { status: 'failed' }],
    ['state declined', { state: 'declined' }],
    ['errors', { errors: [{ message: 'declined' }] }],
    ['ok false', { ok: false }],
    ['success false', { success: false, message: 'no' }],
    ['error word', { error: 'declined' }],
    ['error body', errorBody(400, 'declined')],
    ['data declined', { data: { status: 'declined' } }],
    ['result rejected', { result: { status: 'rejected' } }],
    ['result word', { result: 'FAILED' }],
    ['honest and errors', ({ honest }: View) => ({ ...(honest.body as object), errors: ['declined'] })],
  ] as const satisfies readonly (readonly [string, Body])[]
).map(([name, body]) => ({ name: `200 ${name}`, says: 'no-in-2xx', answer: json(200, body) }));

const MUTE: readonly Spoken[] = [
  { name: '200 {}', says: 'mute', answer: { status: 200, body: {} } },
  { name: '200 []', says: 'mute', answer: { status: 200, body: [] } },
  { name: '200 null', says: 'mute', answer: { status: 200, body: null } },
  { name: '200 empty', says: 'mute', answer: { status: 200 } },
  { name: '204', says: 'mute', answer: { status: 204 } },
  { name: '200 ok true', says: 'mute', answer: { status: 200, body: { ok: true } } },
  {
    name: '200 html',
    says: 'mute',
    answer: { status: 200, text: '<html><title>Sign in</title></html>', type: 'text/html' },
  },
  { name: '200 text', says: 'mute', answer: { status: 200, text: 'OK', type: 'text/plain' } },
];

/** A card as it looked if the request had been carried out, whatever the books say. */
function cardAsked({ card, old, asked }: View, more: object): object {
  return {
    ...(card ?? old),
    ...(asked['amount'] === undefined ? {} : { balance: asked['amount'] }),
    ...(asked['label'] === undefined ? {} : { label: asked['label'] }),
    metadata: asked['metadata'] ?? {},
    ...more,
  };
}

const OTHER_CARDS: readonly Spoken[] = (
  [
    ['old card', ({ old }: View) => old],
    ['old card with marker', ({ old, asked }: View) => ({ ...old, metadata: asked['metadata'] })],
    [
      'old card with all that was asked',
      ({ old, asked }: View) => cardAsked({ card: old, asked } as View, { bin_id: asked['bin_id'] }),
    ],
    [
      'old card that says it is new',
      ({ old, asked, at }: View) =>
        cardAsked({ card: old, asked } as View, { bin_id: asked['bin_id'], created_at: new Date(at).toISOString() }),
    ],
    ['other amount', (view: View) => cardAsked(view, { balance: 500 })],
    ['other bin', (view: View) => cardAsked(view, { bin_id: 'bin_9' })],
    ['other label', (view: View) => cardAsked(view, { label: 'of somebody else' })],
    ['terminated card', (view: View) => cardAsked(view, { status: 'terminated', balance: 0 })],
    ['other marker', (view: View) => cardAsked(view, { metadata: { cardwright: 'op_0000000000000000000000zzzz.1' } })],
  ] as const
).map(([name, body]) => ({ name: `201 ${name}`, says: 'other', answer: json(201, body), only: ['create'] }));

const OTHER_BALANCES: readonly Spoken[] = (
  [
    [
      'other card',
      ({ old, asked, books }: View) => ({
        card_id: old?.['id'],
        amount: asked['amount'],
        card_balance: old?.['balance'],
        wallet_balance: books.walletCents / 100,
      }),
      BOTH,
    ],
    ['other amount', ({ card, books }: View) => funding(card, 1, books.walletCents), BOTH],
    [
      'unchanged balances',
      ({ card, asked, books }: View) => funding(card, Number(asked['amount']), books.walletCents),
      ['none'],
    ],
    [
      'forged balances',
      ({ card, asked, books, operation }: View) => {
        const amount = Number(asked['amount']);
        const onto = operation === 'fund' ? amount : -amount;
        return {
          ...funding(card, amount, books.walletCents - 100 * onto),
          card_balance: Number(card?.['balance']) + onto,
        };
      },
      ['none'],
    ],
  ] as const
).map(([name, body, effects]) => ({
  name: `200 ${name}`,
  says: 'other',
  answer: json(200, body),
  only: MONEY,
  effects,
}));

function funding(card: View['card'], amount: number, walletCents: number) {
  return { card_id: card?.['id'], amount, card_balance: card?.['balance'], wallet_balance: walletCents / 100 };
}

const OTHER_STATES: readonly Spoken[] = [
  {
    name: '200 state as before',
    says: 'other',
    answer: json(200, ({ card }: View) => ({ ...card, status: card?.['status'] === 'active' ? 'active' : 'frozen' })),
    only: STATES,
    effects: ['none'],
  },
  {
    name: '200 forged state',
    says: 'other',
    answer: view => ({ status: 200, body: { ...view.card, status: wantedStatus(view) } }),
    only: STATES,
    effects: ['none'],
  },
  {
    name: '200 other card in that state',
    says: 'other',
    answer: view => ({ status: 200, body: { ...view.old, status: wantedStatus(view) } }),
    only: STATES,
  },
];

function wantedStatus({ operation }: View): string {
  return { terminate: 'terminated', unfreeze: 'active' }[operation as string] ?? 'frozen';
}

const ACCEPTED: readonly Spoken[] = [
  { name: '202 empty', says: 'accepted', answer: { status: 202 }, effects: ['done', 'none', 'later'] },
  { name: '202 pending', says: 'accepted', answer: { status: 202, body: { status: 'pending' } }, effects: BOTH },
  {
    name: '200 pending',
    says: 'accepted',
    answer: { status: 200, body: { status: 'pending' } },
    effects: ['done', 'none', 'later'],
  },
  { name: '202 honest', says: 'accepted', answer: ({ honest }) => ({ ...honest, status: 202 }), effects: ['done'] },
];

const ELSEWHERE: readonly Spoken[] = [302, 303, 307, 308].map(status => ({
  name: `${status}`,
  says: 'broken',
  answer: { status, headers: { location: 'https://elsewhere.example/v1/cards' } },
}));

const BROKEN: readonly Spoken[] = [
  { name: '500', says: 'broken', answer: refusal(500, 'internal_error') },
  { name: '500 empty', says: 'broken', answer: { status: 500 } },
  { name: '501', says: 'broken', answer: refusal(501, 'not_implemented') },
  { name: '502 html', says: 'broken', answer: { status: 502, text: '<html></html>', type: 'text/html' } },
  { name: '503', says: 'broken', answer: refusal(503, 'service_unavailable') },
  { name: '504', says: 'broken', answer: { status: 504, text: '', type: 'text/html' } },
  { name: '408', says: 'broken', answer: refusal(408, 'timeout') },
  { name: '499', says: 'broken', answer: { status: 499 } },
  { name: '400 html', says: 'broken', answer: { status: 400, text: '<html></html>', type: 'text/html' } },
];

/** "Later": whoever counts the answer, behind the handler or on the way, says so of what is done already, too. */
const LATER: readonly Spoken[] = (
  [
    ['429', limited(429, '1'), [...BOTH, { afterMs: 1_500 }]],
    ['429 in 20 s', limited(429, '20'), BOTH],
    ['429 in an hour', limited(429, '3600'), [...BOTH, { afterMs: 1_500 }]],
    ['429 html', { status: 429, text: '<html></html>', type: 'text/html' }, BOTH],
    ['503 rate_limited', limited(503, '1'), BOTH],
  ] as const
).map(([name, answer, effects]) => ({ name, says: 'throttled', answer, effects }));

function limited(status: number, seconds: string) {
  return { ...refusal(status, 'rate_limited'), headers: { 'retry-after': seconds } };
}

/** Definite, in the words of the interface; nothing happened. */
const NO: readonly Spoken[] = [
  { name: '400 insufficient_funds', says: 'no', answer: refusal(400, 'insufficient_funds'), only: ['create', 'fund'] },
  { name: '402 insufficient_funds', says: 'no', answer: refusal(402, 'insufficient_funds'), only: ['create', 'fund'] },
  {
    name: '400 insufficient_card_funds',
    says: 'no',
    answer: refusal(400, 'insufficient_card_funds'),
    only: ['withdraw'],
  },
  { name: '400 invalid_request', says: 'no', answer: refusal(400, 'invalid_request') },
  { name: '401', says: 'no', answer: refusal(401, 'unauthorized') },
  { name: '403', says: 'no', answer: refusal(403, 'forbidden') },
  { name: '404 not_found', says: 'no', answer: refusal(404, 'not_found') },
  { name: '405', says: 'no', answer: refusal(405, 'method_not_allowed') },
  { name: '413', says: 'no', answer: refusal(413, 'payload_too_large') },
].map(each => ({ ...each, effects: ['none'] }) as Spoken);

/** A word that says the card is in the wanted state already, where it is not. */
const ALREADY: readonly Spoken[] = (
  [
    ['card_terminated', 'terminate'],
    ['card_already_frozen', 'freeze'],
    ['card_not_frozen', 'unfreeze'],
  ] as const
).map(([word, operation]) => ({
  name: `409 ${word}`,
  says: 'odd-no',
  answer: refusal(409, word),
  only: [operation],
}));

/** A no in words the interface does not know, or about the key: it may follow the deed. */
const ODD: readonly Spoken[] = [
  ...([400, 409, 422] as const).map(status => ({
    name: `${status} odd word`,
    answer: refusal(status, 'not_this_way'),
  })),
  { name: '409 duplicate_request', answer: refusal(409, 'duplicate_request') },
  { name: '400 duplicate_request', answer: refusal(400, 'duplicate_request') },
  { name: '409 idempotency_key_reused', answer: refusal(409, 'idempotency_key_reused') },
  { name: '422 idempotency_key_reused', answer: refusal(422, 'idempotency_key_reused') },
  { name: '409 idempotency_in_progress', answer: refusal(409, 'idempotency_in_progress') },
].map(each => ({ ...each, says: 'odd-no' }) as Spoken);

/** Words of the interface and of the contract that this operation has no reason to give. */
const FOREIGN: readonly Spoken[] = (
  [
    [409, 'card_terminated', ['create']],
    [409, 'card_expired', ['create', 'withdraw', 'terminate']],
    [404, 'bin_not_found', ['fund', 'withdraw', ...STATES]],
    [400, 'insufficient_card_funds', ['create', 'fund', ...STATES]],
    [400, 'insufficient_funds', STATES],
    [409, 'card_not_frozen', ['create', 'fund', 'terminate', 'freeze']],
    [409, 'card_already_frozen', ['withdraw', 'unfreeze']],
  ] as const
).map(([status, word, only]) => ({
  name: `${status} foreign ${word}`,
  says: 'odd-no',
  answer: refusal(status, word),
  only,
}));

/** A no that does not come from the service: something on the way says it, perhaps of an answer that it did not like. */
const GATEWAY: readonly Spoken[] = [
  ...[401, 403, 404, 405, 409, 413].map(status => ({
    name: `${status} html`,
    answer: { status, text: '<html><title>Blocked</title></html>', type: 'text/html' },
  })),
  { name: '403 without a word', answer: { status: 403, body: { message: 'Forbidden' } } },
  { name: '404 empty', answer: { status: 404 } },
  {
    name: '400 insufficient_funds as html',
    answer: { status: 400, text: JSON.stringify(errorBody(400, 'insufficient_funds')), type: 'text/html' },
    only: ['create', 'fund'],
  },
].map(each => ({ ...each, says: 'odd-no' }) as Spoken);

/** What a service says of a resource that is gone, after it made it so. */
const GONE: readonly Spoken[] = [404, 410].map(status => ({
  name: `${status} odd word`,
  says: 'odd-no',
  answer: refusal(status, 'no_such_thing'),
  only: STATES,
}));

const HONEST: Spoken = { name: 'honest', says: 'shown', answer: 'honest', effects: ['done'] };

/** The plain good service first. */
export const SPOKEN: readonly Spoken[] = [
  HONEST,
  ...LOST,
  ...SAYS_NO,
  ...MUTE,
  ...OTHER_CARDS,
  ...OTHER_BALANCES,
  ...OTHER_STATES,
  ...ACCEPTED,
  ...ELSEWHERE,
  ...BROKEN,
  ...LATER,
  ...NO,
  ...ALREADY,
  ...ODD,
  ...FOREIGN,
  ...GATEWAY,
  ...GONE,
];

/** `class effect` for a name. */
export const ANSWERS: readonly AnswerClass[] = SPOKEN.flatMap(({ name, says, answer, effects = BOTH, only }) =>
  effects.map(effect => ({
    name: `${name}, ${typeof effect === 'object' ? `done ${effect.afterMs} ms later` : effect}`,
    says,
    play: { effect, answer },
    ...(only === undefined ? {} : { only }),
  })),
);

/** The answers that can be given to an operation. */
export function answersTo(operation: WriteOperation): readonly AnswerClass[] {
  return ANSWERS.filter(({ only }) => only?.includes(operation) ?? true);
}

export function answerNamed(name: string): AnswerClass {
  const found = ANSWERS.find(each => each.name === name);
  if (found === undefined) throw new Error(`no class of answers is named ${JSON.stringify(name)}`);
  return found;
}
