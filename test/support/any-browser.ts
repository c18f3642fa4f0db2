/** What Chromium and Firefox are both asked for: rooms with cookies of their own, and pages in them. */
import { launched, noBrowser, type Page } from './browser.ts';
import { type FirefoxPage, firefox, noFirefox } from './firefox.ts';

export type AnyPage = Pick<FirefoxPage, 'evaluate' | 'frameTexts' | 'bringToFront' | 'close'> & {
  goto(url: string): Promise<unknown>;
};

export interface Room {
  page(): Promise<AnyPage>;
  cookieNames(): Promise<readonly string[]>;
  /** The bodies of everything that was answered. */
  answers(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface AnyBrowser extends AsyncDisposable {
  room(): Promise<Room>;
}

/** `launch` lets every name that ends with `.test` lead to this address of the machine. */
export const BROWSERS: readonly {
  readonly name: string;
  readonly isMissing: boolean;
  readonly launch: (address: '127.0.0.1' | '127.0.0.2') => Promise<AnyBrowser>;
}[] = [
  { name: 'Chromium', isMissing: noBrowser !== undefined, launch: chromium },
  {
    name: 'Firefox',
    isMissing: noFirefox !== undefined,
    launch: address =>
      firefox({
        'network.dns.forceResolve': address,
        'dom.security.https_first': false,
        'dom.disable_open_during_load': false,
        'devtools.jsonview.enabled': false,
      }),
  },
];

async function chromium(address: string): Promise<AnyBrowser> {
  const browser = await launched([`--host-resolver-rules=MAP *.test ${address}`]);
  return {
    async room() {
      const context = await browser.newContext();
      const answered: Promise<string>[] = [];
      context.on('response', answer => answered.push(answer.text().catch(() => '')));
      return {
        page: async () => anyPage(await context.newPage()),
        cookieNames: async () => (await context.cookies()).map(({ name }) => name),
        answers: () => Promise.all(answered),
        close: () => context.close(),
      };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

function anyPage(page: Page): AnyPage {
  return {
    goto: url => page.goto(url),
    evaluate: (work, given) => page.evaluate(work as never, given as never),
    bringToFront: () => page.bringToFront(),
    close: () => page.close(),
    frameTexts: () =>
      Promise.all(
        page
          .frames()
          .slice(1)
          .map(frame => frame.evaluate<string>("document.body?.innerText ?? ''").catch(() => '')),
      ),
  };
}

/** ms. For what hangs, and not for what is slow. */
const PATIENCE_MS = 60_000;

/** Waits until an expression is true in the page. */
export async function until(page: AnyPage, expression: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await page.evaluate<unknown, boolean>(expression).catch(() => false))) {
    if (performance.now() > end)
      throw new Error(`never true: ${expression}: ${await page.evaluate('document.body.innerText')}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

export const untilHeading = (page: AnyPage, text: string) =>
  until(page, `document.querySelector('h1')?.innerText.startsWith(${JSON.stringify(text)}) === true`);
