/** What others have made of a row while this process stood still, for words that send nobody into a second purchase. */

import { shellWord } from '../../core/shell-quote.ts';
import type { PlanRecord } from '../wal/records.ts';
import type { RowHistory } from '../wal/replay.ts';
import { byWhom } from './by-hand.ts';
import { MARKER_KEY, rowMarker } from './marker.ts';

/** The op is in other hands. */
export interface Meanwhile {
  /** Where the row stands there. */
  readonly row: RowHistory;
  /** It has ended there: nobody records anything of it any more. */
  readonly isOver: boolean;
}

interface Told {
  readonly plan: Pick<PlanRecord, 'op' | 'bulk' | 'given_key'>;
  readonly meanwhile: Meanwhile;
  /** This process has the answer of the service: it was done. */
  readonly isAnswered: boolean;
  /** What the change would do if it were made twice: `charge the wallet twice`. */
  readonly danger: string;
}

interface Words {
  readonly notes: readonly string[];
  readonly hint: string;
}

/** In place of what leads on in an op that is not over. */
export function meanwhileWords(told: Told): Words {
  const { plan, meanwhile, isAnswered } = told;
  const { resolved } = meanwhile.row;
  const show = `cardwright ops show ${plan.op}`;
  const said = resolved === undefined ? settledWords(meanwhile.row) : recordedWords(resolved);
  const isDenied = meanwhile.row.state === 'not_sent' || meanwhile.row.state === 'refused';
  if (!isDenied) return { notes: [said], hint: show };
  return isAnswered ? broughtWords(told, said) : unheardWords(told, said);
}

function recordedWords(resolved: NonNullable<RowHistory['resolved']>): string {
  return `It was recorded as ${resolved.as === 'done' ? 'done' : 'not done'}${byWhom(resolved)}: ${resolved.note}.`;
}

function settledWords({ state }: RowHistory): string {
  const what = { done: 'done', refused: 'refused', not_sent: 'not sent', unknown: 'unknown', open: 'open' }[state];
  return `By the journal it is ${what} since then.`;
}

/** An answer counts more than what somebody took for granted. */
function broughtWords({ plan, meanwhile }: Told, said: string): Words {
  const name = nameOf(plan, meanwhile.row);
  return {
    notes: [
      said,
      'The answer of the service counts more: this brings it, as the next command of this machine does.',
      name === undefined
        ? 'Do not run the command again: it is done.'
        : `After that the same command with the same ${name} is about this operation.`,
    ],
    hint: 'cardwright journal push',
  };
}

/** Nobody knows, and nothing keeps the same command from buying once more. */
function unheardWords({ plan, meanwhile, danger }: Told, said: string): Words {
  const { item } = meanwhile.row;
  const name = nameOf(plan, meanwhile.row);
  const free = name === undefined ? 'The' : `So its ${name} is free: the`;
  const marked = shellWord(`metadata.${MARKER_KEY}=${rowMarker(plan.op, item)}`);
  const look =
    item.operation === 'cards.create'
      ? `cardwright cards list --bin ${shellWord(String(item.input['bin_id']))} --where ${marked}`
      : item.card === undefined
        ? `cardwright ops show ${plan.op}`
        : `cardwright cards get ${shellWord(item.card)}`;
  const seen =
    item.operation === 'cards.create' ? 'A card there is this one' : 'Where the change shows, it is this one';
  return {
    notes: [
      said,
      `${free} same command is a new change. Where the request has arrived all the same, it would ${danger}.`,
      `Look first: ${look}`,
      `${seen}: do not run the command again then.`,
    ],
    hint: look,
  };
}

function nameOf({ given_key: key, bulk }: Told['plan'], { item }: RowHistory): string | undefined {
  if (item.intent !== undefined) return '--intent';
  return key !== undefined && !bulk ? '--idempotency-key' : undefined;
}
