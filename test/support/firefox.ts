/** A real Firefox, driven by WebDriver BiDi: the build of Debian does not know all that playwright-core asks of one. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
  /** The value of an expression, or of a function with what it is given, in the page. */
  evaluate<Given, Result>(work: string | ((given: Given) => Result | Promise<Result>), given?: Given): Promise<Result>;
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>;
  /** Types into a field, in place of what stands there, key by key. */
  type(field: string, text: string): Promise<void>;
  /** The size of what is seen, px. */
  setSize(width: number, height: number): Promise<void>;
  /** What stands in the frames of the page. */
  frameTexts(): Promise<readonly string[]>;
  /** Makes it the one that is seen: a page behind another one asks for nothing. */
  bringToFront(): Promise<void>;
  close(): Promise<void>;
  /** Errors and lines of its console. */
  readonly said: readonly string[];
}

/** Pages with cookies of their own. */
export interface FirefoxRoom {
  page(): Promise<FirefoxPage>;
  cookieNames(): Promise<readonly string[]>;
  /** The bodies of everything that was answered. */
  answers(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Firefox extends AsyncDisposable {
  room(): Promise<FirefoxRoom>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly level: string;
    readonly text: string;
    readonly source?: { readonly context?: string };
    readonly context?: string;
    readonly request?: { readonly request: string };
  };
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: string;
  readonly message?: string;
}

interface Evaluated {
  readonly result?: { readonly value?: unknown };
  readonly exceptionDetails?: { readonly text: string };
}

/** One Firefox with a profile of its own, and these preferences. */
export async function firefox(preferences: Readonly<Record<string, string | boolean>> = {}): Promise<Firefox> {
  const profile = await mkdtemp(join(tmpdir(), 'cardwright-firefox-'));
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
  await writeFile(join(profile, 'user.js'), lines.join(''));
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
  /** Of a page, by its context. */
  const said = new Map<string, string[]>();
  const answered = new Map<string, Promise<string>[]>();
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
  const bodyOf = (request: string) =>
    send('network.getData', { dataType: 'response', request }).then(
      ({ bytes }) => {
        const { type, value } = bytes as { readonly type: string; readonly value: string };
        return type === 'base64' ? Buffer.from(value, 'base64').toString() : value;
      },
      () => '',
    );
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, ...rest } = JSON.parse(String(data)) as Message;
    if (id !== undefined) waiting.get(id)?.({ id, ...rest });
    else if (method === 'log.entryAdded')
      said.get(params?.source?.context ?? '')?.push(`${params?.level}: ${params?.text}`);
    else if (method === 'network.responseCompleted' && params?.request !== undefined)
      answered.get(params.context ?? '')?.push(bodyOf(params.request.request));
  });
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded', 'network.responseCompleted'] });

  const pageOf = async (userContext: string): Promise<FirefoxPage & { readonly context: string }> => {
    const { context } = (await send('browsingContext.create', { type: 'tab', userContext })) as { context: string };
    said.set(context, []);
    answered.set(context, []);
    const evaluateIn = async (target: string, expression: string) => {
      const given = await send('script.evaluate', { expression, target: { context: target }, awaitPromise: true });
      const { result, exceptionDetails } = given as Evaluated;
      if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
      return result?.value;
    };
    const evaluate = async (work: unknown, given?: unknown) => {
      if (typeof work === 'string') return evaluateIn(context, work);
      const called = `(${work})(${JSON.stringify(given) ?? ''})`;
      return JSON.parse(
        String(await evaluateIn(context, `Promise.resolve(${called}).then(value => JSON.stringify(value ?? null))`)),
      );
    };
    const until = async (expression: string) => {
      const end = performance.now() + PATIENCE_MS;
      while ((await evaluate(expression).catch(() => false)) !== true) {
        if (performance.now() > end)
          throw new Error(`never true: ${expression}: ${await evaluate('document.body.innerText')}`);
        await new Promise(resolve => setTimeout(resolve, 50));
      }
    };
    return {
      context,
      said: said.get(context) ?? [],
      goto: async url => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
      evaluate: evaluate as FirefoxPage['evaluate'],
      until,
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
      setSize: async (width, height) =>
        void (await send('browsingContext.setViewport', { context, viewport: { width, height } })),
      async frameTexts() {
        const { contexts } = (await send('browsingContext.getTree', { root: context })) as {
          contexts: { children: { context: string }[] }[];
        };
        const frames = contexts[0]?.children ?? [];
        return Promise.all(
          frames.map(frame => evaluateIn(frame.context, "document.body?.innerText ?? ''").then(String, () => '')),
        );
      },
      bringToFront: async () => void (await send('browsingContext.activate', { context })),
      close: async () => void (await send('browsingContext.close', { context })),
      [Symbol.asyncDispose]: async () => void (await send('browsingContext.close', { context })),
    };
  };
  return {
    async room() {
      const { userContext } = (await send('browser.createUserContext', {})) as { userContext: string };
      const collected = { dataTypes: ['response'], maxEncodedDataSize: 10_000_000, userContexts: [userContext] };
      await send('network.addDataCollector', collected);
      const contexts: string[] = [];
      return {
        async page() {
          const page = await pageOf(userContext);
          contexts.push(page.context);
          return page;
        },
        async cookieNames() {
          const partition = { type: 'context', context: contexts[0] };
          const { cookies } = (await send('storage.getCookies', { partition })) as { cookies: { name: string }[] };
          return cookies.map(({ name }) => name);
        },
        answers: () => Promise.all(contexts.flatMap(context => answered.get(context) ?? [])),
        close: async () => void (await send('browser.removeUserContext', { userContext })),
      };
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      child.kill();
      await exit;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** One page in a Firefox of its own, which ends with it. */
export async function firefoxPage(): Promise<FirefoxPage> {
  const browser = await firefox();
  const page = await (await browser.room()).page();
  return { ...page, [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose]() };
}
