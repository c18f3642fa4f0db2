/**
 * Runs every benchmark and prints its table: start-up, one request and lists, a long list, bulk runs, the sandbox, looking into a large one, the books, fleets, a shared journal, each beside the
 * peers that are installed. `npm run bench -- start` runs one of them; words after its name are its own options.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const BENCHES = {
  start: 'bench-start.mjs',
  list: 'bench-list.mjs',
  bulk: 'bench-bulk.mjs',
  sandbox: 'bench-sandbox.mjs',
  inspector: 'bench-inspector.mjs',
  books: 'bench-books.mjs',
  fleet: 'bench-fleet.mjs',
  team: 'bench-team.mjs',
};

const [name, ...options] = process.argv.slice(2);
if (name !== undefined && BENCHES[name] === undefined) {
  throw new Error(`there is no benchmark ${name}: ${Object.keys(BENCHES).join(', ')}`);
}
for (const wanted of name === undefined ? Object.keys(BENCHES) : [name]) {
  process.stdout.write(`\n## ${wanted}\n\n`);
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, BENCHES[wanted]), ...options], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
