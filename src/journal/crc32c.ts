/** CRC-32C (Castagnoli): finds every flipped byte and every burst of up to 32 bits in a record of the journal. */

const POLYNOMIAL = 0x82f63b78;

const TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

/** Eight lowercase hexadecimal digits. */
export function crc32c(bytes: Uint8Array): string {
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ (TABLE[(value ^ byte) & 0xff] ?? 0);
  return ((value ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0');
}
