/** Outputs of the built program into a pipe, under the language, the zone and the colours of whoever runs it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Home, home } from './built.ts';

const LINES = ['tx list -o csv --limit 40', 'cards get no_such_card'];

let place: Home;
/** Outputs where nothing is set. */
let expected: readonly string[];

async function outputs(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const line of LINES) {
    const { code, out, err } = await place.run(['--sandbox', ...line.split(' ')], { env });
    // Each request has a number of its own.
    seen.push(`${line}: ${code}\n${out}${err.replace(/req_\w+/g, 'req')}`);
  }
  return seen;
}

export interface Outputs {
  readonly place: Home;
  readonly expected: readonly string[];
}

/** The same under each of these variables as where nothing is set. Returns what gives the home and the latter, in tests. */
export function sameUnder(places: readonly Readonly<Record<string, string>>[]): () => Outputs {
  beforeAll(async () => {
    place = await home();
    // The store is made once; its clock goes on, and pipes get times as they were written.
    await place.run(['--sandbox', 'wallet']);
    expected = await outputs({ LC_ALL: 'C.UTF-8', TZ: 'UTC' });
  });
  afterAll(() => place[Symbol.asyncDispose]());

  it.each(places.map(env => [`${env['LC_ALL'] || 'no locale'}, ${env['TZ']}`, env] as const))(
    'the same under %s',
    async (_, env) => {
      expect(await outputs(env)).toEqual(expected);
    },
  );
  return () => ({ place, expected });
}
