/**
 * Which rule meets a request. Rules are rows: matches are counted in the transaction that carries the request out,
 * so that one process sets a rule, the next meets it, and a request that is undone was not counted.
 */
import type { DeliveryAction, FaultMatch, FaultRule, RequestAction } from '../../contract/sandbox/faults.ts';
import { fractionOf, seedOf } from '../calls/deterministic-ids.ts';
import { type AppliedFault, type ParsedRequest, SERVICE_PATH } from '../http/request.ts';
import { activeFaults, countMatch, type FaultRow } from '../store/requests.ts';
import type { Sql } from '../store/sql.ts';

interface Meeting {
  readonly parsed: ParsedRequest;
  readonly now: number;
  readonly requestId: string;
}

/** The first rule that applies; rules before it count their matches, rules after it are not evaluated. */
export function faultFor(sql: Sql, { parsed, now, requestId }: Meeting): AppliedFault | undefined {
  const phased = (phase: FaultRule['phase']) =>
    parsed.route.row.method === 'GET' ? 'after_commit' : (phase ?? 'before');
  if (parsed.fault !== undefined) {
    const { phase, action } = parsed.fault;
    return { phase: phased(phase), action, source: `header ${requestId}` };
  }
  const rows = activeFaults(sql, { meets: 'requests', now });
  const struck = firstApplied(sql, { rows, matches: match => meetsRequest(match, parsed) });
  if (struck === undefined) return undefined;
  const { rule, source } = struck;
  return { phase: phased(rule.phase), action: rule.action as RequestAction, source };
}

interface FaultQuery {
  readonly rows: readonly FaultRow[];
  readonly matches: (match: FaultMatch) => boolean;
}

/** Counts matches until one rule applies. `source` seeds what its action leaves random. */
function firstApplied(
  sql: Sql,
  { rows, matches }: FaultQuery,
): { readonly rule: FaultRule; readonly source: string } | undefined {
  for (const row of rows) {
    const rule = JSON.parse(row.rule) as FaultRule;
    const { match = {} } = rule;
    if (!matches(match)) continue;
    const seen = row.seen + 1;
    const source = `${seedOf(sql)} ${row.id} ${seen}`;
    const { nth = 1, probability = 1 } = match;
    const isApplied = seen >= nth && fractionOf(`${source} probability`) < probability;
    countMatch(sql, { id: row.id, isApplied });
    if (isApplied) return { rule, source };
  }
  return undefined;
}

function meetsRequest(
  match: FaultMatch,
  { route, path, params, query, body, keySent, keyLast4 }: ParsedRequest,
): boolean {
  const { operation, method, card_id: card, key_last4: last4, key_prefix: prefix } = match;
  const cards = [params, query, body].map(part => (part as Readonly<Record<string, unknown>>)['card_id']);
  return (
    (operation === undefined || operation === route.name) &&
    (method === undefined || method === route.row.method) &&
    (match.path === undefined || fitsTemplate(match.path, path.slice(SERVICE_PATH.length))) &&
    (card === undefined || cards.includes(card)) &&
    (last4 === undefined || last4 === keyLast4) &&
    (prefix === undefined || keySent?.startsWith(prefix) === true)
  );
}

/** `/cards/{card_id}/fund` against `/cards/card_1/fund`. */
export function fitsTemplate(template: string, path: string): boolean {
  const [wanted, given] = [template.split('/'), path.split('/')];
  const fits = (part: string, index: number) => /^\{.*\}$/.test(part) || part === given[index];
  return wanted.length === given.length && wanted.every(fits);
}

// The rules that meet deliveries to subscriptions: twice, out of order, later.

/** Asked once a delivery, in the transaction that would claim it; counts the rule down there. */
export function deliveryFault(
  sql: Sql,
  { now, event, webhook }: { readonly now: number; readonly event: string; readonly webhook: string },
): DeliveryAction | undefined {
  const rows = activeFaults(sql, { meets: 'deliveries', now });
  const struck = firstApplied(sql, {
    rows,
    matches: match =>
      (match.event === undefined || match.event === event) &&
      (match.webhook_id === undefined || match.webhook_id === webhook),
  });
  return struck?.rule.action as DeliveryAction | undefined;
}
