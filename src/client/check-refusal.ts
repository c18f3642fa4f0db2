/** A refused write: believed, or looked into until its effect shows or the time for looking is over (section 1). */

import { unshown } from '../contract/evidence.ts';
import type { DeliveryPolicy } from '../contract/service.ts';
import { READ_LAG_PAUSES } from '../contract/spans.ts';
import { CliError } from '../core/errors.ts';
import type { RequestFacts } from './decode.ts';
import { errorOf } from './errors.ts';
import { findEffect, isListed } from './read-back.ts';
import { paramsOf, type ReadBackParts } from './readings.ts';
import { classifyUnusable, type Interpretation } from './request.ts';
import { rest } from './retry.ts';

type Values = Readonly<Record<string, unknown>>;

export type Refused = Extract<Interpretation, { again: boolean }>;

export interface RefusalCheck {
  readonly asked: RequestFacts;
  readonly refused: Refused;
  /** Something of this write was sent before this answer, and nothing has shown what became of it. */
  readonly isRepeated: boolean;
  readonly readBack: ReadBackParts;
  /** Whether reading shows that nothing has happened; undefined where there is nothing to look at. */
  readonly isUndone: (() => Promise<boolean>) | undefined;
  /** As in `DeliveryPolicy`; better than `isUndone`, for it tells what is unclear from what shows. */
  readonly find?: DeliveryPolicy['find'];
  /** A reading may be behind the books: not in the built-in sandbox. */
  readonly mayLag: boolean;
}

/** The resource that shows the effect, the refusal as it is believed, or why it is not. */
export type Checked = { readonly shown: Values } | { readonly refused: CliError } | { readonly ambiguous: CliError };

/** Decides a refused write whose evidence is known. Rejects only for a bug. */
export async function checkRefusal(check: RefusalCheck): Promise<Checked> {
  const { asked, refused, isRepeated, readBack, mayLag } = check;
  const { leadsTo } = asked.target.row;
  const { weight } = refused.rule ?? { weight: 'definite' };
  const believed = { refused: refused.error };
  if (weight === 'definite' && !isRepeated) {
    // The card may be in the wanted state already. A key that is not accepted could not look either.
    const shown = leadsTo === undefined || refused.status === 401 ? undefined : await findEffect(asked, readBack);
    return shown === undefined ? believed : { shown };
  }
  const look = lookerFor(check);
  if (look === undefined) return asked.target.row.makes || asked.target.row.transfer ? ambiguityOf(check) : believed;
  let seen: Seen = 'unclear';
  for (const pause of [...(mayLag ? READ_LAG_PAUSES : []), undefined]) {
    seen = await look();
    if (typeof seen === 'object') return { shown: seen };
    if (seen === 'never' || seen === 'over') break;
    if (pause !== undefined && !(await rest(pause, readBack.clock, readBack.signal))) return ambiguityOf(check);
  }
  const isDenied = seen === 'never' || (seen === 'undone' && (weight !== 'none' || !mayLag));
  return isDenied ? believed : ambiguityOf(check);
}

/** `unclear`: the next look may tell more. `over`: it may not. `never`: nothing that comes late can show the effect. */
type Seen = Values | 'undone' | 'never' | 'unclear' | 'over';

function lookerFor({ asked, readBack, isUndone, find }: RefusalCheck): (() => Promise<Seen>) | undefined {
  const { row } = asked.target;
  if (row.readBack !== undefined || row.removesFrom !== undefined) return () => lookAtResource(asked, readBack);
  if (find !== undefined) return async () => FOUND[await find()];
  if (isUndone === undefined) return undefined;
  return async () => ((await isUndone()) ? 'undone' : 'over');
}

/** A card or balances that show are taken up by the journal. */
const FOUND = { nothing: 'undone', unclear: 'unclear', it: 'over', several: 'over' } as const;

async function lookAtResource(asked: RequestFacts, readBack: ReadBackParts): Promise<Seen> {
  const { row } = asked.target;
  try {
    if (row.removesFrom !== undefined) return (await isListed(asked, row.removesFrom, readBack)) ? 'undone' : {};
    const resource = await readBack.read(row.readBack ?? '', paramsOf(asked));
    if (unshown({ row: asked.target.row, input: asked.input }, resource, undefined) === undefined) return resource;
    // Termination is permanent (§3): whatever was asked of a terminated card has not happened.
    return row.leadsTo !== undefined && resource['status'] === 'terminated' ? 'never' : 'undone';
  } catch (failed) {
    if (!(failed instanceof CliError) || failed.kind === 'internal') throw failed;
    return failed.kind === 'not_authenticated' || failed.kind === 'not_found' ? 'over' : 'unclear';
  }
}

function ambiguityOf({ asked, refused, isRepeated }: RefusalCheck): { readonly ambiguous: CliError } {
  const { target, input } = asked;
  const { status, said, rule, error } = refused;
  const { service, idempotencyKey } = error.facts;
  const because = rule?.because ?? (isRepeated ? 'that may be about what was sent before' : UNCLEAR);
  const why = `${said}; ${because}`;
  return {
    ambiguous: errorOf(classifyUnusable(target.row, false), { target, input, status, why, service, idempotencyKey }),
  };
}

const UNCLEAR = 'looking does not rule out that it was done';
