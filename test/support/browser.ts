/** A real browser, and a sandbox of the built program whose inspector it opens; the home of playwright-core. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { type Browser, type BrowserContext, chromium, type Page, type Route } from 'playwright-core';
import { type Home, home } from '../package/built.ts';
import { requires } from './programs.ts';
import { words } from './words.ts';

export type { BrowserContext, Page, Route };

/** Why tests with a browser are skipped here; undefined where there is one. */
export const noBrowser = process.env['CARDWRIGHT_BROWSER'] === undefined ? requires('chromium') : undefined;

/** ms. For what hangs, and not for what is slow; less than a test has, so that what was waited for is named. */
const PATIENCE_MS = 80_000;

/**
 * Root may not use the sandbox of Chromium. With `CARDWRIGHT_BROWSER_SLOWER=6` pages have a sixth of the processor: what a
 * test did not wait for comes too late, on every machine.
 */
export async function launched(flags: readonly string[] = []): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  const browser = await chromium.launch({
    executablePath: process.env['CARDWRIGHT_BROWSER'] ?? '/usr/bin/chromium',
    args: [...(isRoot ? ['--no-sandbox'] : []), ...flags],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async options => patient(await newContext(options));
  browser.newPage = async options => (await browser.newContext(options)).newPage();
  return browser;
}

function patient(context: BrowserContext): BrowserContext {
  context.setDefaultTimeout(PATIENCE_MS);
  const rate = Number(process.env['CARDWRIGHT_BROWSER_SLOWER'] ?? 1);
  if (rate === 1) return context;
  const newPage = context.newPage.bind(context);
  context.newPage = async () => {
    const page = await newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate });
    return page;
  };
  return context;
}

export interface Inspected extends AsyncDisposable {
  readonly place: Home;
  /** Of the service, with `/v1`. */
  readonly url: string;
  readonly origin: string;
  /** Runs a line of the built program; throws where it does not end with 0. */
  run(line: string): Promise<string>;
  /** The same as data. */
  json(line: string): Promise<unknown>;
  /** An address that opens the page once. */
  address(what?: string): Promise<string>;
  /** Ends the server, as `kill` does it. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it once more over the same store, at the same port. */
  startAgain(): Promise<void>;
}

/** `sandbox start` of the built program, in a process of its own. */
export async function inspected(flags: readonly string[] = []): Promise<Inspected> {
  const place = await home();
  let { child, url } = await served(place, flags);
  const run = async (line: string) => {
    const { code, out, err } = await place.run(words(line));
    if (code !== 0) throw new Error(`${line}: ${code}: ${err}`);
    return out.trim();
  };
  return {
    place,
    url,
    origin: new URL(url).origin,
    run,
    json: async line => JSON.parse(await run(line)),
    address: async (what = '') => run(`sandbox open ${what} --print -o tsv`),
    end: signal => ended(child, signal),
    async startAgain() {
      ({ child, url } = await served(place, ['--port', new URL(url).port]));
    },
    async [Symbol.asyncDispose]() {
      await ended(child, 'SIGTERM');
      await place[Symbol.asyncDispose]();
    },
  };
}

async function served(place: Home, flags: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = place.start(['sandbox', 'start', '--json', '--no-rate-limits', ...flags]);
  const row = await new Promise<{ readonly url: string }>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part;
      if (text.includes('\n}') || /\}\s*$/.test(text)) resolve(JSON.parse(text));
    });
    child.once('exit', code => reject(new Error(`sandbox start ended with ${code}`)));
  });
  return { child, url: row.url };
}

async function ended(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise(resolve => child.once('exit', resolve));
  child.kill(signal);
  await exit;
}

/** What the page said that it should not: errors, and lines of the console. */
export function complaintsOf(page: Page): string[] {
  const said: string[] = [];
  page.on('console', message => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', error => said.push(`error: ${error.message}`));
  return said;
}

/** Axe, and what it objects to as JSON. */
export const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const AXE_OBJECTS = `axe.run(document).then(({ violations }) => JSON.stringify(violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ') + ' ' + (n.any[0]?.message ?? '')).join('; '))))`;

/** What axe objects to. It goes in by the protocol: the policy of the page stops a script tag. */
export async function objections(context: BrowserContext, page: Page): Promise<readonly string[]> {
  const session = await context.newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE });
  const { result } = await session.send('Runtime.evaluate', {
    expression: AXE_OBJECTS,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return JSON.parse(String(result.value)) as string[];
}
