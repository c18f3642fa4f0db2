#!/usr/bin/env node
// CommonJS starts 4 to 8 ms sooner than ESM on Node 20; the program itself is the bundle in dist.
require('../dist/main.js');
