/**
 * Builds dist/: esbuild splits the program into chunks, so that heavy parts load when they are used; then each chunk
 * becomes CommonJS, which Node 20 starts faster. Only the SQLite package stays outside, for its prebuilt binary.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const outdir = join(root, 'dist');

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
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  outdir,
  chunkNames: 'chunks/[name]-[hash]',
  metafile: true,
  write: false,
});

/** What `import.meta.url` is in a CommonJS chunk. */
const FILE_URL = 'const CARDWRIGHT_FILE_URL=require("node:url").pathToFileURL(__filename).href;';

await rm(outdir, { recursive: true, force: true });
for (const { path, text } of outputFiles) {
  // Dynamic imports become require calls as well: no chunk goes through the ESM loader.
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
  });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, code.includes('CARDWRIGHT_FILE_URL') ? FILE_URL + code : code);
}
await writeFile(join(outdir, 'package.json'), '{ "type": "commonjs" }\n');
await writeFile(join(outdir, 'notices.txt'), await notices(Object.keys(metafile.inputs)));

/** Licences of the packages inside the bundle, which they ask to be kept with copies. */
async function notices(inputs) {
  const folders = new Set(
    inputs.map(path => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean),
  );
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
