/**
 * Makes build/cardwright: Node 26 with the program inside, one file that needs no Node. The files of the build are assets,
 * and main.js is the script. The store is Node's own SQLite, and nothing is unpacked.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const node = join(here, 'node_modules', 'node-26', 'bin', 'node');
const output = join(here, 'build');
const program = join(output, 'program');
const executable = join(output, 'cardwright');

/** Bytes of a file of the build; `Buffer.from` does not copy them, and nothing writes into what was read. */
const ASSETS = `const CARDWRIGHT_ASSET=(({getRawAsset})=>name=>Buffer.from(getRawAsset(name)))(require("node:sea"));`;

for (const left of [program, executable, join(output, 'release')]) rmSync(left, { recursive: true, force: true });
mkdirSync(output, { recursive: true, mode: 0o755 });
execFileSync(node, [join(here, '..', 'scripts', 'build.mjs'), program], { stdio: 'inherit' });

/** What the program reads; the libraries are for programs that import them. */
const files = ['program.txt', 'pages.txt', 'texts.json', 'inspector.json', 'jq.js', 'jq.wasm'];
const main = join(output, 'main.js');
writeFileSync(main, `"use strict";${ASSETS}${readFileSync(join(program, 'main.js'), 'utf8')}`);

// A third of Node's file are symbols for debuggers, which no user of a card tool opens.
const stripped = join(output, 'node');
execFileSync('strip', ['-o', stripped, node]);

const config = join(output, 'config.json');
writeFileSync(
  config,
  JSON.stringify({
    main,
    output: executable,
    executable: stripped,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    // A program that reveals card numbers takes no options of Node from its surroundings.
    execArgvExtension: 'none',
    assets: Object.fromEntries(files.map(name => [name, join(program, name)])),
  }),
);
execFileSync(node, [`--build-sea=${config}`], { stdio: 'inherit' });
rmSync(stripped);
process.stdout.write(`${executable}: ${(statSync(executable).size / 1e6).toFixed(1)} MB\n`);
