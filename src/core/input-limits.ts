/** How much of what the program is given to read it takes, in bytes or characters; `help scripting` tells it from here. */

const MEBIBYTE = 1024 * 1024;

/** Bytes that are kept whole: a scenario, a payload, overrides, ids on standard input. */
export const WHOLE_INPUT_BYTES = 16 * MEBIBYTE;
/** Bytes of rows, in a file or through a pipe. */
export const ROWS_BYTES = 256 * MEBIBYTE;
/** Characters of a line of NDJSON, and of a field of CSV. */
export const LONGEST_LINE = 1_000_000;
/** Bytes of an API key with what stands around it in its file, or as its program prints it. */
export const KEY_TEXT_BYTES = 4096;
/** Bytes of the body of a request in the caller's own words, with room to spare. */
export const RAW_BODY_BYTES = 256 * 1024;
/** Characters of the path of a request in the caller's own words, with its query: what every HTTP server takes. */
export const RAW_PATH_CHARACTERS = 8_000;
/** Steps of a scenario. */
export const SCENARIO_STEPS = 1_000;

/** `16 MB`, `256 KB`, `4,096 bytes`. */
export function sizeText(bytes: number): string {
  if (bytes % MEBIBYTE === 0) return `${bytes / MEBIBYTE} MB`;
  return bytes >= 10_240 && bytes % 1024 === 0 ? `${bytes / 1024} KB` : `${bytes.toLocaleString('en-US')} bytes`;
}

/** All the bytes; undefined where there are more than `most`, and then the reading ends: what comes may have no end. */
export async function bytesWithin(pieces: AsyncIterable<Uint8Array>, most: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > most) return undefined;
    parts.push(piece);
  }
  return Buffer.concat(parts);
}
