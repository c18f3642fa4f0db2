/** Where things stand below the folder of operations. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

export interface Places {
  readonly root: string;
  readonly saltFile: string;
  /** Random name of this journal, for what approvers sign. */
  readonly nameFile: string;
  /** One empty file for each op that is not finished, so that twins are found without reading a long history. */
  readonly unfinished: string;
  /** Services whose ops were moved to a shared journal. */
  readonly moved: string;
  /** Services whose ops came back from one. */
  readonly movedBack: string;
  readonly givenKeys: string;
  /** Journals that were damaged, with what a person has recorded of them. */
  readonly damaged: string;
  damagedFolder(op: string): string;
  /** What was recorded of one of them. */
  recorded(op: string): string;
  folder(op: string): string;
  journal(op: string): string;
  lock(op: string): string;
  /** Of an op that was moved here before it was finished. */
  movedIn(op: string): string;
  /** Stands until the answer of the command that ended the op was written. */
  unfinishedMark(op: string): string;
  /** Lock of whoever looks for twins of an input, at whichever address, and writes its plan down. */
  claim(digest: string): string;
  /** Names of callers, by the first byte of their digest. */
  readonly intents: string;
  /** Lock of whoever looks names up and notes them. */
  readonly intentsLock: string;
  intent(scope: string, name: string): string;
  /** Under which addresses each API key was used. */
  readonly addresses: string;
  /** Names the op that was begun with a key of the caller's own, per service. */
  givenKey(origin: string, key: string): string;
}

export function placesIn(stateFolder: string): Places {
  const root = join(stateFolder, 'ops');
  const unfinished = join(root, 'unfinished');
  const givenKeys = join(root, 'keys');
  const intents = join(root, 'intents');
  const damaged = join(root, 'damaged');
  const folder = (op: string) => join(root, op);
  return {
    root,
    saltFile: join(root, 'salt'),
    nameFile: join(root, 'name'),
    unfinished,
    moved: join(root, 'moved.json'),
    movedBack: join(root, 'moved-back.json'),
    givenKeys,
    damaged,
    damagedFolder: op => join(damaged, op),
    recorded: op => join(damaged, op, 'recorded.json'),
    folder,
    journal: op => join(folder(op), 'journal'),
    lock: op => join(folder(op), 'lock'),
    movedIn: op => join(folder(op), 'moved-in.json'),
    unfinishedMark: op => join(unfinished, op),
    addresses: join(root, 'addresses.json'),
    intents,
    intentsLock: join(root, 'intents.lock'),
    intent: (scope, name) => join(intents, createHash('sha256').update(`${scope}\n${name}`).digest('hex').slice(0, 2)),
    claim: digest => join(root, `claim-${createHash('sha256').update(digest).digest('hex').slice(0, 32)}`),
    givenKey: (origin, key) => join(givenKeys, createHash('sha256').update(`${origin}\n${key}`).digest('hex')),
  };
}
