/** What a probe of the keys learns where its second answer fails, and what that costs when an answer is lost later. */
import { type Answered, type BookOptions, refusal, type WriteOperation } from '../support/card-books.ts';
import type { Play } from '../support/hostile-service.ts';
import { type Arena, arena, TEST_KEY } from './arena.ts';

const SENT_ONCE: Play = { effect: 'done', answer: 'honest' };
const throttled = { ...refusal(429, 'rate_limited'), headers: { 'retry-after': '1' } };

/** What the repeated request meets; it is not carried out. */
export const SECOND: Readonly<Record<string, readonly (Answered | { lost: 'before-headers' })[]>> = {
  'one 429': [throttled],
  'nothing but 429': [throttled, throttled, throttled, throttled, throttled],
  '503': [refusal(503, 'service_unavailable')],
  '500 three times': [refusal(500, 'internal_error'), refusal(500, 'internal_error'), refusal(500, 'internal_error')],
  'a reset': [{ lost: 'before-headers' }],
  '409 duplicate_request': [refusal(409, 'duplicate_request')],
  '400': [refusal(400, 'invalid_request')],
  '422': [refusal(422, 'idempotency_key_reused')],
  '200 {}': [{ status: 200, body: {} }],
  '200 status failed': [{ status: 200, body: { status: 'failed' } }],
};
/** Accounts that carry out every request anew, or answer a repeated one with a no. */
const ACCOUNTS: Readonly<Record<string, BookOptions>> = {
  'keys ignored': { keys: 'ignored' },
  'keys ignored, lists without metadata': { keys: 'ignored', metadata: 'not-in-lists' },
  'keys ignored, no metadata': { keys: 'ignored', metadata: 'nowhere' },
  'keys ignored, bare lists': { keys: 'ignored', totals: false },
  'keys forgotten within a second': { keys: { forgottenAfterMs: 1_000 } },
  'repeated keys are a conflict': { keys: { repeated: refusal(409, 'duplicate_request') } },
};
const MONEY = ['create', 'fund', 'withdraw'] as const satisfies readonly WriteOperation[];
const LINES = {
  create: 'cards create --bin bin_1 --amount 25',
  fund: 'cards fund card_1 --amount 25',
  withdraw: 'cards withdraw card_1 --amount 25',
} as const;

/** Probes, then loses the answer of each operation once and runs `ops resume`; resolves to what happened too often. */
export async function afterProbe(here: Arena, account: BookOptions, second: readonly Play['answer'][]) {
  await using place = await here.enter('unknown', 'test', account);
  if (second.length > 0) {
    const plays = [SENT_ONCE, ...second.map(answer => ({ effect: 'none', answer }) as const)];
    here.service.script(...MONEY.map(operation => ({ operation, plays })));
  }
  const probe = await place.run('contract check --probe-idempotency');
  const learned = [...probe.out.matchAll(/"result": "(honoured|ignored|unknown)"/g)].map(([, result]) => result);
  // Nothing of the probe is in the way of what follows, its cards and its script neither.
  here.service.reset({ [TEST_KEY]: { ...account, cards: [{}, {}] } });
  const twice: string[] = [];
  for (const operation of MONEY) {
    const lost = { effect: 'done', answer: { lost: 'before-headers' } } as const;
    here.service.script({ operation, plays: [lost, lost] });
    const { code, err } = await place.run(LINES[operation]);
    const op = /"op":"(op_\w+)"/.exec(err)?.[1];
    if (op !== undefined) await place.run(`ops resume ${op}`);
    const { effects } = here.service.books(TEST_KEY);
    const count = effects.filter(each => each.operation === operation).length;
    if (count !== 1) twice.push(`${operation}: exit ${code}, ${count} effects`);
  }
  return { learned, twice };
}

/** What is wrongly thought or done at accounts that repeat what they are told again, where these second answers are met: at the first of them, and at each of the others. */
export async function wrongBehindProbes(
  glitchesFirst: readonly string[],
  others: readonly string[],
): Promise<readonly string[]> {
  await using here = await arena();
  const found: string[] = [];
  for (const [name, account] of Object.entries(ACCOUNTS)) {
    for (const glitch of name === 'keys ignored' ? glitchesFirst : others) {
      const { learned, twice } = await afterProbe(here, account, SECOND[glitch] ?? []);
      if (learned.includes('honoured')) found.push(`${name}, second answer ${glitch}: learned ${learned.join()}`);
      found.push(...twice.map(said => `${name}, second answer ${glitch}: ${said}`));
    }
  }
  return found;
}
