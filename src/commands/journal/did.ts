/** What an admin's command has done, a sentence a line. */
import { tells } from '../../cli/answer-fields.ts';
import type { Shown } from '../../cli/shown.ts';

export const DID = { did: tells.json('What was done, a sentence each.') } as const;

export function didView(did: readonly string[]): Shown {
  return {
    data: { did: [...did] },
    noun: 'journal',
    columns: [{ field: 'did', title: 'DID', kind: 'list', priority: 1 }],
    blocks: did.map(text => ({ kind: 'line', text }) as const),
  };
}
