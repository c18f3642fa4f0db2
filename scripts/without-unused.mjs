import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Parts of packages that this program never reaches, and that cost 8 ms at start and more: of undici, for a client of
 * HTTP/1.1 with text bodies, HTTP/2 (with Node's own), the bodies of `fetch`, Node's http, and Node's assert, which opens
 * standard error to look for colours; of Commander, commands that are programs of their own; of conf, the validator of
 * schemas, for profiles are kept without one; of pg, .pgpass, its reader of addresses, its
 * parsers of types, and a probe that loads fetch.
 */
const INSTEAD = {
  'node:assert': `module.exports = (value, message) => {
    if (!value) throw message instanceof Error ? message : new Error(message ?? 'undici: assertion failed');
  };`,
  // Its client is told the size of headers, and a stream of Node's http is never handed to it.
  'node:http': `module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} };`,
  'ajv/dist/2020.js': `export class Ajv2020 { constructor() { throw new Error('not part of this program') } }`,
  'ajv-formats': `export default { default() { throw new Error('not part of this program') } }`,
  // The probe for Cloudflare makes a Response, which loads Node's fetch.
  './stream': `module.exports = {
    getStream: () => new (require('node:net').Socket)(),
    getSecureStream: options => require('node:tls').connect(options),
  };`,
  // Its addresses are read by our own rules, and passwords come from where we say.
  'pg-connection-string': `module.exports = { parse() { throw new Error('not part of this program') } };`,
  // Every value is taken as the text that it comes as.
  'pg-types': `module.exports = { getTypeParser: () => text => text, setTypeParser() {}, builtins: {} };`,
  pgpass: `module.exports = () => { throw new Error('not part of this program') };`,
  'node:child_process': `module.exports = { spawn: () => { throw new Error('not part of this program') } };`,
};
/** What a build changes of each package, in words for its notices and for the list of what it is made of. */
export const CHANGED = {
  undici:
    'without HTTP/2, the bodies of fetch and the unused tables of its parser; node:assert and node:http are replaced by ' +
    'a few lines; its WebAssembly is a file beside the program. They are never reached by this client and cost 8 ms at start.',
  commander: 'node:child_process is replaced: no command of this program is a program of its own.',
  conf: 'without its schema validator (ajv, ajv-formats): profiles are kept without a schema.',
  pg:
    'without .pgpass, its reader of addresses and its parsers of types, and with the sockets of Node alone: its probe for ' +
    'another runtime loads fetch.',
};

/** A plugin of esbuild that leaves them out. */
export const withoutUnused = {
  name: 'without-unused',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/](?:dispatcher[\\/]client-h2|web[\\/]fetch[\\/]body)\.js$/ }, () => ({
      contents: `const absent = () => { throw new Error('not part of this program') };
        module.exports = Object.assign(absent, { extractBody: absent });`,
    }));
    // Of llhttp's tables, made anew at each start, the client reads a few.
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/]llhttp[\\/]constants\.js$/ }, async ({ path }) => {
      const reader = await readFile(join(dirname(path), '..', 'dispatcher', 'client-h1.js'), 'utf8');
      const used = new Set([...reader.matchAll(/\bconstants\.([A-Z]\w*)/g)].map(([, name]) => name));
      const all = createRequire(import.meta.url)(path);
      const kept = Object.fromEntries([...used].map(name => [name, all[name]]));
      return { contents: `module.exports = ${JSON.stringify(kept)}` };
    });
    onResolve({ filter: /^node:(?:assert|http|child_process)$/ }, ({ path, importer }) =>
      /[\\/](?:undici|commander)[\\/]/.test(importer) ? { path, namespace: 'unused' } : undefined,
    );
    onResolve({ filter: /^ajv(?:-formats$|\/)/ }, ({ path, importer }) =>
      /[\\/]conf[\\/]/.test(importer) ? { path, namespace: 'unused' } : undefined,
    );
    onResolve({ filter: /^(?:\.\/stream|pgpass|pg-types|pg-connection-string)$/ }, ({ path, importer }) =>
      /[\\/]pg[\\/]lib[\\/]/.test(importer) ? { path, namespace: 'unused' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'unused' }, ({ path }) => ({ contents: INSTEAD[path] }));
  },
};
