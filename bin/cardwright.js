#!/usr/bin/env node
// In the syntax of the first Node releases, so that an old one can say what is wrong instead of failing to read this.
// CommonJS starts 4 to 8 ms sooner than ESM on Node 20; the program itself is the bundle in dist.
var parts = process.versions.node.split('.');
if (Number(parts[0]) < 20 || (Number(parts[0]) === 20 && Number(parts[1]) < 19)) {
  process.stderr.write(
    ['error: cardwright needs Node 20.19 or newer, and this is', process.versions.node].join(' ').concat('\n'),
  );
  process.exit(2);
}
require('../dist/main.js');
