/**
 * Builds dist/. The program is CommonJS in pieces, as rolldown writes them: what every run needs, what reads a line
 * (`line.js`), what asks a service (`request.js`), each package, and the rest by what is loaded together. `main.js`
 * (src/loader.ts) opens them. Beside them stand the two libraries with their types, the page of the inspector, all pages of
 * help as text, jq, and the licences of what is inside. Manual pages go to man/. Another folder than dist/ can be named as
 * the argument; then no manual is written.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import process from 'node:process';
import { compileFunction } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import { rolldown } from 'rolldown';

const root = resolve(import.meta.dirname, '..');
const outdir = resolve(root, process.argv[2] ?? 'dist');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

const EXTERNAL = ['@photostructure/sqlite'];
/**
 * What packages load of Node when they start, for what this program never does: Commander for commands that are programs
 * of their own, undici for HTTP/2 and for what node:http sends and receives. All take 6 to 8 ms of every start.
 */
const NEVER_USED = { commander: ['node:child_process'], undici: ['node:http2', 'node:http'] };
/** Paths of all that is inside, from the root. */
const inputs = new Set(['node_modules/jq-web/jq.js']);
const written = new Map();

await makeProgram();
const { REGISTRY } = await loaded('src/commands/registry.ts');
const { everyPage } = await loaded('src/cli/docs/help.ts');
written
  .set('package.json', '{ "type": "commonjs" }\n')
  // Most of the time of a page of help is that of making it.
  .set('pages.txt', await everyPage(REGISTRY))
  .set('texts.json', await shippedTexts())
  .set('inspector.json', await inspectorPage());
await makeLibraries();
// jq runs in a thread of its own, which is handed these two.
const jq = join(root, 'node_modules', 'jq-web');
const { code: jqText } = await transform(await readFile(join(jq, 'jq.js'), 'utf8'), { minify: true, format: 'cjs' });
written
  .set('jq.js', jqText)
  .set('jq.wasm', await readFile(join(jq, 'jq.wasm')))
  .set('notices.txt', await notices());

await mkdir(outdir, { recursive: true });
// What is left of the last build goes first; a program may be starting from this folder meanwhile.
for (const name of await readdir(outdir)) if (!written.has(name)) await rm(join(outdir, name), { recursive: true });
for (const [name, text] of written) await writeFile(join(outdir, name), text);
if (process.argv[2] === undefined) await writeManual();

async function makeProgram() {
  const bundle = await rolldown({
    cwd: root,
    input: { start: 'src/main.ts' },
    platform: 'node',
    external: (source, importer) =>
      (source.startsWith('node:') && !isNeverUsed(source, importer)) || EXTERNAL.includes(source),
    plugins: [
      {
        name: 'never-used',
        resolveId: (source, importer) => (isNeverUsed(source, importer) ? 'never-used' : undefined),
        load: id => (id === 'never-used' ? 'module.exports = { constants: {} };' : undefined),
      },
    ],
    checks: { ineffectiveDynamicImport: false },
    transform: {
      target: 'node20.19',
      define: {
        CARDWRIGHT_VERSION: JSON.stringify(version),
        BUNDLED_FILE: '$program.read',
        CODE_CACHE: '$program.cache',
      },
    },
  });
  const { output } = await bundle.generate({
    format: 'cjs',
    entryFileNames: 'program.js',
    chunkFileNames: '[name].js',
    // A module runs when it is first imported, as in its source, and not with its file.
    strictExecutionOrder: true,
    dynamicImportInCjs: false,
    minify: true,
    comments: false,
    // One other character makes a text of twice the size for V8.
    charset: 'ascii',
    // A piece for what every run needs, for each package, for what reads a line, for what asks a service, each with all it imports,
    // and for each other set of modules that are reached together. A piece takes a tenth of a millisecond beside its code.
    codeSplitting: {
      groups: [
        { name: 'start', tags: ['$initial'], priority: 3 },
        { name: packageOf, debugName: 'packages', priority: 2 },
        {
          name: 'line',
          test: /\/src\/cli\/(?:parsing\/(?:tree|command)|completion\/complete)\.ts$/,
          priority: 1,
        },
        { name: 'request', test: /\/src\/(?:app\/context|cli\/offline|client\/api|terminal\/present)\.ts$/ },
      ],
    },
  });
  await bundle.close();
  for (const id of output.flatMap(({ moduleIds }) => moduleIds)) inputs.add(relative(root, id));
  const places = {};
  let at = 0;
  // Each is the function that the loader calls.
  const wrapped = output.map(({ fileName, code }) => ({
    fileName,
    code: `(function(exports,require,module,__filename,__dirname,$program){${code}\n})`,
  }));
  for (const { fileName, code } of wrapped) {
    const length = Buffer.byteLength(code);
    places[fileName] = [at, length];
    at += length;
  }
  const text = wrapped.map(({ code }) => code).join('');
  // V8 compares lengths only, so compiled code belongs to this text by the name of its folder.
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  const define = { CARDWRIGHT_BUILD: JSON.stringify(`${version}-${hash}`), CARDWRIGHT_PIECES: JSON.stringify(places) };
  written.set('program.txt', text).set('main.js', await esbuildText('src/loader.ts', { define, banner: {} }));
}

function isNeverUsed(source, importer = '') {
  return NEVER_USED[packageOf(importer)]?.includes(source) === true;
}

/** The package that a module belongs to, as the name of a piece. */
function packageOf(id) {
  return /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1].replace('/', '-');
}

/** A module of src/ with all it imports, as CommonJS. */
async function esbuildText(entry, options = {}) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    external: EXTERNAL,
    define: { CARDWRIGHT_VERSION: JSON.stringify(version), 'import.meta.url': 'CARDWRIGHT_FILE_URL' },
    banner: { js: 'const CARDWRIGHT_FILE_URL=require("node:url").pathToFileURL(__filename).href;' },
    minify: true,
    // Errors say their class, and stacks the function.
    keepNames: true,
    legalComments: 'none',
    metafile: true,
    write: false,
    ...options,
  });
  for (const path of Object.keys(metafile.inputs)) inputs.add(path);
  return outputFiles[0].text;
}

/** What a module of src/ exports, to be used here. */
async function loaded(entry) {
  const module = { exports: {} };
  const names = ['require', 'module', '__filename'];
  const text = await esbuildText(entry, { minify: false, keepNames: false });
  compileFunction(text, names)(createRequire(import.meta.url), module, import.meta.filename);
  return module.exports;
}

/** Each library is one file, and its types: as they were written, then what the rows of the contract say. */
async function makeLibraries() {
  const { contractTypes, sandboxMethodTypes } = await loaded('src/contract/openapi/typescript.ts');
  const sandboxTypes = await readFile(join(root, 'src', 'sandbox', 'serving', 'library-types.ts'), 'utf8');
  const clientTypes = await readFile(join(root, 'scripts', 'library-client.d.cts'), 'utf8');
  // One copy of the sandbox: the client's entry loads it when it is asked for.
  const sandboxToo = 'module.exports.startSandbox=options=>require("./library-sandbox.cjs").startSandbox(options);\n';
  written
    .set('library-sandbox.cjs', await esbuildText('src/sandbox/serving/library.ts'))
    .set('library-sandbox.d.cts', `${sandboxTypes}\n${sandboxMethodTypes()}`)
    .set('library-client.cjs', (await esbuildText('src/library/client.ts')) + sandboxToo)
    .set('library-client.d.cts', `${clientTypes}\n${contractTypes()}`);
}

/** What the program hands out as it is, by its path: completion scripts, the skill. */
async function shippedTexts() {
  const texts = {};
  for (const folder of ['completions', 'skills'])
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile()) texts[relative(root, path).replaceAll('\\', '/')] = await readFile(path, 'utf8');
    }
  return JSON.stringify(texts);
}

/** The inspector's page: its files with their types in one file, the tables of rows and commands inside of its script. */
async function inspectorPage() {
  const { pageTables } = await loaded('src/cli/docs/page-tables.ts');
  const folder = join(root, 'src', 'inspector', 'page');
  const { outputFiles: made, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      begin: join(folder, '..', 'begin.ts'),
      app: join(folder, 'app.tsx'),
      style: join(folder, 'app.css'),
    },
    plugins: [{ name: 'begin runs once', setup: importBegin }],
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
  for (const path of Object.keys(metafile.inputs)) inputs.add(path);
  const text = end => made.find(({ path }) => path.endsWith(end)).text;
  const page = await readFile(join(folder, 'index.html'), 'utf8');
  return JSON.stringify({
    // Its style stands in it: the first paint waits for no second answer.
    'index.html': {
      type: 'text/html; charset=utf-8',
      text: page.replace('<link rel="stylesheet" href="app.css">', () => `<style>${text('style.css').trim()}</style>`),
    },
    'way-in.html': {
      type: 'text/html; charset=utf-8',
      text: await readFile(join(folder, 'way-in.html'), 'utf8'),
    },
    'begin.js': { type: 'text/javascript; charset=utf-8', text: text('begin.js') },
    'app.js': { type: 'text/javascript; charset=utf-8', text: text('app.js') },
    'icon.svg': { type: 'image/svg+xml', text: await readFile(join(folder, 'icon.svg'), 'utf8') },
  });
}

/** The page imports `begin.js`, which its browser has loaded and run already. */
function importBegin({ onResolve }) {
  onResolve({ filter: /\/begin\.ts$/ }, ({ kind }) =>
    kind === 'entry-point' ? undefined : { path: './begin.js', external: true },
  );
}

/** Manual pages, which the package names and git does not keep. `man` reads them compressed. */
async function writeManual() {
  const { manualPages } = await loaded('src/cli/docs/reference.ts');
  const folder = join(root, 'man');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const [name, text] of await manualPages(REGISTRY))
    await writeFile(join(folder, `${name}.gz`), gzipSync(text, { level: 9 }));
}

/** Licences of the packages that are inside, which they ask to be kept with copies. */
async function notices() {
  const folders = new Set(
    [...inputs].map(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean),
  );
  const parts = [];
  for (const folder of [...folders].sort()) {
    const { name, version: of, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
    const files = (await readdir(join(root, folder))).sort();
    const file = files.find(each => /^licen[cs]e(?:[-.]|$)/i.test(each)) ?? 'README.md';
    // In a README it is the last section.
    const whole = await readFile(join(root, folder, file), 'utf8');
    const text = file === 'README.md' ? /^#+ licen[cs]e\b[\s\S]*/im.exec(whole)?.[0] : whole;
    if (text === undefined) throw new Error(`${folder} has no licence text, and its licence asks for it in every copy`);
    parts.push(`${name} ${of} (${license})\n\n${text.trim()}\n`);
  }
  return parts.join(`\n${'-'.repeat(72)}\n\n`);
}
