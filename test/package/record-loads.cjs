/** Preloaded into the program: writes which modules and which files of dist/ it opened, and which of those
 * V8 had to compile, to the file RECORD_TO. */
const { writeFileSync } = require('node:fs');
const Module = require('node:module');
const { basename } = require('node:path');
const vm = require('node:vm');

const modules = new Set();
const files = new Set();
const compiled = new Set();

const load = Module._load;
Module._load = function recorded(request, ...more) {
  modules.add(request.replace(/^node:/, ''));
  return load.call(this, request, ...more);
};
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    if (options?.filename === undefined) return;
    files.add(basename(options.filename));
    if (options.cachedData === undefined || this.cachedDataRejected) compiled.add(basename(options.filename));
  }
};

process.on('exit', () => {
  writeFileSync(
    process.env.RECORD_TO,
    JSON.stringify({ modules: [...modules], files: [...files], compiled: [...compiled] }),
  );
});
