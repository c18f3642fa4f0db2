/**
 * What the effect of a write is judged by: an answer of 2xx is believed when it, or what is read after it, shows the
 * effect (docs/design/reliability.md, section 3). Pure; who reads, and when, is the client's matter.
 */

import { withoutCardNumbers } from '../core/card-numbers.ts';
import { instantOf, MINUTE } from '../core/durations.ts';
import { type Cents, centsOf } from '../core/money.ts';
import type { Values } from '../core/objects.ts';
import { EVENTS } from './events.ts';
import type { Operation, Transfer } from './operation.ts';
import { REFUSALS, type RefusalName } from './refusals.ts';

/** Card and wallet, in cents; without the wallet where it is no evidence: the other rows of a run move it too. */
export interface Balances {
  readonly card: Cents;
  readonly wallet?: Cents | undefined;
  /** Last four digits of the card, from the same reading. */
  readonly last4?: string | undefined;
}

/** What is known before the first attempt of a write. */
export interface Evidence {
  /** Card and wallet just before; of fund and withdraw. Undefined when they could not be told. */
  readonly before?: Balances | undefined;
  /** The member that a change of state sets, as it was just before. Undefined when it could not be told. */
  readonly was?: string | undefined;
  /** Nothing else of the same run moves the wallet meanwhile, so that the wallet is evidence as well. */
  readonly alone: boolean;
  /** When it was planned, ms UTC: an older resource is not what this write has made. */
  readonly plannedAt: number;
  /** `plannedAt` is by the clock of the service, and not by ours. */
  readonly byServiceClock?: true | undefined;
  /** Nobody else can have sent its key: the answer to it is no older than the plan. */
  readonly ownKey?: boolean | undefined;
  /** A metadata entry that no other card has. */
  readonly mark?: { readonly key: string; readonly value: string } | undefined;
}

/** Clocks of this machine and of the service may be so far apart. */
const CLOCK_MARGIN_MS = 10 * MINUTE;
/** The clocks of one service may be so far apart: of its answers, and of its books. */
const SERVICE_MARGIN_MS = 2 * MINUTE;

interface Proof {
  /** What tells the resource from any other: its mark, all that was asked for, or nothing. */
  readonly by: 'mark' | 'fields' | 'nothing';
  /** Clauses: what is not as it was asked for, or missing for a proof. */
  readonly differences: readonly string[];
}

/**
 * Whether a card is the one that a create has made. It is never older than the plan, for an answer may repeat the mark
 * beside the id of another card. Its mark proves it then. Without one it must be as it was asked for, and show when it was
 * made; services that give no metadata back must do that much.
 */
function proofOfCard(card: Values, asked: Values, evidence: Evidence): Proof {
  const { plannedAt, mark } = evidence;
  const { balance, status } = card;
  const differences = [
    ...(sameAmount(balance, asked['amount']) ? [] : ['its balance is not the amount that was asked for']),
    ...(status === 'active' ? [] : ['it is not active']),
    ...fixedDifferences(card, asked),
  ];
  const other = notMadeNow(card, evidence);
  if (other !== undefined) return { by: 'nothing', differences: [other, ...differences] };
  if (mark !== undefined && membersOf(card['metadata'])[mark.key] === mark.value) return { by: 'mark', differences };
  const undated = ageProblem(card['created_at'], plannedAt);
  if (undated !== undefined) differences.push(undated);
  return { by: differences.length === 0 ? 'fields' : 'nothing', differences };
}

/**
 * Why a card that was read cannot be the one that a create has made; undefined where nothing says so. What was spent of it
 * or changed by now says nothing, and neither does a service that gives no metadata back.
 */
export function notMadeNow(card: Values, evidence: Evidence): string | undefined {
  const { plannedAt, mark, byServiceClock, ownKey } = evidence;
  const read = mark && membersOf(card['metadata'])[mark.key];
  if (read !== undefined && read !== mark?.value) return 'it carries the mark of another operation';
  const margin = read === undefined && byServiceClock && ownKey ? SERVICE_MARGIN_MS : CLOCK_MARGIN_MS;
  return ageProblem(card['created_at'], plannedAt, margin) === TOO_OLD ? TOO_OLD : undefined;
}

/** What never changes of a card, and what an answer and a reading of one card must say alike. */
const FIXED = ['bin_id', 'network', 'last4'] as const;
/** An answer may tell the time of its own making, and not that of the card. */
const MADE_APART_MS = MINUTE;

/**
 * Why a card that was read is another one than the answer describes under the same id; undefined where nothing says so. What
 * one of the two leaves out says nothing.
 */
export function otherThanAnswered(card: Values, answered: Values): string | undefined {
  const differs = FIXED.find(
    name => typeof card[name] === 'string' && typeof answered[name] === 'string' && card[name] !== answered[name],
  );
  if (differs !== undefined) return `its ${differs} is ${card[differs]}, and ${answered[differs]} in the answer`;
  const [readAt = Number.NaN, answeredAt = Number.NaN] = [card, answered].map(({ created_at }) =>
    instantOf(created_at),
  );
  return Math.abs(readAt - answeredAt) > MADE_APART_MS ? 'it was made at another time than the answer says' : undefined;
}

const TOO_OLD = 'it is older than this operation';

/** Of what never changes of a card: whether what is shown is what was asked for. */
const AS_ASKED: Readonly<Record<string, (shown: unknown, asked: unknown) => boolean>> = {
  bin_id: (shown, asked) => typeof shown !== 'string' || isSaid(shown, asked),
  label: (shown, asked) => typeof shown !== 'string' || isSaid(shown, asked),
  spending_limit: sameAmount,
  auto_freeze_at: sameAmount,
  allowed_categories: sameCategories,
};

/** Clauses: what of it is otherwise. A member that a card leaves out says nothing; null says that there is none. */
export function fixedDifferences(card: Values, asked: Values): readonly string[] {
  const others = Object.entries(AS_ASKED).filter(
    ([name, isSame]) => asked[name] !== undefined && card[name] !== undefined && !isSame(card[name], asked[name]),
  );
  const differences = others.map(([name]) => `its ${name} is another than was asked for`);
  if (!hasMetadata(membersOf(card['metadata']), membersOf(asked['metadata']))) {
    differences.push('its metadata is other than was asked for');
  }
  return differences;
}

/** USD of an answer, and cents that were asked for. */
function sameAmount(shown: unknown, asked: unknown): boolean {
  return typeof shown === 'number' && centsOf(shown) === asked;
}

/** Compared as sets, in any case. A service may tell a code for a word, or a word for a code. */
function sameCategories(shown: unknown, asked: unknown): boolean {
  if (!Array.isArray(asked)) return true;
  const [is, wanted] = [shown ?? [], asked].map(list => new Set([list].flat().map(each => String(each).toLowerCase())));
  if (is === undefined || wanted === undefined) return true;
  if (is.size === wanted.size && [...is].every(each => wanted.has(each))) return true;
  const isCode = (category: string) => /^\d{4}$/.test(category);
  return is.size > 0 && wanted.size > 0 && [...is].every(isCode) !== [...wanted].every(isCode);
}

/** A service that shows none of the entries gives no metadata back; one that shows some has lost the others. */
function hasMetadata(shown: Values, asked: Values): boolean {
  const wanted = Object.entries(asked);
  const isGiven = wanted.some(([key]) => shown[key] !== undefined);
  return !isGiven || wanted.every(([key, value]) => isSaid(shown[key], value));
}

/** Whether a text of an answer is the one that was asked for; where it looks like a card number, the answer is masked. */
function isSaid(answered: unknown, asked: unknown): boolean {
  if (answered === asked) return true;
  return typeof answered === 'string' && typeof asked === 'string' && answered === withoutCardNumbers(asked);
}

function ageProblem(createdAt: unknown, plannedAt: number, margin = CLOCK_MARGIN_MS): string | undefined {
  const made = instantOf(createdAt);
  if (made === undefined) return 'it carries neither our mark nor the time it was made';
  return made < plannedAt - margin ? TOO_OLD : undefined;
}

/** Whether a subscription is the one that was asked for. */
function proofOfWebhook(webhook: Values, asked: Values, { plannedAt }: Evidence): Proof {
  const differences: string[] = [];
  if (!sameUrl(webhook['url'], asked['url'])) differences.push('its url is another than was asked for');
  const [events, wanted] = [webhook['events'], asked['events']];
  // A service may write every event out where all of them were asked for.
  const differ = Array.isArray(events) && Array.isArray(wanted) && !wanted.includes('*') && !sameSet(events, wanted);
  if (differ) differences.push('its events are others than were asked for');
  const { created_at: createdAt } = webhook;
  const age = createdAt === undefined || createdAt === null ? undefined : ageProblem(createdAt, plannedAt);
  if (age !== undefined) differences.push(age);
  return { by: differences.length === 0 ? 'fields' : 'nothing', differences };
}

/** Whether a subscription delivers what is asked for to the same endpoint. */
export function isSubscribed({ url, events, status }: Values, asked: Values): boolean {
  const [there, wanted] = [events, asked['events']];
  if (!Array.isArray(there) || !Array.isArray(wanted) || status === 'disabled') return false;
  // A service may write every event out where all of them were asked for.
  const isAll = (names: readonly unknown[]) => names.includes('*') || names.length === Object.keys(EVENTS).length;
  return sameUrl(url, asked['url']) && (sameSet(there, wanted) || (isAll(there) && isAll(wanted)));
}

/** Whether two addresses are one, however they are written. */
export function sameUrl(one: unknown, other: unknown): boolean {
  const plain = (url: unknown) => (typeof url === 'string' && URL.canParse(url) ? new URL(url).href : url);
  return plain(one) === plain(other);
}

function sameSet(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every(each => other.includes(each));
}

function membersOf(value: unknown): Values {
  return typeof value === 'object' && value !== null ? (value as Values) : {};
}

/** A change that was asked for: its row and what was handed in, money in cents. */
interface AskedChange {
  readonly row: Operation;
  readonly input: Values;
}

/** Why a resource or balances do not show what was asked for; undefined when they do, or nothing can be compared. */
export function unshown(
  { row, input }: AskedChange,
  result: Values,
  evidence: Evidence | undefined,
): string | undefined {
  if (row.leadsTo !== undefined) {
    const { field, value } = row.leadsTo;
    return result[field] === value ? undefined : `${field} in the answer is not ${value}`;
  }
  if (row.readBack !== undefined) {
    const sorted = (value: unknown) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
    const sent = Object.keys(row.body ?? {}).filter(name => input[name] !== undefined);
    const isShown = sent.every(name => sorted(result[name]) === sorted(input[name]));
    return isShown ? undefined : 'the answer does not show what was sent';
  }
  if (evidence === undefined) return undefined;
  if (row.transfer !== undefined) return transferUnshown(row.transfer, input['amount'] as Cents, result, evidence);
  if (row.makes === undefined) return undefined;
  const { by, differences } = proofOf({ row, input }, result, evidence);
  const [difference] = differences;
  if (difference === undefined) return undefined;
  return by === 'mark' ? `the card was made by this operation, but ${difference}` : difference;
}

/**
 * Why the balances of an answer do not show that the amount has moved. The card alone suffices: it changed by exactly the
 * amount. A purchase may change the card meanwhile; then the wallet suffices, where nothing else of this run moves it. An
 * unchanged card never shows a transfer.
 */
function transferUnshown(transfer: Transfer, amount: Cents, result: Values, evidence: Evidence): string | undefined {
  const { before, alone } = evidence;
  if (before === undefined) return 'the balances before are not known, so the balances after prove nothing';
  const [card, wallet] = [result['card_balance'], result['wallet_balance']].map(value =>
    typeof value === 'number' ? centsOf(value) : undefined,
  );
  const wanted = transfer === 'to-card' ? amount : -amount;
  if (card !== undefined && wallet !== undefined) {
    if (card - before.card === wanted) return undefined;
    if (card === before.card) return 'the balance of the card has not changed';
    if (alone && before.wallet !== undefined && wallet - before.wallet === -wanted) return undefined;
  }
  return 'the balances did not change by the amount';
}

/** What tells the resource that a create answered from any other. */
export function proofOf({ row, input }: AskedChange, resource: Values, evidence: Evidence): Proof {
  const prove = row.makes === 'card' ? proofOfCard : proofOfWebhook;
  return prove(resource, input, evidence);
}

// What a refused write proves by itself. A no that cannot be true of this operation, or is not the service's own, may follow the
// effect.

export interface RefusalFacts {
  readonly row: Operation;
  readonly status: number;
  readonly refusal?: RefusalName | undefined;
  /** JSON by its content type and its content, with an identifier (interface 2.7). */
  readonly inServiceForm: boolean;
  /** It says that the key was used with another body. */
  readonly saysKeyReused: boolean;
  /** The key is the caller's own, who may have used it before. */
  readonly keyOfCaller: boolean;
}

interface RefusalRule {
  readonly when: string;
  /**
   * `definite`: nothing was executed. `plausible`: nothing was, unless its effect shows. `none`: it proves nothing, and neither
   * does an effect that does not show yet.
   */
  readonly weight: 'definite' | 'plausible' | 'none';
  /** A clause for the error: why it is not believed as it stands. */
  readonly because?: string;
  readonly holds: (facts: RefusalFacts) => boolean;
}

/** Statuses that services give before anything is executed. */
const BEFORE_EXECUTION: readonly number[] = [401, 403, 404, 405, 407, 413, 415, 429, 431];

/** The first that holds decides; the last one always does. */
export const REFUSAL_RULES: readonly RefusalRule[] = [
  {
    when: 'it is not in the form of an error of the service: no JSON, or no identifier',
    weight: 'none',
    because: 'that is no error of the service, so something on the way may have said it',
    holds: ({ inServiceForm }) => !inServiceForm,
  },
  {
    when: 'it says that the key was used with another body, and the caller has chosen the key',
    weight: 'plausible',
    holds: ({ saysKeyReused, keyOfCaller }) => saysKeyReused && keyOfCaller,
  },
  {
    when: 'it says that the key was used with another body, and the key was made for this request',
    weight: 'none',
    because: 'no other request has had this key',
    holds: ({ saysKeyReused }) => saysKeyReused,
  },
  {
    when: 'it says that the card is in the wanted state already',
    weight: 'none',
    because: 'reading the card does not show that state',
    holds: ({ row, refusal }) => refusal !== undefined && row.leadsTo?.value === (REFUSALS[refusal].saysState ?? ''),
  },
  {
    when: '`not_found` of an operation whose row does not name it',
    weight: 'plausible',
    holds: ({ row, refusal }) => refusal === 'not_found' && !belongsTo(row, refusal),
  },
  {
    when: 'a word of the contract that this operation cannot give',
    weight: 'none',
    because: 'that is no answer to this operation',
    holds: ({ row, refusal }) => refusal !== undefined && !belongsTo(row, refusal),
  },
  {
    when: 'a word of the contract for this operation, or for all',
    weight: 'definite',
    holds: ({ refusal }) => refusal !== undefined,
  },
  {
    when: '401 or 403 in a word that the contract does not know',
    weight: 'definite',
    holds: ({ status }) => status === 401 || status === 403,
  },
  {
    when: 'of `api`, where the contract knows no such operation: a status that is given before anything is executed',
    weight: 'definite',
    holds: ({ row, status }) => row.raw === true && BEFORE_EXECUTION.includes(status),
  },
  { when: 'any other word that the contract does not know', weight: 'plausible', holds: () => true },
];

/** The rule for a refused write; its weight holds for a first sending alone. */
export function ruleFor(facts: RefusalFacts): RefusalRule {
  const rule = REFUSAL_RULES.find(({ holds }) => holds(facts));
  if (rule === undefined) throw new RangeError('no rule holds');
  return rule;
}

/** Whether a refusal says what was read just before it, in cents: the change was impossible, and nobody need look for its effect. */
export function isExplained(
  refusal: RefusalName | undefined,
  { transfer }: Pick<Operation, 'transfer'>,
  amount: number,
  read: Readonly<{ card?: number | undefined; wallet?: number | undefined; status?: string | undefined }> = {},
): boolean {
  if (refusal === 'card_terminated') return read.status === 'terminated';
  if (refusal !== 'insufficient_funds' && refusal !== 'insufficient_card_funds') return false;
  const there = transfer === 'to-wallet' ? read.card : read.wallet;
  return there !== undefined && there < amount;
}

/** Whether a BIN as it is listed says why a create was refused: nobody lists it, or `limit`, in cents, is above what it takes (2.2). */
export function isExplainedByBin(
  refusal: RefusalName | undefined,
  limit: number | undefined,
  bin: { readonly max_monthly?: number | null | undefined } | undefined,
): boolean {
  if (refusal === 'bin_not_found') return bin === undefined;
  const most = typeof bin?.max_monthly === 'number' ? centsOf(bin.max_monthly) : undefined;
  return refusal === 'invalid_request' && limit !== undefined && most !== undefined && limit > most;
}

function belongsTo({ raw, fails = [] }: Operation, refusal: RefusalName): boolean {
  const { everywhere } = REFUSALS[refusal];
  // An operation that nobody knows may give any of them.
  if (everywhere === true || raw === true || fails.includes(refusal)) return true;
  // Some services use one word for an empty wallet and an empty card.
  return refusal === 'insufficient_funds' && fails.includes('insufficient_card_funds');
}
