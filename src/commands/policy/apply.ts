import {
  type Caps,
  type CapsBroken,
  evaluatePolicy,
  type JudgedAgain,
  judgedAgain,
  type PlannedChange,
  withdrawnBy,
} from '../../books/policy.ts';
import type { CardRow } from '../../books/rows.ts';
import { changeOf, wrongRow } from '../../cli/bulk/rows.ts';
import { amountFault } from '../../cli/bulk/selection.ts';
import type { Context, Shown } from '../../cli/context.ts';
import { countOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { option, RUN_ANSWER, takes } from '../../cli/parsing/flag.ts';
import { quote } from '../../cli/parsing/values.ts';
import { type CliError, notSent, usage } from '../../core/errors.ts';
import { dollars, parseAmount } from '../../core/money.ts';
import { capital } from '../../core/row-words.ts';
import { sameCommandWith } from '../../core/shell-quote.ts';
import type { PlannedRow, RowOutcome } from '../../journal/types.ts';
import { cardValues } from '../../mirror/store.ts';
import {
  flagsThatAllow,
  judged,
  type NamedPolicy,
  onlyRule,
  POLICY_FORMAT,
  policyFile,
  policyOf,
  USUAL_CARDS,
  USUAL_SHARE,
  wouldOf,
} from './check.ts';

/** Cards shown one by one before the question. */
const SHOWN_CARDS = 20;

export const applyPolicy = command({
  path: 'policy apply',
  summary: 'Freeze cards and withdraw from them as the rules of a file say',
  answers: RUN_ANSWER,
  effect: 'moves-money',
  dryRun: true,
  reach: 'service',
  ends: {
    not_confirmed: 'Declined, or nobody could be asked. Nothing was sent.',
    partly_failed: 'Some rows are done and others not; a card whose rule holds no more is not_sent.',
    outcome_unknown: 'Rows were sent without a trustworthy answer; cardwright ops resume settles them.',
    guarded: 'More cards than --max-cards or --max-share, or another guard said no. Nothing was sent.',
  },
  about: [
    'The mirror is brought up to date, then every card that a rule would change is read again and judged again. The changes run as one operation of the journal, freezes first; cardwright ops resume goes on with it. A policy can freeze and withdraw, nothing else.',
    'More cards than --max-cards, or than --max-share of those that are not terminated, are refused: a rule that is too wide stops nobody.',
    POLICY_FORMAT,
  ],
  args: { file: policyFile },
  flags: {
    rule: option(takes.text('Only this rule.')),
    maxCards: option(takes.integer('Most cards that may be changed.', { min: 1, defaults: USUAL_CARDS })),
    maxShare: option(takes.text(`Most of the cards that may be changed; ${USUAL_SHARE}% when left out.`), '<percent>'),
  },
  examples: {
    'What would be sent': 'policy apply policy.yaml --max-share 100% --dry-run',
    'Freeze what one rule says': 'policy apply policy.yaml --rule unused --max-share 100% --yes',
  },
  async run(ctx, { file, rule, maxCards = USUAL_CARDS, maxShare = `${USUAL_SHARE}%` }): Promise<Shown> {
    const named = await policyOf(ctx, file);
    const caps = { maxCards, maxShare: shareOf(maxShare) };
    const planned = await plannedChanges(ctx, { ...named, policy: onlyRule(named, rule) }, caps);
    const { noRows, runRows } = await import('../../cli/bulk/run.ts');
    const { inputDigest } = await import('../../journal/digest.ts');
    const { rows, skipped, changes } = rowsOf(planned);
    const counted = countedText(changes);
    if (rows.length === 0 && skipped.length === 0)
      return noRows(ctx, `No rule of ${named.name} changes a card. There is nothing to do.`);
    return runRows(ctx, {
      command: 'policy apply',
      intent: counted,
      keepGoing: true,
      phased: true,
      noMarker: true,
      refusal: planned.refusal,
      read: {
        name: named.name,
        rows,
        skipped,
        found: [
          `${counted}: ${named.name}.`,
          ...changes
            .slice(0, SHOWN_CARDS)
            .map(change => `  ${change.rule}  ${change.card.card_id}  ${change.card.last4 ?? '-'}  ${wouldOf(change)}`),
        ],
        digest: inputDigest(rows.map(({ operation, input }) => ({ operation, input }))),
        aimed: true,
      },
    });
  },
  show: shown => shown,
});

/** Hundredths of a percent. */
function shareOf(typed: string): number {
  const share = typed.endsWith('%') ? parseAmount(typed.slice(0, -1)) : undefined;
  if (share !== undefined && share > 0 && share <= 100_00) return share;
  throw usage(`--max-share ${quote(typed)} is not a share such as 30%, at most 100%`);
}

/** Judged by the copy, held against the caps, then judged again by each card as it is now. */
async function plannedChanges(
  ctx: Context,
  { policy, word }: NamedPolicy,
  caps: Caps,
): Promise<JudgedAgain & { refusal?: CliError }> {
  const mirror = await ctx.api.mirror();
  await mirror.sync().finally(() => ctx.ui.progress.clear());
  using copy = await mirror.read();
  const { cards, known, changes: first, broken } = judged(ctx, policy, copy, caps);
  // Refused where every refusal is recorded; the cards need not be read again for it.
  if (broken !== undefined) return { changes: first, over: [], refusal: tooMany(broken, caps, word) };
  const ids = new Set(first.map(({ card }) => card.card_id));
  const read = new Map<string, CardRow>();
  for (const card of cards) {
    if (!ids.has(card.card_id)) continue;
    const now = await ctx.api.read('cards.get', { card_id: card.card_id });
    read.set(card.card_id, { ...card, ...cardValues(now) });
  }
  return judgedAgain(first, evaluatePolicy(policy, read.values(), known).findings);
}

/** Amounts outside the limits of the service are left out, and told. */
function rowsOf({ changes, over }: JudgedAgain) {
  const rows: PlannedRow[] = [];
  const sent: PlannedChange[] = [];
  const skipped: RowOutcome[] = [];
  const leaveOut = ({ card, amount }: PlannedChange, row: number, why: string) =>
    skipped.push({ ...wrongRow(row, `${card.card_id}: ${why}`, card.card_id), amount });
  let row = 0;
  for (const change of changes) {
    const { operation, card, amount, keep } = change;
    const fault = amount === undefined ? undefined : amountFault('cards.withdraw', amount);
    row += 1;
    if (fault !== undefined) {
      leaveOut(change, row, fault);
      continue;
    }
    sent.push(change);
    rows.push({
      ...changeOf(row, operation, { card_id: card.card_id, ...(amount !== undefined && { amount }) }),
      // Freezes first: a card keeps no money open to purchases while others are withdrawn from.
      phase: operation === 'cards.freeze' ? 1 : 2,
      // Another run may withdraw first: nothing goes below what the card keeps.
      ...(amount !== undefined && { aim: keep }),
    });
  }
  for (const change of over) {
    row += 1;
    leaveOut(change, row, `the rule ${change.rule} holds no more`);
  }
  return { rows, skipped, changes: sent };
}

/** `Freeze 3 cards, withdraw $180.00 from 1 card`. */
function countedText(changes: readonly PlannedChange[]): string {
  const freezes = changes.filter(({ operation }) => operation === 'cards.freeze').length;
  const withdrawals = changes.length - freezes;
  const parts = [
    ...(freezes > 0 ? [`freeze ${countOf(freezes, 'card')}`] : []),
    ...(withdrawals > 0 ? [`withdraw ${dollars(withdrawnBy(changes))} from ${countOf(withdrawals, 'card')}`] : []),
  ];
  const text = parts.join(', ');
  return text === '' ? 'Change nothing' : capital(text);
}

function tooMany(over: CapsBroken, { maxCards, maxShare }: Caps, word: string): CliError {
  const { touched, of, broken } = over;
  const caps = broken.map(cap =>
    cap === 'maxCards'
      ? `--max-cards ${maxCards}`
      : `--max-share ${maxShare / 100}% of the ${countOf(of, 'card')} there are`,
  );
  return notSent(
    'guarded',
    `the policy would change ${countOf(touched, 'card')}, over ${caps.join(' and ')}. Nothing was sent`,
    {
      reason: 'policy_caps',
      notes: [`If what it would change is right: ${sameCommandWith(...flagsThatAllow(over))}`],
      hint: `cardwright policy check ${word}`,
    },
  );
}
