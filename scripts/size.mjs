/**
 * Prints how much there is: lines and files of each capability, words of the documents, lines of tests. Beside each
 * figure stands the one in size.json; one that has grown beyond it ends this with 1. `--commit` writes the figures of
 * today there. Files are those that git knows or would know.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import process from 'node:process';

/** Capability to its folders of src/. A folder that is not named counts as "in no row". */
const CAPABILITIES = {
  contract: ['contract'],
  client: ['client'],
  'journal, shared journal, approvals, limits, bulk, writes, audit': [
    ...['journal', 'journal', 'team', 'postgres', 'approvals', 'limits', 'bulk', 'writes', 'audit'],
  ],
  sandbox: ['sandbox'],
  commands: ['commands'],
  'cli, app': ['cli', 'app', 'compose.ts', 'main.ts', 'loader.ts'],
  'terminal, writers, files and small folders': [
    ...['terminal', 'writers', 'files', 'core', 'platform', 'engine', 'profile', 'id-cache', 'events', 'scenario'],
    'library',
  ],
  'mirror, books': ['mirror', 'books'],
  fleet: ['fleet'],
  inspector: ['inspector'],
};
const OTHER = 'in no row of scripts/size.mjs';
/** Kind to what its paths begin with. */
const DOCUMENTS = {
  'design pages': /^docs\/design\//,
  guides: /^docs\/(?:guide\/|[^/]+$)/,
  decisions: /^docs\/decisions\//,
  'pages at the top': /^(?!CHANGELOG)[^/]+$/,
  changelog: /^CHANGELOG/,
  'pages beside code and tests': /^(?:src|test(?!\/transcripts))\//,
};

const figuresFile = new URL('size.json', import.meta.url);
const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: new URL('..', import.meta.url),
});
const texts = new Map();
for (const path of tracked.toString().split('\0')) {
  if (!/^(?:src|test|scripts|packaging)\/.*\.(?:m?[jt]s|cjs|tsx)$|\.md$/.test(path) || texts.has(path)) continue;
  try {
    texts.set(path, readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
  } catch {
    // Removed here, and not in the index yet.
  }
}

const linesOf = paths => paths.reduce((sum, path) => sum + texts.get(path).split('\n').length - 1, 0);
const wordsOf = paths => paths.reduce((sum, path) => sum + texts.get(path).split(/\s+/).filter(Boolean).length, 0);
const pathsOf = pattern => [...texts.keys()].filter(path => pattern.test(path));

const sources = pathsOf(/^src\/.*\.tsx?$/);
const capabilityOf = path => {
  const [, folder] = path.split('/');
  return Object.keys(CAPABILITIES).find(name => CAPABILITIES[name].includes(folder)) ?? OTHER;
};
const bySize = sources.map(path => linesOf([path])).sort((a, b) => a - b);

const today = {};
for (const name of [...Object.keys(CAPABILITIES), OTHER]) {
  const own = sources.filter(path => capabilityOf(path) === name);
  today[`lines: ${name}`] = linesOf(own);
  today[`files: ${name}`] = own.length;
}
today['lines: all of src'] = linesOf(sources);
today['files: all of src'] = sources.length;
today['exports with one importer'] = exportsWithOneImporter();
for (const [kind, pattern] of Object.entries(DOCUMENTS)) {
  today[`words: ${kind}`] = wordsOf(pathsOf(pattern).filter(path => path.endsWith('.md')));
}
today['lines: tests'] = linesOf(pathsOf(/^test\/.*\.(?:m?[jt]s|cjs|tsx)$/));
today['lines: scripts and packaging'] = linesOf(pathsOf(/^(?:scripts|packaging)\//));

const committed = JSON.parse(readFileSync(figuresFile, 'utf8'));
const width = Math.max(...Object.keys(today).map(name => name.length));
const cell = value => String(value ?? '-').padStart(9);
process.stdout.write(`${' '.repeat(width)}${cell('today')}${cell('before')}\n`);
const grown = [];
for (const [name, value] of Object.entries(today)) {
  const isGrown = value > (committed[name] ?? 0);
  if (isGrown) grown.push(name);
  process.stdout.write(`${name.padEnd(width)}${cell(value)}${cell(committed[name])}${isGrown ? '  grown' : ''}\n`);
}
process.stdout.write(`${'median file of src, in lines'.padEnd(width)}${cell(bySize[bySize.length >> 1])}\n`);
if (process.argv.includes('--commit')) {
  writeFileSync(figuresFile, `${JSON.stringify(today, undefined, 2)}\n`);
} else if (grown.length > 0) {
  process.stderr.write(`Make it smaller elsewhere, or say why in the commit of \`npm run size -- --commit\`.\n`);
  process.exitCode = 1;
}

/** How many exported names are imported by name in exactly one other file of src/. */
function exportsWithOneImporter() {
  const importers = new Map();
  for (const path of sources) {
    const imports =
      /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'(\.[^']*)'|\{([^{}]*)\}\s*=\s*await\s+import\(\s*'(\.[^']*)'/g;
    for (const [, names, from, names2, from2] of texts.get(path).matchAll(imports)) {
      const target = posix.join(posix.dirname(path), from ?? from2);
      for (const word of (names ?? names2).split(',')) {
        const name = word
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+|\s*:/)[0];
        if (name === '') continue;
        const key = `${target} ${name}`;
        importers.set(key, (importers.get(key) ?? new Set()).add(path));
      }
    }
  }
  return [...importers.values()].filter(({ size }) => size === 1).length;
}
