/** A key as data and for people. */
import { tells } from '../../../cli/answer-fields.ts';
import type { OwnKey } from '../../../cli/shared-journal.ts';
import type { Shown } from '../../../cli/shown.ts';
import type { Column } from '../../../terminal/view.ts';

export const KEY_ANSWER = {
  person: tells.text('The person; of a shared journal the login role.'),
  keyid: tells.text('First digits of the digest of its public part.'),
  line: tells.text('The line that makes it an approver.'),
  place: tells.text('Where it lies: a path, or keychain.'),
  listed: tells.yes('Whether it may approve in the journal of this run.'),
} as const;

export const KEY_COLUMNS: readonly Column[] = [
  { field: 'person', title: 'PERSON', kind: 'text', priority: 1 },
  { field: 'keyid', title: 'KEY', kind: 'id', priority: 1 },
];

export function keyView({ person, keyid, line, place, isListed }: OwnKey): Shown {
  return {
    data: { person, keyid, line, place, listed: isListed },
    noun: 'key',
    idField: 'keyid',
    columns: KEY_COLUMNS,
    quiet: [line],
    blocks: [
      { kind: 'line', text: line, whole: true },
      {
        kind: 'line',
        text: isListed
          ? `It may approve as ${person}.`
          : 'It may not approve yet: its line is not among the approvers.',
      },
    ],
  };
}
