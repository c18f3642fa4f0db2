/** Every piece of the built program begins: one that is not met by a short run may fail at its first use. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { ROOT } from './built.ts';

type Piece = (module: { exports: unknown }, exports: unknown) => void;
type Load = ((number: number | string) => unknown) & { read: (name: string) => Buffer };

const DIST = join(ROOT, 'dist');
const require = createRequire(join(DIST, 'main.js'));
const NODE = new Proxy({}, { get: (_, name) => require(`node:${String(name)}`) });

test('each begins, whatever names a package has of its own', () => {
  const pieces = new Map<string, Piece>();
  const made = new Map<string, { exports: unknown }>();
  const load: Load = Object.assign(
    (number: number | string) => {
      const name = String(number);
      const known = made.get(name);
      if (known !== undefined) return known.exports;
      const module = { exports: {} };
      made.set(name, module);
      pieces.get(name)?.(module, module.exports);
      return module.exports;
    },
    { read: (name: string) => readFileSync(join(DIST, name)) },
  );
  const files = readdirSync(DIST).filter(
    name => name.endsWith('.js') && !['main.js', 'keep-code.js', 'jq.js'].includes(name),
  );
  for (const file of files) {
    const filename = join(DIST, file);
    const opened: Readonly<Record<string, Piece>> = runInThisContext(readFileSync(filename, 'utf8'), { filename })(
      require,
      filename,
      load,
      NODE,
    );
    for (const [name, piece] of Object.entries(opened)) pieces.set(name, piece);
  }
  expect(pieces.size).toBeGreaterThan(100);
  // The first one runs the program.
  const names = [...pieces.keys()].filter(name => name !== '0');
  const broken = names.flatMap(name => {
    try {
      load(name);
      return [];
    } catch (thrown) {
      return [`${name}: ${thrown}`];
    }
  });
  expect(broken).toEqual([]);
});
