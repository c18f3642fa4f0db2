/**
 * Whether what a write answered, or what was read after it, shows its effect
 * (docs/design/reliability.md, sections 1 and 4).
 */
import {
  balancesIn,
  type Evidence,
  type Proof,
  proofOfCard,
  proofOfWebhook,
  transferShown,
} from '../contract/evidence.ts';
import type { Cents } from '../core/money.ts';
import type { RequestFacts } from './answer.ts';

type Values = Readonly<Record<string, unknown>>;

/** Why a resource or balances do not show what was asked for; undefined when they do, or nothing can be compared. */
export function unshown(asked: RequestFacts, result: Values, evidence: Evidence | undefined): string | undefined {
  const { row } = asked.target;
  if (row.leadsTo !== undefined) {
    const { field, value } = row.leadsTo;
    return result[field] === value ? undefined : `${field} in the answer is not ${value}`;
  }
  if (row.readBack !== undefined) {
    return showsMembers(asked, result) ? undefined : 'the answer does not show what was sent';
  }
  if (evidence === undefined) return undefined;
  if (row.transfer !== undefined) return transferUnshown(asked, result, evidence);
  if (row.makes === undefined) return undefined;
  const { by, differences } = proofOf(asked, result, evidence);
  const [difference] = differences;
  if (difference === undefined) return undefined;
  return by === 'mark' ? `the card was made by this operation, but ${difference}` : difference;
}

function transferUnshown({ target, input }: RequestFacts, result: Values, evidence: Evidence): string | undefined {
  const { transfer } = target.row;
  const after = balancesIn(result['card_balance'], result['wallet_balance']);
  if (transfer === undefined) return undefined;
  const shown = after && transferShown({ transfer, amount: input['amount'] as Cents }, evidence, after);
  if (shown === 'shown') return undefined;
  if (evidence.before === undefined) return 'the balances before are not known, so the balances after prove nothing';
  return shown === 'unchanged'
    ? 'the balance of the card has not changed'
    : 'the balances did not change by the amount';
}

/** What tells the resource that a create answered from any other. */
export function proofOf({ target, input }: RequestFacts, resource: Values, evidence: Evidence): Proof {
  const prove = target.row.makes === 'card' ? proofOfCard : proofOfWebhook;
  return prove(resource, input, evidence);
}

/** Every member that was sent. */
function showsMembers({ target, input }: RequestFacts, resource: Values): boolean {
  const sent = Object.keys(target.row.body ?? {}).filter(name => input[name] !== undefined);
  return sent.every(name => sameValue(resource[name], input[name]));
}

function sameValue(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
  return sorted(one) === sorted(other);
}
