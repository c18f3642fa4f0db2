/** What the structure of records shows before any balance is looked at. */

export type StructureKind =
  | 'fx'
  | 'tip'
  | 'over_settled'
  | 'partial'
  | 'force_post'
  | 'late_refund'
  | 'fee'
  | 'duplicate'
  | 'over_refund'
  | 'record_changed'
  | 'record_gone'
  | 'record_moved'
  /** An authorization is settled and no settlement of it is listed: where a missing record is looked for first. */
  | 'settlement_not_listed';

/** Something that records show by themselves, before any balance is looked at. */
export interface Structure {
  readonly kind: StructureKind;
  readonly card_id: string;
  /** Signed effect on the card, integer cents; of `record_changed` the new effect less the old one. */
  readonly cents: number;
  readonly records: readonly string[];
  /** `record_moved`: the card the record belongs to. */
  readonly other_card?: string;
  /** The base has no such record: that it went or changed is only wrong where the sums miss it. */
  readonly isAfterBase?: boolean;
}
