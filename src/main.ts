/**
 * The composition root: the only file that touches `process`, the real clock, chance and the folders of this user.
 */
import { randomFillSync } from 'node:crypto';
import { writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { run, stoppedBy } from './cli/run.ts';
import { compose, type Surroundings } from './compose.ts';
import { CliError } from './errors.ts';
import { foldersFor } from './folders.ts';
import type { Clock, InputStream, OutputStream, Randomness } from './host.ts';
import { openTerminalKeys } from './terminal/key-source.ts';

declare const CARDWRIGHT_VERSION: string;

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }),
};

const random: Randomness = {
  bytes: count => randomFillSync(new Uint8Array(count)),
  fraction: () => Math.random(),
};

function outputOf(stream: NodeJS.WriteStream): OutputStream {
  let closed = false;
  // A reader that went away (`| head`) is no failure of ours; every other error of the stream is.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') process.exitCode = 1;
    closed = true;
  });
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
    get closed() {
      return closed;
    },
    write: text =>
      new Promise(resolve => {
        if (closed || text === '') resolve();
        else stream.write(text, () => resolve());
      }),
  };
}

const stdin: InputStream = {
  isTerminal: process.stdin.isTTY === true,
  async readAll(maxBytes) {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes)
        throw new CliError('usage', {
          message: `standard input is larger than ${maxBytes} bytes`,
          outcome: 'not_sent',
        });
      chunks.push(chunk);
    }
    return new TextDecoder('utf-8', { fatal: false }).decode(Buffer.concat(chunks));
  },
};

const stopping = new AbortController();
const restorers = new Set<() => void>();
const restoreScreen = () => {
  for (const restore of restorers) restore();
};

function listenForSignals(): void {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      restoreScreen();
      // The second signal leaves at once; nothing is pending that could be lost by then.
      if (stopping.signal.aborted) process.exit(codes[name]);
      stopping.abort(stoppedBy(name === 'SIGINT' ? 'interrupted' : 'terminated'));
    });
  }
  process.on('exit', restoreScreen);
}

const host: Surroundings = {
  argv: process.argv.slice(2),
  env: process.env,
  streams: { stdin, stdout: outputOf(process.stdout), stderr: outputOf(process.stderr) },
  clock,
  random,
  folders: foldersFor({ env: process.env, platform: process.platform, home: homedir(), temporary: tmpdir() }),
  platform: process.platform,
  pid: process.pid,
  cwd: process.cwd(),
  signal: stopping.signal,
  promptInput: process.stdin,
  promptOutput: process.stderr,
  async readFile(path) {
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new CliError('usage', { message: `cannot read ${JSON.stringify(path)}: ${code}`, outcome: 'not_sent' });
    }
  },
  async openSandbox() {
    const { openEmbedded } = await import('./sandbox/embedded.ts');
    return openEmbedded(host, { version: CARDWRIGHT_VERSION });
  },
  isRunning(pid) {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  },
  openKeys: () => openTerminalKeys(process.stdin),
  writeTerminal: text => void writeSync(2, text),
  onCrash(restore) {
    restorers.add(restore);
    return () => restorers.delete(restore);
  },
};

listenForSignals();
// Never process.exit here: output that is still in the pipe would be cut off.
void run(compose(host, CARDWRIGHT_VERSION)).then(code => {
  process.exitCode = code;
  // A pipe on standard input would otherwise keep the process waiting for its end.
  process.stdin.unref?.();
});
