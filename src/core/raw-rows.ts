/** Rows of a list as the service wrote them, from the reader of its pages to the writer of the output. */

/** A member of the rows, as it stands in their text: sources of regular expressions over Latin-1. */
export interface RawMember {
  readonly name: string;
  readonly value: string;
  /** Some rows do not have it. */
  readonly isOptional: boolean;
}

/** Rows as JSON text, without white space: the same members in the same order in each. */
export interface RawRows {
  readonly count: number;
  readonly members: readonly RawMember[];
  /** The page as it came, its UTF-8 read as Latin-1: places in it are places in the bytes. */
  readonly text: string;
  /** Where row `index` begins and ends. */
  begin(index: number): number;
  end(index: number): number;
  /** JSON text of one row. */
  row(index: number): string;
  /** Begin and end of the id of each row, quotes included; undefined where rows have none. */
  readonly ids: Int32Array | undefined;
  readonly bytes: Uint8Array;
  /** All rows as UTF-8, a line each. */
  lines(): Uint8Array;
}

type SourceOf = (member: RawMember) => string;

/**
 * The source of an expression that matches one row. Sticky and over Latin-1, it goes through a page several times as
 * fast as a loop over its bytes.
 */
export function rowPattern(members: readonly RawMember[], sourceOf?: SourceOf): string {
  return `\\{${membersPattern(members, sourceOf)}\\}`;
}

/** The same without the braces. */
export function membersPattern(members: readonly RawMember[], sourceOf: SourceOf = ({ value }) => value): string {
  const parts = members.map((member, index) => {
    const part = `${index === 0 ? '' : ','}${namePattern(member.name)}(?:${sourceOf(member)})`;
    return member.isOptional ? `(?:${part})?` : part;
  });
  return parts.join('');
}

/** The name of a member and its colon, as the bytes of their UTF-8. */
export function namePattern(name: string): string {
  const text = Buffer.from(JSON.stringify(name)).toString('latin1');
  return `${text.replace(/[^\w"]/g, character => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)}:`;
}
