/** What a step must answer: the members that are named, as deep as they are named; the rest is free. */

/** What is not as expected, in words; empty when all is. `at` is where it stands, `data.0.status`. */
export function differences(expected: unknown, found: unknown, at = ''): readonly string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(found)) return [different(expected, found, at)];
    if (found.length !== expected.length)
      return [`${at || 'it'} has ${found.length} entries, ${expected.length} expected`];
    return expected.flatMap((entry, nth) => differences(entry, found[nth], inner(at, String(nth))));
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof found !== 'object' || found === null) return [different(expected, found, at)];
    const members = found as Readonly<Record<string, unknown>>;
    return Object.entries(expected).flatMap(([name, value]) => differences(value, members[name], inner(at, name)));
  }
  return Object.is(expected, found) ? [] : [different(expected, found, at)];
}

function inner(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function different(expected: unknown, found: unknown, at: string): string {
  const is = found === undefined ? 'is missing' : `is ${JSON.stringify(found)}`;
  return `${at || 'it'} ${is}, ${JSON.stringify(expected)} expected`;
}
