/**
 * Preloaded by the build when it runs the finished program: keeps the compiled code of the files the program opened
 * beside them, so that later starts need not compile. The largest wins, from the run that used most of a file.
 */
const { existsSync, statSync, writeFileSync } = require('node:fs');
const v8 = require('node:v8');
const vm = require('node:vm');

const folder = process.argv[1].replace(/[^\\/]*$/, '');
const scripts = [];

// Code compiled under other flags than those of a fresh process is refused there.
v8.setFlagsFromString = () => undefined;
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, { filename: options.filename });
    if (options.filename.startsWith(folder)) scripts.push({ script: this, cache: options.codeFile });
  }
};

process.on('exit', () => {
  for (const { script, cache } of scripts) {
    const code = script.createCachedData();
    if (!existsSync(cache) || statSync(cache).size < code.length) writeFileSync(cache, code);
  }
});
