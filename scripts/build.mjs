/**
 * Builds dist/. esbuild splits the program where it imports dynamically; the pieces are then packed into few files,
 * because each file costs a quarter of a millisecond at start: start.js (what every run needs), one file for what each of
 * a few common runs loads besides, one for each room and each group of commands, one for the rest of our code, and one for
 * each package. main.js opens them (loader/open-files.cjs): a piece runs when something of it is first used, and V8's
 * compiled code is kept in the cache folder of the user. All of it becomes CommonJS, which Node 20 starts faster. Only the
 * SQLite package stays outside, for its prebuilt binary. Another folder than dist/ can be named as the argument;
 * `--compiled` keeps compiled code beside the files, for the executable, which brings its own Node. The manual pages are
 * written to man/.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compileFunction } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import { CHANGED, withoutUnused } from './without-unused.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: wished, positionals } = parseArgs({
  allowPositionals: true,
  options: { compiled: { type: 'boolean', default: false } },
});
const outdir = resolve(root, positionals[0] ?? 'dist');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** The parser of undici, bytes in place of text: with SIMD, and for machines without. */
const wasm = new Map();
const withWasmBeside = {
  name: 'with-wasm-beside',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/]llhttp[\\/]llhttp(?:_simd)?-wasm\.js$/ }, ({ path }) => {
      const name = basename(path).replace('-wasm.js', '.wasm');
      wasm.set(name, createRequire(import.meta.url)(path));
      return { contents: `module.exports=BUNDLED_FILE(${JSON.stringify(name)})` };
    });
  },
};

/** A library is one file, so the parser is text in it: once, without SIMD, which is another 72 kB. */
const withOneParser = {
  name: 'with-one-parser',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/]llhttp[\\/]llhttp_simd-wasm\.js$/ }, () => ({
      contents: `module.exports = require('./llhttp-wasm.js')`,
    }));
  },
};

/** The driver of PostgreSQL is a file beside the client, which loads it when a journal in a database is used. */
const DRIVER = 'library-pg.cjs';
const DRIVER_MODULE = 'pg/lib/client.js';
const withDriverBeside = {
  name: 'with-driver-beside',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^${DRIVER_MODULE}$`) }, () => ({ path: `./${DRIVER}`, external: true }));
  },
};

const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['@photostructure/sqlite'],
  define: {
    CARDWRIGHT_VERSION: JSON.stringify(version),
    BUNDLED_FILE: '$piece.read',
    CODE_CACHE: '$piece.codeCache',
    'import.meta.url': 'CARDWRIGHT_FILE_URL',
  },
  plugins: [withoutUnused, withWasmBeside],
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  outdir,
  metafile: true,
  write: false,
});

/** The file a run begins with; esbuild gives its piece the same name. */
const MAIN = 'main.js';
/** The piece a run begins with, and everything it imports. */
const START = 'start.js';
/** Rooms that nearly every command needs share core.js; each other room has a file of its own. */
const CORE = ['cli', 'contract'];
/** Runs of `record-code.cjs`, and the file for what each loads of our rooms and none before it does. */
const FILE_OF_RUN = {
  '__complete zsh --sandbox cards get card_': 'completion.js',
  '__complete zsh cards ': 'completion.js',
  'cards list --json': 'request.js',
  '--sandbox wallet': 'sandbox.js',
  '--sandbox cards create --bin auto --amount 5': 'journal.js',
};
/** Numbers of the pieces that any of these runs loads; none until they ran. */
const usual = new Set();
/** esbuild's own few functions, which it puts before every piece; ours stand once in a file. */
let prelude = '';
const nodeModules = new Set();
const pieces = new Map();
/** Pieces are numbers in the program, the first one 0: their names would be a third of the file that every run reads. */
const names = outputFiles.map(({ path }) => basename(path)).sort((a, b) => (b === MAIN) - (a === MAIN));
for (const { path, text } of outputFiles) {
  const facts = metafile.outputs[relative(root, path)];
  pieces.set(basename(path), { ...(await commonJs(text)), facts });
}
for (const [name, { own }] of pieces) {
  // A name of ours at the top of a piece makes esbuild number its own local of that name.
  const plain = text => text.replace(/\b(key|all|target)\d+\b/g, '$1');
  const missing = own.split(/;(?=var )/).find(part => !plain(prelude).includes(plain(part.replace(/;$/, ''))));
  if (missing !== undefined) throw new Error(`${name}: a function of esbuild stands in no other piece: ${missing}`);
}
const atStart = reachedFrom(MAIN);
// Help pages as text: most of the time of a page is that of making it.
const { everyPage } = await loaded('src/cli/docs/every-page.ts');
const { REGISTRY } = await loaded('src/commands/registry.ts');
const loader = await loaderParts();
const beside = [
  ...wasm,
  ['package.json', '{ "type": "commonjs" }\n'],
  ['pages.txt', await everyPage(REGISTRY)],
  ['keep-code.js', loader.keep],
];
const packs = await packsByUse(groupBy(pieces.keys(), packOf));

await mkdir(outdir, { recursive: true });
const inspectorInputs = [];
const page = await inspectorPage();
const inputs = [...Object.keys(metafile.inputs), ...inspectorInputs, 'node_modules/jq-web/jq.js'];
const written = new Map([...programOf(packs), ['inspector.json', page], ['notices.txt', await notices(inputs)]]);
// jq runs in a thread of its own, which is handed these two.
const jq = join(root, 'node_modules', 'jq-web');
const { code: jqText } = await transform(await readFile(join(jq, 'jq.js'), 'utf8'), { minify: true, format: 'cjs' });
written.set('jq.js', jqText).set('jq.wasm', await readFile(join(jq, 'jq.wasm')));
// What other programs import: one file that loads nothing else of ours, and its types: as they were written, then what
// the rows say.
const { contractTypes } = await loaded('src/contract/typescript.ts');
const { sandboxMethodTypes } = await loaded('src/contract/sandbox/typescript.ts');
const sandboxTypes = await readFile(join(root, 'src', 'sandbox', 'serving', 'library-types.ts'), 'utf8');
const clientTypes = await readFile(join(root, 'scripts', 'library-client.d.cts'), 'utf8');
// One copy of the sandbox: the client's entry loads it when it is asked for.
const sandboxToo = 'module.exports.startSandbox=options=>require("./library-sandbox.cjs").startSandbox(options);\n';
written
  .set('library-sandbox.cjs', await libraryText('src/sandbox/serving/library.ts'))
  .set('library-sandbox.d.cts', `${sandboxTypes}\n${sandboxMethodTypes()}`)
  .set('library-client.cjs', (await libraryText('src/library/client.ts', [withDriverBeside])) + sandboxToo)
  .set(DRIVER, await libraryText(DRIVER_MODULE))
  .set('library-client.d.cts', `${clientTypes}\n${contractTypes()}`);
// What is left of the last build goes first; a program may be starting from this folder meanwhile.
for (const name of await readdir(outdir)) {
  if (!written.has(name)) await rm(join(outdir, name), { recursive: true });
}
for (const [name, text] of written) await writeFile(join(outdir, name), text);
if (wished.compiled) await keepCompiled();
await writeManual();

async function libraryText(entry, plugins = []) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    external: ['@photostructure/sqlite'],
    plugins: [...plugins, withoutUnused, withOneParser],
    define: { CARDWRIGHT_VERSION: JSON.stringify(version), 'import.meta.url': 'CARDWRIGHT_FILE_URL' },
    banner: { js: 'const CARDWRIGHT_FILE_URL=require("node:url").pathToFileURL(__filename).href;' },
    minify: true,
    // Errors say their class, and stacks the function.
    keepNames: true,
    legalComments: 'none',
    write: false,
  });
  return outputFiles[0].text;
}

/** The inspector's page: its files with their types in one file, the tables of rows and commands inside of its script. */
async function inspectorPage() {
  const { pageTables } = await loaded('src/cli/docs/page-tables.ts');
  const folder = join(root, 'src', 'inspector', 'page');
  const { outputFiles: made, metafile: of } = await build({
    absWorkingDir: root,
    entryPoints: { app: join(folder, 'app.tsx'), style: join(folder, 'app.css') },
    outdir: join(outdir, 'inspector'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    target: ['es2022', 'chrome123', 'firefox120', 'safari17.5'],
    define: { PAGE_TABLES: JSON.stringify(await pageTables(REGISTRY, version)) },
    minify: true,
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  const text = end => made.find(({ path }) => path.endsWith(end)).text;
  inspectorInputs.push(...Object.keys(of.inputs));
  const utf8 = 'charset=utf-8';
  return JSON.stringify({
    'index.html': { type: `text/html; ${utf8}`, text: await readFile(join(folder, 'index.html'), 'utf8') },
    'app.js': { type: `text/javascript; ${utf8}`, text: text('app.js') },
    'app.css': { type: `text/css; ${utf8}`, text: text('style.css') },
    'icon.svg': { type: 'image/svg+xml', text: await readFile(join(folder, 'icon.svg'), 'utf8') },
  });
}

/** A module of src/, to be used here. */
async function loaded(entry) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    external: ['@photostructure/sqlite'],
    define: { CARDWRIGHT_VERSION: JSON.stringify(version) },
    logOverride: { 'empty-import-meta': 'silent' },
    write: false,
  });
  const module = { exports: {} };
  compileFunction(outputFiles[0].text, ['require', 'module'])(createRequire(import.meta.url), module);
  return module.exports;
}

/** A piece as the body of a function; what it imports of other pieces comes from `$piece`. */
async function commonJs(text) {
  // A variable of that name would stand in the way of ours in the whole of its piece: unset, until it is set.
  const [taken] = /\$(?:node\b|piece\b(?!\.(?:read|codeCache)\b))/.exec(text) ?? [];
  if (taken !== undefined) throw new Error(`a piece has the name ${taken} itself`);
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
  });
  const file = 'const CARDWRIGHT_FILE_URL=require("node:url").pathToFileURL(__filename).href;';
  const start = code.indexOf('var stdin_exports={};');
  const own = start < 0 ? '' : code.slice(0, start).replace('"use strict";', '');
  if (own.length > prelude.length) prelude = own;
  const linked = code
    .slice(Math.max(start, 0))
    .trimEnd()
    .replace(/0&&\(module\.exports=\{[^}]*\}\);$/, '')
    // What a piece exports is read where it is, and not from copies made for modules of another kind.
    .replace('var stdin_exports={};', 'var stdin_exports=exports;')
    .replace('module.exports=__toCommonJS(stdin_exports);', '')
    .replace(/\b__toESM\((require\("\.\/[\w-]+\.js"\))\)/g, '$1')
    .replace(/\brequire\("\.\/([\w-]+\.js)"\)/g, (_, name) => `$piece(${names.indexOf(name)})`);
  const whole = piecesWhenUsed(whenUsed(linked.includes('CARDWRIGHT_FILE_URL') ? file + linked : linked));
  return { own, code: await withShortNames(whole) };
}

/** As a script a piece keeps the names of its functions and classes, which stacks show; names inside of them get short. */
async function withShortNames(text) {
  const { code } = await transform(text, { minifyIdentifiers: true, minifyWhitespace: true, target: 'node20.19' });
  return code.trimEnd();
}

/**
 * Has Node's modules loaded at their first use and not where a piece begins: a room needs few of those it names, and the
 * heavy ones (crypto, http, child_process, fs/promises) bring ten others each. `$node` is what OPEN makes.
 */
function whenUsed(code) {
  let text = code;
  for (const [statement, name, module] of code.matchAll(/\bvar (import_\w+)=require\("node:([\w/]+)"\);/g)) {
    const member = new RegExp(`\\b${name}\\.(?=\\w)`, 'g');
    // One that is handed on as a whole stays as it is.
    if (text.match(new RegExp(`\\b${name}\\b`, 'g')).length !== text.match(member).length + 1) continue;
    nodeModules.add(module);
    text = text.replace(statement, '').replace(member, `$$node[${JSON.stringify(module)}].`);
  }
  return text;
}

/** The same for other pieces: a command runs few of those it could reach. None of them does anything but define. */
function piecesWhenUsed(code) {
  let text = code;
  for (const [statement, name, piece] of code.matchAll(/\bvar (import_\w+)=\$piece\((\d+)\);/g)) {
    const used = new RegExp(`\\b${name}\\.(?=\\w)`, 'g');
    text = text.replace(statement, `var ${name};`).replace(used, `(${name}??=$$piece(${piece})).`);
  }
  return text;
}

/** A piece and everything it imports statically. */
function reachedFrom(name, reached = new Set()) {
  if (reached.has(name)) return reached;
  reached.add(name);
  for (const { path, kind, external } of pieces.get(name).facts.imports) {
    if (kind === 'import-statement' && !external) reachedFrom(basename(path), reached);
  }
  return reached;
}

/** The file a piece goes to. A piece with code of a package belongs to the package that has most of it. */
function packOf(name) {
  if (atStart.has(name)) return START;
  const sizes = new Map();
  for (const [input, { bytesInOutput }] of Object.entries(pieces.get(name).facts.inputs)) {
    const owner = ownerOf(input);
    sizes.set(owner, (sizes.get(owner) ?? 0) + bytesInOutput);
  }
  const { entryPoint = '' } = pieces.get(name).facts;
  const [largest = ['core']] = [...sizes].sort((a, b) => b[1] - a[1]);
  const owner = /(?:^|\/)node_modules\/|^src\/commands\//.test(entryPoint) ? ownerOf(entryPoint) : largest[0];
  return `${owner.replace(/^@/, '').replace('/', '-')}.js`;
}

function ownerOf(input) {
  const named = folderOf(input)?.replace(/^.*node_modules\//, '');
  if (named !== undefined) return named;
  const [, room = 'core', part] = /^src\/([\w-]+)\/(\w+)/.exec(input) ?? [];
  if (room === 'commands') return `command-${part}`;
  return CORE.includes(room) ? 'core' : room;
}

/** The folder of the package an input is from, undefined for our own code. */
function folderOf(input) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** The same packs but for the pieces that common runs load. */
async function packsByUse(byRoom) {
  // Inside of the project, where the SQLite package is found.
  const folder = await mkdtemp(join(root, 'node_modules', '.cardwright-build-'));
  const loads = await piecesOfRuns(folder, byRoom).finally(() => rm(folder, { recursive: true }));
  for (const number of Object.values(loads).flat()) usual.add(Number(number));
  const fileOf = new Map();
  for (const [run, file] of Object.entries(FILE_OF_RUN)) {
    for (const number of loads[run]) if (!fileOf.has(names[number])) fileOf.set(names[number], file);
  }
  const isMoved = name => !atStart.has(name) && fileOf.has(name) && isOwnRoom(name);
  return groupBy(pieces.keys(), name => (isMoved(name) ? fileOf.get(name) : packOf(name)));
}

/** Command line of a run to the names of the pieces it loads. */
async function piecesOfRuns(folder, packs) {
  for (const [name, text] of programOf(packs)) await writeFile(join(folder, name), text);
  const problem = await record([join(folder, MAIN), join(folder, 'pieces.json')]);
  if (problem !== undefined) throw new Error(`the program does not run: ${problem}`);
  return JSON.parse(await readFile(join(folder, 'pieces.json'), 'utf8'));
}

/** No piece of a package, and no group of commands. */
function isOwnRoom(name) {
  const { inputs, entryPoint = '' } = pieces.get(name).facts;
  return !Object.keys(inputs).some(input => folderOf(input) !== undefined) && !entryPoint.startsWith('src/commands/');
}

/** The files that the program itself reads, by name. */
function programOf(packs) {
  const texts = new Map([...packs].map(([pack, names]) => [pack, packText(names)]));
  return new Map([...beside, ...texts, [MAIN, mainText(packs, texts)]]);
}

function mainText(packs, texts) {
  const files = [...packs.keys()];
  const places = names.map(name => files.findIndex(file => packs.get(file).includes(name)));
  // All others are ASCII, which as Latin-1 is not decoded.
  const wide = [...packs.keys()].filter(pack => /[^\0-\x7f]/.test(texts.get(pack)));
  // Compiled code is of these texts and no others: V8 compares lengths only.
  const bundle = hashOf([...texts.values()].join(''));
  const { commandWords } = loader;
  const tables = Object.entries({ files, places, wide, nodeModules: [...nodeModules], commandWords, bundle, version });
  const constants = tables.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join();
  return `"use strict";const ${constants};${loader.folders}${loader.open}`;
}

/**
 * The text of a file. V8 compiles a function in parentheses with the script. Of a piece that is nearly always used that
 * saves looking through its text twice where nothing is kept compiled yet: a twentieth of the first start.
 */
function packText(inPack) {
  const inside = inPack.map(name => {
    const number = names.indexOf(name);
    const body = `(module,exports){${pieces.get(name).code}}`;
    return usual.has(number) ? `${number}:(function${body})` : `${number}${body}`;
  });
  return `(function(require,__filename,$piece,$node){"use strict";${prelude}return{${inside.join(',\n')}}})\n`;
}

/**
 * Manual pages, which the package names and git does not keep; not for a build into another folder. npm links them where
 * `man` finds them, which reads them compressed: 0.16 MB less in the package.
 */
async function writeManual() {
  if (positionals.length > 0) return;
  const { manualPages } = await loaded('src/cli/docs/manual-pages.ts');
  const folder = join(root, 'man');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const [name, text] of await manualPages(REGISTRY))
    await writeFile(join(folder, `${name}.gz`), gzipSync(text, { level: 9 }));
}

/** What main.js is made of besides its tables, and what it writes compiled code with. */
async function loaderParts() {
  const text = async name => {
    const source = await readFile(join(root, 'scripts', 'loader', name), 'utf8');
    return (await transform(source, { minifySyntax: true, minifyWhitespace: true, target: 'node20.19' })).code;
  };
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/platform/folders.ts'],
    bundle: true,
    format: 'iife',
    globalName: 'folders',
    platform: 'node',
    target: 'node20.19',
    minify: true,
    write: false,
  });
  const leaves = await Promise.all(REGISTRY.map(group => group.leaves()));
  const words = new Set(leaves.flatMap(Object.keys).flatMap(path => path.split(' ')));
  // Options that make the same command use other code.
  for (const option of ['--help', '-h', '--version', '-V', '--json', '--sandbox', '__complete']) words.add(option);
  return {
    commandWords: [...words],
    folders: `${outputFiles[0].text};const{foldersFor}=folders;`,
    open: await text('open-files.cjs'),
    keep: await text('keep-code.cjs'),
  };
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** Runs what people run most, so that its code is kept compiled. The program works without. */
async function keepCompiled() {
  const problem = await record([join(outdir, MAIN)]);
  if (problem !== undefined) process.stderr.write(`build: not all code is kept compiled: ${problem}\n`);
}

/** Runs `record-code.cjs` in an empty home; returns what went wrong. */
async function record(words) {
  const home = await mkdtemp(join(tmpdir(), 'cardwright-build-'));
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:CARDWRIGHT_|NODE_OPTIONS$)/.test(name));
  const env = { ...Object.fromEntries(inherited), CARDWRIGHT_CONFIG_DIR: home, CARDWRIGHT_CACHE: 'off' };
  const script = join(root, 'scripts', 'record-code.cjs');
  const { status, stderr } = spawnSync(process.execPath, [script, ...words], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // What a completion keeps is refreshed by a process of its own, which on a slow machine is still writing.
  await rm(home, { recursive: true, force: true, maxRetries: 20 });
  return status !== 0 || stderr !== '' ? stderr : undefined;
}

/** Licences of the packages inside the bundle, which they ask to be kept with copies. */
async function notices(inputs) {
  const folders = new Set(inputs.map(folderOf).filter(Boolean));
  const parts = [];
  for (const folder of [...folders].sort()) {
    const { name, version: of, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
    const text = await licenceText(join(root, folder));
    const changed = name in CHANGED ? `Changed here: ${CHANGED[name]}\n\n` : '';
    parts.push(`${name} ${of} (${license})\n\n${changed}${text.trim()}\n`);
  }
  return parts.join(`\n${'-'.repeat(72)}\n\n`);
}

async function licenceText(folder) {
  const names = (await readdir(folder)).filter(name => /^licen[cs]e(?:[-.]|$)/i.test(name));
  for (const name of names.sort()) {
    const text = await readFile(join(folder, name), 'utf8').catch(error => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text !== undefined) return text;
  }
  throw new Error(`${relative(root, folder)} has no licence text, and its licence asks for it in every copy`);
}
