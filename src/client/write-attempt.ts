/** What one sending of a write proves, for the one place that decides what to do next (docs/design/reliability.md, section 1). */
import { balancesIn, type Evidence } from '../contract/evidence.ts';
import type { Attempt } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import type { RequestFacts } from './answer.ts';
import { classifyUnusable } from './classify.ts';
import { errorOf } from './error-messages.ts';
import type { Interpretation } from './interpretation.ts';

/** Statuses with which a word that the contract does not know is a refusal all the same. */
const REFUSING: readonly number[] = [400, 401, 403, 404, 422];

/** Of the verdict about one attempt: its class, and what the answer showed. */
export function attemptOf(verdict: Interpretation, asked: RequestFacts): Attempt {
  const { status, requestId } = verdict;
  const about = { status, requestId, evidence: asked.evidence };
  switch (verdict.class) {
    case 'done':
      return { ...about, class: 'done', ...shownBy(verdict.decoded.result, asked, verdict.evidence) };
    case 'unverified': {
      const { error, doubt, partial, evidence } = verdict;
      const pending = doubt === 'pending' ? { pending: true as const } : {};
      return { ...about, class: 'ambiguous', error, ...pending, ...shownBy(partial, asked, evidence) };
    }
    case 'not_sent':
      return { class: 'not_sent', error: verdict.error };
    case 'throttled': {
      const { error, refusal } = verdict;
      return { ...about, class: 'throttled', error, refusal, retryAfterMs: error.facts.retryAfterMs };
    }
    case 'refused':
      return { ...about, ...refused(verdict, asked) };
    case 'in_progress':
    case 'ambiguous': {
      const { error, refusal } = verdict;
      const running = verdict.class === 'in_progress' ? { keyInProgress: true as const } : {};
      return { ...about, class: 'ambiguous', error, refusal, retryAfterMs: error.facts.retryAfterMs, ...running };
    }
    default:
      throw new CliError('internal', { ...verdict.error.facts, message: 'a read was sent as a write' });
  }
}

function refused(verdict: Extract<Interpretation, { again: boolean }>, asked: RequestFacts): Attempt {
  const { error, refusal, rule, status = 0, said } = verdict;
  if (rule === undefined || rule.weight === 'definite') return { class: 'refused', error, refusal };
  if (rule.weight === 'plausible' && REFUSING.includes(status)) {
    return { class: 'refused', plausible: true, error, refusal };
  }
  const why = `${said}; ${rule.because ?? 'the contract does not know this word'}`;
  const { service, idempotencyKey } = error.facts;
  const unknown = errorOf(classifyUnusable(asked.target.row, false), {
    ...asked,
    status,
    why,
    service,
    idempotencyKey,
  });
  return { class: 'ambiguous', error: unknown, refusal };
}

/** The members of an answer by which it can be looked for. */
function shownBy(result: unknown, { target }: RequestFacts, evidence: Evidence | undefined): Partial<Attempt> {
  const members: Readonly<Record<string, unknown>> = isObject(result) ? result : {};
  const { id, card_balance: card, wallet_balance: wallet } = members;
  const { makes, transfer } = target.row;
  return {
    result,
    ...(makes !== undefined && typeof id === 'string' && { made: id }),
    ...(transfer !== undefined && { balances: balancesIn(card, wallet) }),
    ...(evidence !== undefined && { evidence }),
  };
}
