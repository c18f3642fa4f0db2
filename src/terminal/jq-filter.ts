/**
 * `--jq`: one expression over the whole answer. Home of jq-web, which is jq itself as WebAssembly. It runs in a thread
 * of its own, so that Ctrl-C ends an expression that never ends; it sees no file, no variable and no stream of ours.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CliError } from '../core/errors.ts';

/** Reads a file of the build, wherever that keeps them; run from source the package is in node_modules. */
declare const BUNDLED_FILE: ((name: string) => Uint8Array) | undefined;

/**
 * `debug` and `stderr` of an expression would write past our streams: jq-web reports them with `console.warn`. The one
 * file that the script reads is its own code, which it is handed: in the single executable there are no files.
 */
const THREAD = `
const { parentPort, workerData: { script, code } } = require('node:worker_threads');
Object.assign(console, { warn: () => undefined });
const readFileSync = () => code;
const required = name => (name === 'fs' ? { ...require(name), readFileSync } : require(name));
const module = { exports: {} };
new Function('module', 'exports', 'require', '__filename', '__dirname', script)(
  module, module.exports, required, '/jq.js', '/',
);
const ready = module.exports;
parentPort.on('message', async ({ json, expression }) => {
  try {
    const { raw } = await ready;
    parentPort.postMessage({ text: raw(json, expression, ['-r']) });
  } catch (error) {
    parentPort.postMessage({ failed: String(error.stderr ?? error.message) });
  }
});`;

const MOST_MEGABYTES = 2048;

type Answered = { readonly text?: string } | { readonly failed: string };

export type JqFilter = Awaited<ReturnType<typeof openJq>>;

/** Compiles an expression. Throws `usage` for one that jq cannot read; nothing of ours has run by then. */
export async function openJq(expression: string, signal: AbortSignal) {
  const read = typeof BUNDLED_FILE === 'undefined' ? readPackage : BUNDLED_FILE;
  const thread = new Worker(THREAD, {
    eval: true,
    workerData: { script: Buffer.from(read('jq.js')).toString(), code: Uint8Array.from(read('jq.wasm')) },
    env: {},
    execArgv: [],
    argv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
  });
  thread.unref();

  const ask = (json: string) =>
    new Promise<Answered>((resolve, reject) => {
      const stop = () => settle(() => void thread.terminate().then(() => reject(signal.reason as Error)));
      const answer = (answered: Answered) => settle(() => resolve(answered));
      const fail = (error: Error) => settle(() => reject(failure(`jq stopped: ${error.message}`)));
      const end = () => fail(new Error('its thread ended'));
      const settle = (then: () => void): void => {
        thread.off('message', answer).off('error', fail).off('exit', end);
        signal.removeEventListener('abort', stop);
        thread.unref();
        then();
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      thread.ref();
      thread.on('message', answer).on('error', fail).on('exit', end);
      // A blank before it: an expression that begins with - is no option of jq.
      thread.postMessage({ json, expression: ` ${expression.trim() === '' ? '.' : expression}` });
    });

  // Of no input at all jq reads the expression and does nothing else.
  const checked = await ask('');
  if ('failed' in checked) {
    await thread.terminate();
    throw failure(whyOf(checked.failed)).with({ outcome: 'not_sent' });
  }
  return {
    /**
     * Everything the expression yields of a value, a line each, strings raw; empty when it yields nothing. Throws
     * `usage` with jq's own words when it cannot go on, and the signal's reason.
     */
    async apply(value: unknown): Promise<string> {
      const answered = await ask(JSON.stringify(value));
      if ('failed' in answered) throw failure(whyOf(answered.failed));
      return answered.text === undefined ? '' : `${answered.text}\n`;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await thread.terminate();
    },
  };
}

function readPackage(name: string): Uint8Array {
  const { resolve: find } = createRequire(import.meta.url);
  return readFileSync(join(dirname(find('jq-web')), name));
}

function failure(message: string): CliError {
  return new CliError('usage', { message: `--jq: ${message}`, hint: 'cardwright help output' });
}

/** The first line that jq wrote, without its own name and the places in our hidden input. */
function whyOf(written: string): string {
  const [first = ''] = written.split('\n');
  const why = first
    .replace(/^jq: error(?: \(at [^)]*\))?:? */, '')
    .replace(' (Unix shell quoting issues?)', '')
    .replace(/ at <top-level>, line \d+:$/, '');
  return why === '' ? 'the expression failed' : why;
}
