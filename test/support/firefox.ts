/** A real Firefox, driven by WebDriver BiDi: the build of Debian does not know all that playwright-core asks of one. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'undici';
import { requires } from './programs.ts';

/** Why tests with Firefox are skipped here; undefined where there is one. */
export const noFirefox = requires('firefox');

/** ms. For what hangs, and not for what is slow. */
const PATIENCE_MS = 60_000;

export interface FirefoxPage extends AsyncDisposable {
  /** Goes there and waits until the document is loaded. */
  goto(url: string): Promise<void>;
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>;
  /** Types into a field, in place of what stands there, key by key. */
  type(field: string, text: string): Promise<void>;
  /** Errors and lines of its console. */
  readonly said: readonly string[];
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly level: string; readonly text: string };
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: string;
  readonly message?: string;
}

/** One Firefox with one page and a profile of its own. */
export async function firefoxPage(): Promise<FirefoxPage> {
  const profile = await mkdtemp(join(tmpdir(), 'cardwright-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'];
  const child = spawn('firefox-esr', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  const exit = new Promise(resolve => child.once('exit', resolve));
  const address = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (part: Buffer) => {
      text += part;
      const found = /WebDriver BiDi listening on (ws:\S+)\s/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', code => reject(new Error(`firefox-esr ended with ${code}: ${text}`)));
  });
  const socket = new WebSocket(`${address}/session`);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const waiting = new Map<number, (message: Message) => void>();
  const said: string[] = [];
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else if (message.method === 'log.entryAdded') said.push(`${message.params?.level}: ${message.params?.text}`);
  });
  let last = 0;
  const send = async (method: string, params: object) => {
    last += 1;
    const id = last;
    const answer = new Promise<Message>(resolve => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error, message } = await answer;
    if (result === undefined) throw new Error(`${method}: ${error}: ${message}`);
    return result;
  };
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  const { contexts } = (await send('browsingContext.getTree', {})) as { contexts: { context: string }[] };
  const context = contexts[0]?.context;
  const evaluate = async (expression: string) => {
    const target = { context };
    const given = await send('script.evaluate', { expression, target, awaitPromise: true });
    return (given['result'] as { value?: unknown } | undefined)?.value;
  };
  return {
    said,
    goto: async url => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    evaluate,
    async until(expression) {
      const end = performance.now() + PATIENCE_MS;
      while ((await evaluate(expression)) !== true) {
        if (performance.now() > end)
          throw new Error(`never true: ${expression}: ${await evaluate('document.body.innerText')}`);
        await new Promise(resolve => setTimeout(resolve, 50));
      }
    },
    async type(field, text) {
      const found = `document.querySelector(${JSON.stringify(field)})`;
      await evaluate(`${found}.focus()`);
      await evaluate(`${found}.select()`);
      const keys = [...text].flatMap(value => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]);
      await send('input.performActions', { context, actions: [{ type: 'key', id: 'keys', actions: keys }] });
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      child.kill();
      await exit;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
