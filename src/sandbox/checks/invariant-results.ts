/** I1 to I16 one by one, for who asks which of them hold. */

/** What each of them says (docs/design/sandbox.md, section 8). */
const INVARIANTS: Readonly<Record<string, string>> = {
  I1: 'an entry has at least two postings and sums to 0',
  I2: 'each cached balance is the sum of its postings',
  I3: 'all accounts sum to 0',
  I4: 'the hold of a card is the sum of its authorizations, never below 0',
  I5: 'below 0 only after a settlement above a hold or a force post',
  I6: 'a terminated card holds nothing',
  I7: 'held, settled below the hold and released are what was authorized',
  I8: 'an authorization that is not pending holds nothing',
  I9: 'refunds are at most what settled, and the records agree with the sums',
  I10: 'deposited minus spent is on the wallet, the cards and the holds',
  I11: 'each approval was within the limits and within what the card had',
  I12: 'each thing that moved money moved it once, and nothing else did',
  I13: 'every stored answer has its own effect',
  I14: 'events have no gap, and one for each transition',
  I15: 'a card that fell below its line is frozen',
  I16: 'nothing happens on a card after its end',
};

export interface InvariantResult {
  readonly id: string;
  readonly holds: boolean | null;
  readonly says: string;
}

/** By the lines of `checkInvariants`, each of which begins with the code of what it breaks. */
export function invariantResults(faults: readonly string[]): readonly InvariantResult[] {
  return Object.entries(INVARIANTS).map(([id, says]) => {
    const broken = faults.filter(line => line.startsWith(`${id} `)).map(line => line.slice(id.length + 1));
    return { id, holds: broken.length === 0, says: broken.length === 0 ? says : broken.join('; ') };
  });
}

/** Of a damaged file nobody asks them. */
export function uncheckedInvariants(): readonly InvariantResult[] {
  return Object.entries(INVARIANTS).map(([id, says]) => ({ id, holds: null, says }));
}
