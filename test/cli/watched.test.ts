import { expect, it } from 'vitest';
import { preloads, recorders, watchers } from '../../src/platform/watched.ts';

const seen = (execArgv: string[], env = {}) => watchers({ execArgv, env, inspected: false });

it.each([
  '--inspect',
  '--inspect=0',
  '--inspect-brk=127.0.0.1:9229',
  '--inspect_brk',
  '--inspect-wait',
  '--inspect-port=0',
  '--report-on-signal',
  '--report-uncaught-exception',
  '--report_on_fatalerror',
  '--heapsnapshot-signal=SIGUSR2',
  '--heapsnapshot-near-heap-limit=1',
  '--heap-prof',
  '--tls-keylog=/tmp/x',
  '--abort-on-uncaught-exception',
  '--experimental-network-inspection',
])('%s opens the process to others, as an argument and in NODE_OPTIONS', option => {
  expect(seen([option])).toHaveLength(1);
  expect(seen([], { NODE_OPTIONS: `--max-old-space-size=64  ${option}` })).toHaveLength(1);
  expect(seen([], { NODE_OPTIONS: `"${option}"` })).toHaveLength(1);
});

it.each(['--enable-source-maps', '--max-old-space-size=64', '--no-warnings', '--test-reporter=spec'])(
  '%s does not',
  option => {
    expect(seen([option], { NODE_OPTIONS: option })).toEqual([]);
  },
);

it('sees a debugger that was opened later, and modules that print what they send', () => {
  expect(watchers({ execArgv: [], env: {}, inspected: true })).toEqual(['an open debugger port']);
  expect(seen([], { NODE_DEBUG: 'http' })).toEqual(['NODE_DEBUG']);
  expect(seen([], { NODE_DEBUG: 'net,timers' })).toEqual(['NODE_DEBUG']);
  expect(seen([], { NODE_DEBUG: 'timers' })).toEqual([]);
});

it('names code that is loaded first', () => {
  expect(preloads({ execArgv: ['-r', './x.cjs'], env: {} })).toEqual(['-r']);
  expect(preloads({ execArgv: [], env: { NODE_OPTIONS: '--require=./x.cjs --import ./y.mjs' } })).toEqual([
    '--require',
    '--import',
  ]);
  expect(preloads({ execArgv: ['--experimental-default-config-file'], env: {} })).toHaveLength(1);
  expect(preloads({ execArgv: ['--inspect'], env: {} })).toEqual([]);
});

it('names the variables of recorded sessions, when they say something', () => {
  const env = { SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22', ASCIINEMA_REC: '1', CI: 'true', TERM: 'xterm' };
  expect(recorders(env)).toEqual(['SSH_CONNECTION', 'ASCIINEMA_REC', 'CI']);
  expect(recorders({ SSH_CONNECTION: '', CI: undefined })).toEqual([]);
});
