/** Why a part of a logged request is not kept as it was sent, in a word and as it is shown. */
const REASONS = {
  secret: 'may hold a secret or a card number',
  address: 'of an address only the origin is kept',
  unknown_field: 'no field of this operation',
  too_long: 'longer than is kept',
  not_json: 'not a JSON object',
} as const;

export type NotKeptReason = keyof typeof REASONS;
export const NOT_KEPT_REASONS = Object.keys(REASONS) as readonly NotKeptReason[];

/** A part that is not kept as it was sent: `idempotency_key`, `body.label`. */
export interface NotKept {
  readonly part: string;
  /** One of the reasons, or that of a newer cardwright. */
  readonly why: string;
}

/** `body.label (may hold a secret or a card number); body.url (…)` */
export const notKeptText = (parts: readonly NotKept[]): string =>
  parts.map(({ part, why }) => `${part} (${reasonText(why)})`).join('; ');

/** What stands in place of a body that is not there: `11 bytes, not a JSON object: not kept`. */
export function absentBodyText(bytes: number | null, parts: readonly NotKept[]): string | undefined {
  const reason = parts.find(({ part }) => part === 'body')?.why;
  if (reason === undefined) return undefined;
  return `${bytes === null ? 'of unknown length' : `${bytes} bytes`}, ${reasonText(reason)}: not kept`;
}

const reasonText = (why: string) => (REASONS as Readonly<Record<string, string>>)[why] ?? why;
