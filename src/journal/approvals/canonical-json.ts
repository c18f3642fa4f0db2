/** The one text of a value: members sorted, whole numbers alone, text in NFC. What is signed has no second spelling. */

/** Throws `TypeError` for what has no such text: fractions, numbers beyond 2^53, text that is not NFC. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return wholeNumber(value);
  if (typeof value === 'string') return normalText(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`${typeof value} has no canonical text`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${normalText(name)}:${canonicalJson(member)}`).join(',')}}`;
}

/** The value of a canonical text. Throws `TypeError` for every other spelling of it, and for what is no JSON. */
export function readCanonicalJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    throw new TypeError('it is no JSON', { cause });
  }
  // Members that stand twice, `1e3`, spaces and another order all come out otherwise.
  if (canonicalJson(value) !== text) throw new TypeError('it is not written in the one canonical form');
  return value;
}

function wholeNumber(value: number): string {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) throw new TypeError(`${value} is no whole number`);
  return String(value);
}

function normalText(text: string): string {
  if (text.normalize('NFC') !== text || !text.isWellFormed()) throw new TypeError('a text is not in the form NFC');
  return JSON.stringify(text);
}
