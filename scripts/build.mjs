/**
 * Builds dist/. esbuild splits the program where it imports dynamically; the pieces are then packed into few files,
 * because each file costs a quarter of a millisecond at start: main.js (what every run needs), one file for each room
 * that is not always needed, one for the rest of our code, and one for each package. A piece runs when it is first
 * asked for, and V8's compiled code is kept beside the files: compiling is a third of a short command. All of it becomes
 * CommonJS, which Node 20 starts faster. Only the SQLite package stays outside, for its prebuilt binary. Another folder
 * than dist/ can be named as the argument.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outdir = resolve(root, process.argv[2] ?? 'dist');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/**
 * Parts of undici that a client of HTTP/1.1 with text bodies never reaches, and that cost 8 ms at start: HTTP/2 (with
 * Node's own), the bodies of `fetch`, and Node's assert, which opens standard error to look for colours.
 */
const withoutUnused = {
  name: 'without-unused',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/](?:dispatcher[\\/]client-h2|web[\\/]fetch[\\/]body)\.js$/ }, () => ({
      contents: `const absent = () => { throw new Error('not part of this program') };
        module.exports = Object.assign(absent, { extractBody: absent });`,
    }));
    onResolve({ filter: /^node:assert$/ }, ({ path, importer }) =>
      /[\\/]undici[\\/]/.test(importer) ? { path, namespace: 'assert' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'assert' }, () => ({
      contents: `module.exports = (value, message) => {
        if (!value) throw message instanceof Error ? message : new Error(message ?? 'undici: assertion failed');
      };`,
    }));
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
    BUNDLED_FILE: 'load.read',
    'import.meta.url': 'CARDWRIGHT_FILE_URL',
  },
  plugins: [withoutUnused],
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  outdir,
  metafile: true,
  write: false,
});

const MAIN = 'main.js';
/** Rooms that nearly every command needs share core.js; each other room has a file of its own. */
const CORE = ['cli', 'contract'];
/**
 * Opens a file with the code compiled for this Node, where there is some; V8 compiles what does not fit. In the single
 * executable the files are assets, and CARDWRIGHT_ASSET, put before this by packaging/executable.mjs, gives their bytes.
 */
const OPEN = `
const {readFileSync}=require("node:fs"),{Script}=require("node:vm"),opened={__proto__:null};
const read=typeof CARDWRIGHT_ASSET==="function"?CARDWRIGHT_ASSET:name=>readFileSync(__dirname+"/"+name);
function open(file){if(opened[file])return opened[file];
const code=file+"."+hashes[file]+"-"+process.versions.v8+"-"+process.platform+"-"+process.arch,filename=__dirname+"/"+file,codeFile=__dirname+"/"+code;
let cachedData;try{cachedData=read(code)}catch{}
return opened[file]=new Script(read(file).toString(),{filename,codeFile,cachedData}).runInThisContext()(require,filename)}
function load(name){let module=made[name];if(module===undefined){made[name]=module={exports:{}};
(here[name]??open(places[name])[name])(module,module.exports,load)}return module.exports}
load.read=read;
load(${JSON.stringify(MAIN)});
`;

/** esbuild's own few functions, which it puts before every piece; ours stand once in a file. */
let prelude = '';
const pieces = new Map();
for (const { path, text } of outputFiles) {
  const facts = metafile.outputs[relative(root, path)];
  pieces.set(basename(path), { ...(await commonJs(text)), facts });
}
for (const [name, { own }] of pieces) {
  // A name of ours at the top of a piece makes esbuild number its own local of that name.
  const plain = text => text.replace(/\b(key|all)\d+\b/g, '$1');
  const missing = own.split(/;(?=var )/).find(part => !plain(prelude).includes(plain(part.replace(/;$/, ''))));
  if (missing !== undefined) throw new Error(`${name}: a function of esbuild stands in no other piece: ${missing}`);
}
const atStart = reachedFrom(MAIN);
const packs = groupBy(pieces.keys(), packOf);

await mkdir(outdir, { recursive: true });
const written = new Map([
  ['package.json', '{ "type": "commonjs" }\n'],
  ['notices.txt', await notices([...Object.keys(metafile.inputs), 'node_modules/jq-web/jq.js'])],
]);
for (const [pack, names] of packs) if (pack !== MAIN) written.set(pack, packText(names));
written.set(MAIN, mainText(packs.get(MAIN)));
// jq runs in a thread of its own, which is handed these two.
const jq = join(root, 'node_modules', 'jq-web');
const { code: jqText } = await transform(await readFile(join(jq, 'jq.js'), 'utf8'), { minify: true, format: 'cjs' });
written.set('jq.js', jqText).set('jq.wasm', await readFile(join(jq, 'jq.wasm')));
// What other programs import: one file that loads nothing else of ours, and its types as they were written.
const { contractTypes } = await loaded('src/contract/typescript.ts');
const clientTypes = await readFile(join(root, 'scripts', 'library-client.d.cts'), 'utf8');
// One copy of the sandbox: the client's entry loads it when it is asked for.
const sandboxToo = 'module.exports.startSandbox=options=>require("./library-sandbox.cjs").startSandbox(options);\n';
written
  .set('library-sandbox.cjs', await libraryText('src/sandbox/library.ts'))
  .set('library-sandbox.d.cts', await readFile(join(root, 'src', 'sandbox', 'library-types.ts'), 'utf8'))
  .set('library-client.cjs', (await libraryText('src/library-client.ts')) + sandboxToo)
  .set('library-client.d.cts', `${clientTypes}\n${contractTypes()}`);
// What is left of the last build goes first; a program may be starting from this folder meanwhile.
for (const name of await readdir(outdir)) {
  if (!written.has(name)) await rm(join(outdir, name), { recursive: true });
}
for (const [name, text] of written) await writeFile(join(outdir, name), text);
await keepCompiled();

async function libraryText(entry) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    external: ['@photostructure/sqlite'],
    plugins: [withoutUnused],
    define: { CARDWRIGHT_VERSION: JSON.stringify(version), 'import.meta.url': 'CARDWRIGHT_FILE_URL' },
    banner: { js: 'const CARDWRIGHT_FILE_URL=require("node:url").pathToFileURL(__filename).href;' },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    write: false,
  });
  return outputFiles[0].text;
}

/** A module of src/ that imports nothing of Node's. */
async function loaded(entry) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

/** A piece as the body of a function; what it imports of other pieces comes from `load`. */
async function commonJs(text) {
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
    .replace(/\brequire\("\.\/([\w-]+\.js)"\)/g, 'load("$1")');
  return { own, code: linked.includes('CARDWRIGHT_FILE_URL') ? file + linked : linked };
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
  if (atStart.has(name)) return MAIN;
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

/** V8 compiles a function in parentheses at once, which saves reading it twice; the others wait for their call. */
function mainText(names) {
  const places = Object.fromEntries([...packs].flatMap(([pack, inside]) => inside.map(name => [name, pack])));
  const hashes = Object.fromEntries([...written].map(([name, text]) => [name, hashOf(text)]));
  const here = names.map(name => `${JSON.stringify(name)}:(function(module,exports,load){${pieces.get(name).code}})`);
  const tables = `places=${JSON.stringify(places)},hashes=${JSON.stringify(hashes)}`;
  return `"use strict";${prelude}const ${tables},made={__proto__:null},here={${here.join(',\n')}};${OPEN}`;
}

function packText(names) {
  const inside = names.map(name => `${JSON.stringify(name)}:function(module,exports,load){${pieces.get(name).code}}`);
  return `(function(require,__filename){"use strict";${prelude}return{${inside.join(',\n')}}})\n`;
}

/** V8 compares lengths only, so the name of the compiled code says which text it is of. */
function hashOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** Runs what people run most, so that its code is kept compiled. The program works without. */
async function keepCompiled() {
  const home = await mkdtemp(join(tmpdir(), 'cardwright-build-'));
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:CARDWRIGHT_|NODE_OPTIONS$)/.test(name));
  const env = { ...Object.fromEntries(inherited), CARDWRIGHT_CONFIG_DIR: home };
  const program = ['--require', join(root, 'scripts', 'record-code.cjs'), join(outdir, MAIN)];
  const runs = ['--help', 'cards create --help', '--sandbox wallet', '--sandbox cards list --json'];
  runs.push('--sandbox cards create --bin auto --amount 5', '__complete zsh --sandbox cards get card_');
  for (const words of runs) {
    const { status, stderr } = spawnSync(process.execPath, [...program, ...words.split(' ')], {
      env,
      encoding: 'utf8',
    });
    if (status !== 0) process.stderr.write(`build: no compiled code of "${words}": ${stderr}\n`);
  }
  await rm(home, { recursive: true });
}

/** Licences of the packages inside the bundle, which they ask to be kept with copies. */
async function notices(inputs) {
  const folders = new Set(inputs.map(folderOf).filter(Boolean));
  const parts = [];
  for (const folder of [...folders].sort()) {
    const { name, version: of, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
    const text = await licenceText(join(root, folder));
    parts.push(`${name} ${of} (${license})\n\n${text.trim()}\n`);
  }
  return parts.join(`\n${'-'.repeat(72)}\n\n`);
}

async function licenceText(folder) {
  for (const name of ['LICENSE', 'LICENSE.md', 'license', 'license.md', 'LICENCE', 'LICENSE.txt']) {
    const text = await readFile(join(folder, name), 'utf8').catch(error => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text !== undefined) return text;
  }
  return `(no licence text in ${relative(root, folder)})`;
}
