/**
 * `npm run audit:bundled`: asks the registry for known holes, and fails for those in packages that reach a user: what the
 * build puts into dist/ (dist/notices.txt names it), what the package depends on, and what those need in turn. The
 * lock file decides the versions. Tools that only build and test are left to `npm audit` itself.
 *
 * With a file as argument the report is read from there instead: the output of `npm audit --json`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const read = name => readFileSync(join(root, name), 'utf8');

/** Places in the lock file of what reaches a user. */
function shipped() {
  const { packages } = JSON.parse(read('package-lock.json'));
  const notices = read('dist/notices.txt').matchAll(/(?:^|-{72}\n\n)(\S+) (\S+) \(/g);
  const bundled = new Set([...notices].map(([, name, version]) => `${name}@${version}`));
  if (bundled.size === 0) throw new Error('dist/notices.txt names no package: npm run build');
  return Object.entries(packages)
    .filter(([path, { version, dev }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return path !== '' && (dev !== true || bundled.has(`${name}@${version}`));
    })
    .map(([path]) => path);
}

function report() {
  const file = process.argv[2];
  if (file !== undefined) return JSON.parse(readFileSync(file, 'utf8'));
  const words = ['audit', '--json', '--package-lock-only'];
  const { stdout, error } = spawnSync('npm', words, {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  const answer = JSON.parse(stdout);
  // Without an answer nothing is known, and nothing known must not look like nothing found.
  if (answer.vulnerabilities === undefined) throw new Error(`npm audit gave no report: ${stdout.slice(0, 300)}`);
  return answer;
}

const places = new Set(shipped());
const found = Object.values(report().vulnerabilities).filter(({ nodes }) => nodes.some(node => places.has(node)));
for (const { name, severity, range, via } of found) {
  const titles = via.map(each => (typeof each === 'string' ? `through ${each}` : `${each.title} ${each.url}`));
  process.stdout.write(`${name} ${range} (${severity}): ${titles.join('; ')}\n`);
}
process.stdout.write(`${places.size} packages reach a user, ${found.length} with known holes\n`);
if (found.length > 0) process.exitCode = 1;
