/** Rows of a checked input, kept as the bytes of their values: as objects a hundred thousand of them are a burden. */
import type { PlannedRow, Rows } from '../journal/types.ts';

type Values = Readonly<Record<string, unknown>>;

export interface PackedRows {
  push(row: PlannedRow): void;
  readonly rows: Rows<PlannedRow>;
}

/** Rows that are made again together. */
const TOGETHER = 256;

/** `make` makes a row of its number and input again, as it was. */
export function createPackedRows(make: (row: number, input: Values) => PlannedRow): PackedRows {
  const packed: Buffer[] = [];
  let loose: (readonly [row: number, input: Values])[] = [];
  let length = 0;
  return {
    push({ row, input }) {
      loose.push([row, input]);
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
          for (const [row, input] of JSON.parse(bytes.toString()) as typeof loose) yield make(row, input);
        }
        for (const [row, input] of loose) yield make(row, input);
      },
    },
  };
}
