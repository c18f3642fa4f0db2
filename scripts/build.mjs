/**
 * Builds dist/. esbuild splits the program where it imports dynamically; the pieces are then packed into few files,
 * because each file costs a quarter of a millisecond at start: main.js (what every run needs), core.js (the rest of
 * our code), sandbox.js, and one file for each package. A piece runs when it is first asked for. All of it becomes
 * CommonJS, which Node 20 starts faster. Only the SQLite package stays outside, for its prebuilt binary.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outdir = join(root, 'dist');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** undici loads Node's HTTP/2 at once, 4 ms that a client of HTTP/1.1 never uses. */
const withoutHttp2 = {
  name: 'without-http2',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('HTTP/2 is not part of this program') };",
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
  define: { CARDWRIGHT_VERSION: JSON.stringify(version), 'import.meta.url': 'CARDWRIGHT_FILE_URL' },
  plugins: [withoutHttp2],
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  outdir,
  metafile: true,
  write: false,
});

const MAIN = 'main.js';
const pieces = new Map();
for (const { path, text } of outputFiles) {
  const facts = metafile.outputs[relative(root, path)];
  pieces.set(basename(path), { code: await commonJs(text), facts });
}
const atStart = reachedFrom(MAIN);
const packs = groupBy(pieces.keys(), packOf);

await mkdir(outdir, { recursive: true });
const written = new Map([
  ['package.json', '{ "type": "commonjs" }\n'],
  ['notices.txt', await notices(Object.keys(metafile.inputs))],
]);
for (const [pack, names] of packs) written.set(pack, pack === MAIN ? mainText(names) : packText(names));
// Replaced one by one and not removed first: a program may be starting from this folder.
for (const [name, text] of written) await writeFile(join(outdir, name), text);
for (const name of await readdir(outdir)) {
  if (!written.has(name)) await rm(join(outdir, name), { recursive: true });
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
  const linked = code.trimEnd().replace(/\brequire\("\.\/([\w-]+\.js)"\)/g, 'load("$1")');
  return linked.includes('CARDWRIGHT_FILE_URL') ? file + linked : linked;
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
    const owner = folderOf(input)?.replace(/^.*node_modules\//, '') ?? (/^src\/sandbox\//.test(input) ? 'sandbox' : 'core');
    sizes.set(owner, (sizes.get(owner) ?? 0) + bytesInOutput);
  }
  const entry = folderOf(pieces.get(name).facts.entryPoint ?? '')?.replace(/^.*node_modules\//, '');
  const [largest = ['core']] = [...sizes].sort((a, b) => b[1] - a[1]);
  return `${(entry ?? largest[0]).replace(/^@/, '').replace('/', '-')}.js`;
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
  const here = names.map(name => `${JSON.stringify(name)}:(function(module,exports,load){${pieces.get(name).code}})`);
  return `"use strict";const places=${JSON.stringify(places)},made={__proto__:null},here={${here.join(',\n')}};
function load(name){let module=made[name];if(module===undefined){made[name]=module={exports:{}};
(here[name]??require("./"+places[name])[name])(module,module.exports,load)}return module.exports}
load(${JSON.stringify(MAIN)});
`;
}

function packText(names) {
  const inside = names.map(name => `${JSON.stringify(name)}:function(module,exports,load){${pieces.get(name).code}}`);
  return `"use strict";module.exports={${inside.join(',\n')}};\n`;
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
