/** The steps of a plan as rows of a run of the journal. */
import type { WriteName } from '../../contract/calls.ts';
import { toCents } from '../../core/money.ts';
import { MARKER_KEY } from '../../fleet/account.ts';
import type { Fleet } from '../../fleet/fleet-file.ts';
import type { CreateBody, NumberedStep } from '../../fleet/step.ts';
import type { PlannedRow } from '../../journal/types.ts';

const OPERATIONS = {
  freeze: 'cards.freeze',
  withdraw: 'cards.withdraw',
  terminate: 'cards.terminate',
  create: 'cards.create',
  fund: 'cards.fund',
  unfreeze: 'cards.unfreeze',
} as const satisfies Record<NumberedStep['do'], WriteName>;

/**
 * Room between two phases of steps. Creates after the first go one phase later: the first shows whether the service keeps
 * markers.
 */
const PHASE = 10;
export const CREATE_PHASE = 4 * PHASE;

/** In the order of the steps, which have their numbers. */
export function rowsOfSteps(steps: readonly NumberedStep[], { wishes }: Fleet): readonly PlannedRow[] {
  const tops = new Map(wishes.map(wish => [wish.name, wish.topUpTo]));
  const firstCreate = steps.find(step => step.do === 'create')?.row;
  return steps.map(step => {
    const isLater = step.do === 'create' && step.row !== firstCreate;
    return {
      row: step.row,
      operation: OPERATIONS[step.do],
      phase: step.phase * PHASE + (isLater ? 1 : 0),
      ...needsOf(step, steps),
      ...partsOf(step, tops.get(step.name)),
    };
  });
}

function partsOf(step: NumberedStep, topUpTo: PlannedRow['aim']): Omit<PlannedRow, 'row' | 'operation'> {
  if (step.do === 'create') return createParts(step.key, step.body);
  if (step.do !== 'fund' && step.do !== 'withdraw') return { input: { card_id: step.card }, cardId: step.card };
  const amount = toCents(step.amount);
  return {
    input: { card_id: step.card, amount },
    cardId: step.card,
    amount,
    keyChain: chainOf(step.key),
    // A top-up never goes above `topUpTo`, a withdrawal never below 0, whatever somebody else has sent meanwhile.
    aim: step.do === 'fund' ? topUpTo : toCents(0),
  };
}

/** Money as cents; the marker is put in by the journal, which looks for it. */
function createParts(key: string, body: CreateBody): Omit<PlannedRow, 'row' | 'operation'> {
  const { amount: usd, spending_limit: limit, auto_freeze_at: freezeAt, metadata, ...rest } = body;
  const { [MARKER_KEY]: marker, ...own } = metadata;
  const amount = toCents(usd);
  return {
    input: {
      ...rest,
      amount,
      ...(limit !== undefined && { spending_limit: toCents(limit) }),
      ...(freezeAt !== undefined && { auto_freeze_at: toCents(freezeAt) }),
      metadata: own,
    },
    amount,
    ...(body.label !== undefined && { label: body.label }),
    keyChain: chainOf(key),
    marker,
  };
}

function chainOf(key: string): string {
  return key.replace(/\.1$/, '');
}

/** A create that replaces a card waits until that card is frozen; an unfreeze waits until its card is funded. */
function needsOf(step: NumberedStep, steps: readonly NumberedStep[]): Pick<PlannedRow, 'needs'> {
  const before = steps.filter(other => {
    if (step.do === 'create') return other.do === 'freeze' && other.card === step.instead;
    return step.do === 'unfreeze' && other.do === 'fund' && other.card === step.card;
  });
  return before.length === 0 ? {} : { needs: before.map(({ row }) => row) };
}
