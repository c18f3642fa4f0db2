/**
 * Runs the finished program, one command line after the other in one process, and keeps the compiled code of the files it
 * opened beside them, so that later starts need not compile: each file once, with what all of these runs used of it.
 * With the name of a file it writes down there, as JSON, which pieces of the program each run loaded, and keeps nothing.
 *
 *     node scripts/record-code.cjs dist/main.js [pieces.json]
 */
const childProcess = require('node:child_process');
const { EventEmitter } = require('node:events');
const { writeFileSync } = require('node:fs');
const http = require('node:http');
const { dirname, sep } = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');

const RUNS = [
  '--sandbox wallet',
  '--sandbox cards list',
  '--sandbox cards list --json',
  '--sandbox cards create --bin auto --amount 5',
  'cards list --json',
  'cards list',
  '__complete zsh --sandbox cards get card_',
  // The commands of a group, and all there is to know of them.
  '__complete zsh cards ',
];

const [main, piecesFile] = process.argv.slice(2);
const folder = dirname(main) + sep;
const kept = new Map();
/** Command line to names of pieces. */
const loaded = {};
let running;

// Code compiled under other flags than those of a fresh process is refused there.
v8.setFlagsFromString = () => undefined;
const { Script } = vm;
vm.Script = function KeptScript(source, { filename }) {
  const script = kept.get(filename) ?? new Script(source, { filename });
  if (filename.startsWith(folder)) kept.set(filename, script);
  return piecesFile === undefined ? script : { runInThisContext: () => noting(script.runInThisContext()) };
};

/** A file whose pieces say so when they are run. */
function noting(open) {
  return (...given) => {
    const note =
      (name, piece) =>
      (...own) => {
        loaded[running].push(name);
        return piece(...own);
      };
    return Object.fromEntries(Object.entries(open(...given)).map(([name, piece]) => [name, note(name, piece)]));
  };
}

// A key press that starts another program beside itself: that one would write into a home that is being removed.
childProcess.spawn = () => {
  const ended = Object.assign(new EventEmitter(), { unref: () => undefined });
  setImmediate(() => ended.emit('exit', 0));
  return ended;
};

/** A page of cards, over TCP as from the real service. */
const CARD = {
  id: 'card_1',
  bin_id: 'bin_1',
  network: 'visa',
  last4: '4242',
  status: 'active',
  balance: 5,
  spending_limit: null,
  label: null,
  allowed_categories: [],
  auto_freeze_at: null,
  metadata: {},
  created_at: '2026-11-20T14:03:11Z',
  expires_at: '2029-11-30T23:59:59Z',
};
let port;
const server = http.createServer((_request, response) => {
  const data = Array.from({ length: 25 }, (_, index) => ({ ...CARD, id: `card_${index}` }));
  const meta = { page: 1, per_page: 25, total: 25 };
  response.writeHead(200, { 'content-type': 'application/json', link: '</v1/cards?page=2>; rel="next"' });
  response.end(JSON.stringify({ data, meta, has_more: true }));
  // A run here has ended when nothing of it is left, and its connection would be kept for 3 s.
  response.on('finish', () => setTimeout(() => server.closeIdleConnections(), 100).unref());
});

server.listen(0, '127.0.0.1', () => {
  server.unref();
  port = server.address().port;
  process.on('beforeExit', next);
  next();
});

/** The next run begins when nothing of the last one is left. */
function next() {
  const line = RUNS.shift();
  if (process.exitCode) process.stderr.write(`ended with ${process.exitCode} before ${line}\n`);
  if (line === undefined || process.exitCode) return keep();
  const served = !line.startsWith('--sandbox');
  // An empty key is refused, and not taken for none.
  delete process.env.CARDWRIGHT_BASE_URL;
  delete process.env.CARDWRIGHT_API_KEY;
  if (served) {
    process.env.CARDWRIGHT_BASE_URL = `http://127.0.0.1:${port}/v1`;
    process.env.CARDWRIGHT_API_KEY = 'sk_test_0123456789abcdef0123456789abcdef';
  }
  running = line;
  loaded[line] = [];
  process.argv = [process.execPath, main, ...line.split(' ')];
  delete require.cache[main];
  require(main);
  // A run that waited for nothing would be the last.
  setImmediate(() => undefined);
}

function keep() {
  process.removeListener('beforeExit', next);
  if (piecesFile !== undefined) return writeFileSync(piecesFile, JSON.stringify(loaded));
  for (const [filename, script] of kept) writeFileSync(`${filename}.code`, script.createCachedData());
}
