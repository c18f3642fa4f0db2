/** Rows of a checked input, kept as the bytes of their values: as objects a hundred thousand of them are a burden. */
import type { PlannedRow, Rows } from '../journal/types.ts';

type Values = Readonly<Record<string, unknown>>;

export interface PackedRows {
  push(row: PlannedRow): void;
  readonly rows: Rows<PlannedRow>;
}

/** Rows that are made again together. */
const TOGETHER = 256;

/** What a row has beside its input, and most have not. */
export type RowExtras = Pick<PlannedRow, 'intent' | 'asked'>;
type Packed = readonly [row: number, input: Values, extras?: RowExtras];

/** `make` makes a row of its number and input again, as it was. */
export function createPackedRows(
  make: (row: number, input: Values, extras: RowExtras | undefined) => PlannedRow,
): PackedRows {
  const packed: Buffer[] = [];
  let loose: Packed[] = [];
  let length = 0;
  return {
    push({ row, input, intent, asked }) {
      const isPlain = intent === undefined && asked === undefined;
      loose.push(
        isPlain ? [row, input] : [row, input, { ...(intent !== undefined && { intent }), ...(asked && { asked }) }],
      );
      length += 1;
      if (loose.length < TOGETHER) return;
      packed.push(Buffer.from(JSON.stringify(loose)));
      loose = [];
    },
    rows: {
      get length() {
        return length;
      },
      *[Symbol.iterator]() {
        for (const bytes of packed) {
          for (const [row, input, extras] of JSON.parse(bytes.toString()) as typeof loose) {
            yield make(row, input, extras);
          }
        }
        for (const [row, input, extras] of loose) yield make(row, input, extras);
      },
    },
  };
}
