/** What one key used twice has shown. Only a proved replay says that keys are honoured; everything else says nothing. */
import type { Delivery } from '../../contract/service.ts';

export interface UsedTwice {
  readonly first: Delivery;
  readonly second: Delivery;
  /** Effects that reading has shown, or why it could not be read. */
  readonly effects: number | string;
  /** Members of an answer that tell one effect from another: the id of a card, or its balance and the wallet's. */
  readonly shown: readonly string[];
}

export interface Finding {
  readonly key: 'honoured' | 'ignored' | 'unknown';
  /** What was seen, in one clause. */
  readonly text: string;
}

/**
 * `honoured` takes a second success with the result of the first, and one effect by reading. Two effects are `ignored`,
 * whatever was answered: a service that refuses, throttles or loses the second request has shown neither.
 */
export function findingOf({ first, second, effects, shown }: UsedTwice): Finding {
  if (typeof effects === 'string') return unknown(`the effect could not be read: ${effects}`);
  if (effects === 2) return { key: 'ignored', text: 'one key used twice: 2 effects' };
  if (effects !== 1) return unknown(`one key used twice: ${effects} effects show, where 1 or 2 can be explained`);
  if (second.class !== 'done') return unknown(`the second request was not answered with a success: ${whyOf(second)}`);
  const [one, other] = [first, second].map(({ result, reread }) => (reread ? {} : (result ?? {})) as Values);
  const lacking = shown.find(name => one?.[name] === undefined || other?.[name] === undefined);
  if (lacking !== undefined) return unknown(`the answers do not show ${lacking}, so a replay cannot be recognized`);
  const different = shown.find(name => one?.[name] !== other?.[name]);
  if (different !== undefined) return unknown(`the second answer shows another ${different} than the first`);
  return { key: 'honoured', text: 'one key used twice: 1 effect, and the second answer repeats the first' };
}

type Values = Readonly<Record<string, unknown>>;

function unknown(text: string): Finding {
  return { key: 'unknown', text };
}

function whyOf({ class: outcome, error }: Delivery): string {
  return error?.message ?? outcome;
}
