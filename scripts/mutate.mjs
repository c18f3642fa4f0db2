/**
 * Plants one mistake at a time in a copy of the sources and runs the tests that should see it: the share that is seen is
 * the mutation score. `node scripts/mutate.mjs [--most 60] [--seed 1] [--of src/books] [--tests test/books,test/writers]`.
 * Mistakes are chosen at random, the same for the same seed; those that nobody saw are printed with file and line. Some of
 * them change nothing that can be seen, so a score of 100 % is out of reach.
 */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    most: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    at: { type: 'string' },
    of: { type: 'string', default: 'src/books' },
    tests: { type: 'string', default: 'test/books,test/writers' },
  },
});

/** What stands in the source, and the mistake in its place. */
const MISTAKES = [
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ \+= /g, ' -= '],
  [/ -= /g, ' += '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/Math\.max\(/g, 'Math.min('],
  [/Math\.min\(/g, 'Math.max('],
  [/\bcontinue;/g, ';'],
];
/** A run that takes so many times as long as without a mistake never ends. */
const PATIENCE = 5;
/** Stories over HTTP: too slow for a run a mistake, and busy machines fail them. */
const SLOW = ['--exclude', '**/over-http*'];
const CONFIG = 'mutants.config.mjs';
const root = join(import.meta.dirname, '..');

function mistakesIn(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const found = [];
  let at = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const code = withoutTexts(line);
    // Types are gone when the tests run, and comments were never there.
    if (!/^\s*(?:\*|\/\*|\/\/|import |export (?:interface|type)|interface |type |readonly |\|)/.test(line)) {
      for (const [is, becomes] of MISTAKES) {
        for (const match of code.matchAll(is)) {
          found.push({ file, line: index + 1, at: at + match.index, is: match[0], becomes });
        }
      }
    }
    at += line.length + 1;
  }
  return found;
}

/** Texts blanked out, and what follows `//`: what is said to people is not a rule. */
function withoutTexts(line) {
  const blank = match => ' '.repeat(match.length).replace(/^.|.$/g, '"');
  return line.replace(/'[^']*'|`[^`]*`|"[^"]*"/g, blank).replace(/ \/\/.*$/, '');
}

/** Some of them, spread over all by a generator that follows from the seed. */
function sample(all, most, seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const left = [...all];
  const chosen = [];
  while (chosen.length < most && left.length > 0) chosen.push(...left.splice(Math.floor(next() * left.length), 1));
  return chosen;
}

function copied() {
  const folder = mkdtempSync(join(tmpdir(), 'cardwright-mutants-'));
  for (const name of [
    'src',
    'test',
    'examples',
    'docs',
    '.ci',
    'package.json',
    'tsconfig.json',
    'tsconfig.room.json',
  ]) {
    const filter = from => basename(from) !== 'node_modules';
    cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  }
  for (const packages of ['node_modules', 'test/postgres/node_modules']) {
    if (existsSync(join(root, packages))) symlinkSync(join(root, packages), join(folder, packages));
  }
  // Without what the whole suite needs around it. A database is started by the first test that asks for one.
  writeFileSync(
    join(folder, CONFIG),
    `export default {
  define: { CARDWRIGHT_VERSION: '"0.0.0-test"' },
  test: {
    globalSetup: [${JSON.stringify(join(root, 'scripts', 'test-postgres.mjs'))}],
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
  },
};\n`,
  );
  return folder;
}

/** `seen` when a test failed, `endless` when the run did not end: a loop without an end has been seen as well. */
function judged(folder, tests, patienceMs) {
  return new Promise(resolve => {
    const runner = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const child = spawn(process.execPath, [runner, 'run', '--config', CONFIG, '--bail', '1', ...SLOW, ...tests], {
      cwd: folder,
      stdio: 'ignore',
      // A group of its own: a worker in a loop without an end would outlive the runner.
      detached: true,
    });
    let isEndless = false;
    const end = () => {
      isEndless = true;
      process.kill(-child.pid, 'SIGKILL');
    };
    const timer = patienceMs === undefined ? undefined : setTimeout(end, patienceMs);
    child.on('exit', code => {
      clearTimeout(timer);
      resolve(isEndless ? 'endless' : code === 0 ? 'not seen' : 'seen');
    });
  });
}

const tests = values.tests.split(',');
const files = readdirSync(join(root, values.of), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => join(values.of, name));
const all = files.flatMap(mistakesIn);
const lines = values.at?.split(',');
const chosen =
  lines === undefined
    ? sample(all, Number(values.most), Number(values.seed))
    : all.filter(({ file, line }) => lines.includes(`${file}:${line}`));
const folder = copied();
try {
  const begun = performance.now();
  if ((await judged(folder, tests)) !== 'not seen') throw new Error('the tests fail without a mistake in the sources');
  const patienceMs = PATIENCE * (performance.now() - begun);
  const counts = { seen: 0, endless: 0, 'not seen': 0 };
  for (const { file, at, is, becomes, line } of chosen) {
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.slice(0, at) + becomes + text.slice(at + is.length));
    const how = await judged(folder, tests, patienceMs);
    counts[how] += 1;
    if (how !== 'seen') process.stdout.write(`${how}: ${file}:${line}  ${is.trim()} -> ${becomes.trim()}\n`);
    writeFileSync(join(folder, file), text);
  }
  const seen = counts.seen + counts.endless;
  const score = ((100 * seen) / chosen.length).toFixed(1);
  const endless = counts.endless > 0 ? `, ${counts.endless} of them by a run that did not end` : '';
  process.stdout.write(`${seen} of ${chosen.length} mistakes seen${endless} (${all.length} possible): ${score} %\n`);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
