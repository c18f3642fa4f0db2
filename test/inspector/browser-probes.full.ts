/**
 * What other pages try against an open inspector, in real browsers: from another port of this machine, from another
 * name of it, from another site, and from an origin that is null. None reads anything and none changes anything; the page
 * itself succeeds with the same.
 */
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Inspected, inspected, launched, noBrowser, type Page } from '../support/browser.ts';
import { type FirefoxPage, firefox, noFirefox } from '../support/firefox.ts';

type AnyPage = Pick<FirefoxPage, 'evaluate' | 'frameTexts' | 'bringToFront' | 'close'> & {
  goto(url: string): Promise<unknown>;
};

interface Room {
  page(): Promise<AnyPage>;
  cookieNames(): Promise<readonly string[]>;
  /** The bodies of everything that was answered. */
  answers(): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface AnyBrowser extends AsyncDisposable {
  room(): Promise<Room>;
}

/** `launch` lets every name that ends with `.test` lead to this address of the machine. */
const BROWSERS: readonly {
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
async function until(page: AnyPage, expression: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await page.evaluate<unknown, boolean>(expression).catch(() => false))) {
    if (performance.now() > end)
      throw new Error(`never true: ${expression}: ${await page.evaluate('document.body.innerText')}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

const untilHeading = (page: AnyPage, text: string) =>
  until(page, `document.querySelector('h1')?.innerText.startsWith(${JSON.stringify(text)}) === true`);

const ADMIN = '/_sandbox/v1';
const RULE = { match: {}, phase: 'before', action: { kind: 'status', code: 500 } };

/** Without a session there are none. */
const untilTotals = (page: AnyPage) => until(page, `document.querySelector('.amounts') !== null`);

for (const { name: browserName, isMissing, launch } of BROWSERS)
  describe.skipIf(isMissing)(`another page in ${browserName}`, () => {
    let sandbox: Inspected;
    let browser: AnyBrowser;
    let room: Room;
    let page: AnyPage;
    let other: Server;
    let port: number;

    beforeAll(async () => {
      other = createServer((request, response) => {
        const cookie = /plant=([^&]+)/.exec(request.url ?? '')?.[1];
        if (cookie !== undefined) response.setHeader('Set-Cookie', `${cookie}=planted; Path=/_sandbox/`);
        response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>other</title><body>other');
      });
      await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
      port = (other.address() as AddressInfo).port;
      sandbox = await inspected(['--data', 'demo', '--seed', '7']);
      await sandbox.run('--sandbox webhooks create --url http://127.0.0.1:9/hook --event * --yes -q');
      const [card] = (await sandbox.run('--sandbox cards list --label search -o id')).split('\n');
      await sandbox.run(`sandbox simulate challenge --card ${card} --amount 5 -q`);
      browser = await launch('127.0.0.1');
      room = await browser.room();
      page = await room.page();
      await page.goto(await sandbox.address());
      await untilTotals(page);
    });
    afterAll(async () => {
      await browser?.[Symbol.asyncDispose]();
      await sandbox?.[Symbol.asyncDispose]();
      other.close();
      other.closeAllConnections();
    });

    const rules = async () => ((await sandbox.json('sandbox faults list --json')) as { data: unknown[] }).data.length;
    const origins = (): readonly string[] => [
      `http://127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      `http://attacker.test:${port}/`,
      `data:text/html,<title>other</title><body>other`,
    ];
    const from = async (address: string): Promise<AnyPage> => {
      const attacker = await room.page();
      await attacker.goto(address);
      return attacker;
    };

    it('9: no other name reaches the page', async () => {
      const at = new URL(sandbox.origin).port;
      const attacker = await room.page();
      const statusOf = async (address: string) => {
        await attacker.goto(address);
        return attacker.evaluate(
          () => performance.getEntriesByType('navigation').map(entry => Reflect.get(entry, 'responseStatus'))[0],
        );
      };
      expect(await statusOf(`http://rebound.test:${at}/_sandbox/`)).toBe(421);
      expect(await statusOf(`http://localhost:${at}/_sandbox/`)).toBe(421);
      expect(await statusOf(`${sandbox.origin}/_sandbox/`)).toBe(200);
      await attacker.close();
    });

    it('10 and 11: a name that leads here once its page is loaded asks for nothing and redeems no ticket', async () => {
      // As rebinding does it: the same name and port, first of another machine, then of this one.
      const at = Number(new URL(sandbox.origin).port);
      let isRebound = false;
      const rebinding = createTcpServer(socket => {
        socket.on('error', () => socket.destroy());
        if (isRebound) {
          const onward = connect(at, '127.0.0.1');
          onward.on('error', () => socket.destroy());
          socket.pipe(onward).pipe(socket);
          return;
        }
        const text = '<!doctype html><title>other</title><body>other';
        const head = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${text.length}\r\nConnection: close`;
        socket.once('data', () => socket.end(`${head}\r\n\r\n${text}`));
      });
      await new Promise<void>(resolve => rebinding.listen(at, '127.0.0.2', resolve));
      const elsewhere = await launch('127.0.0.2');
      try {
        const attacker = await (await elsewhere.room()).page();
        await attacker.goto(`http://rebound.test:${at}/`);
        isRebound = true;
        const address = await sandbox.address();
        const ticket = /#t=([^&]+)/.exec(address)?.[1] ?? 'none';
        const got = await attacker.evaluate(
          async ([admin, ticket]) => {
            const asked = await fetch(`${admin}/overview`, { headers: { 'X-Sandbox-Page': 'guess' } });
            const body = JSON.stringify({ ticket });
            const headers = { 'Content-Type': 'application/json' };
            const redeemed = await fetch(`${admin}/page/session`, { method: 'POST', headers, body });
            return [asked.status, redeemed.status, await redeemed.text()] as const;
          },
          [ADMIN, ticket] as const,
        );
        expect(got.slice(0, 2)).toEqual([421, 421]);
        expect(got[2]).not.toContain('half');
        // What succeeds: what the same road leads to under the right name, and the ticket where it belongs.
        const straight = await new Promise<number | undefined>((resolve, reject) => {
          const headers = { Host: `127.0.0.1:${at}` };
          const asked = request({ host: '127.0.0.2', port: at, path: `${ADMIN}/health`, headers }, answer => {
            answer.resume();
            resolve(answer.statusCode);
          });
          asked.on('error', reject).end();
        });
        expect(straight).toBe(200);
        // In a browser of its own: the cookie of a second session takes the place of the first one.
        const fresh = await browser.room();
        const own = await fresh.page();
        await own.goto(address);
        await untilTotals(own);
        await fresh.close();
      } finally {
        await elsewhere[Symbol.asyncDispose]();
        rebinding.close();
      }
    });

    it('12 to 16: reads nothing, by whatever kind of request', async () => {
      for (const address of origins()) {
        const attacker = await from(address);
        const got = await attacker.evaluate(
          async ({ origin, admin }) => {
            const data = `${origin}${admin}/overview`;
            const read = (how: RequestInit) =>
              fetch(data, how).then(
                async answer => `${answer.type} ${answer.status} ${await answer.text().catch(() => '')}`,
                () => 'nothing',
              );
            const loaded = (tag: 'script' | 'link' | 'img' | 'video', path: string) =>
              new Promise<string>(resolve => {
                const element = document.createElement(tag);
                element.addEventListener('load', () => resolve(`${tag} ${path} loaded`));
                element.addEventListener('error', () => resolve('nothing'));
                if (element instanceof HTMLLinkElement) {
                  element.rel = 'stylesheet';
                  element.href = origin + path;
                } else element.src = origin + path;
                document.body.append(element);
              });
            const opened = (made: EventTarget) =>
              new Promise<string>(resolve => {
                made.addEventListener('open', () => resolve('opened'));
                made.addEventListener('error', () => resolve('nothing'));
              });
            return Promise.all([
              read({ credentials: 'include' }),
              read({ credentials: 'include', headers: { 'X-Sandbox-Page': 'guess' } }),
              read({ mode: 'no-cors', credentials: 'include' }),
              loaded('script', '/_sandbox/app.js'),
              loaded('link', '/_sandbox/begin.js'),
              loaded('img', '/_sandbox/icon.svg'),
              loaded('script', `${admin}/overview`),
              opened(new EventSource(data, { withCredentials: true })),
              opened(new WebSocket(data.replace('http', 'ws'))),
            ]);
          },
          { origin: sandbox.origin, admin: ADMIN },
        );
        expect([address, got]).toEqual([
          address,
          ['nothing', 'nothing', expect.stringMatching(/^(?:opaque 0 |nothing)$/), ...Array(6).fill('nothing')],
        ]);
        await attacker.close();
      }
      // The page itself reads with what it has.
      const own = await page.evaluate(
        ([path, half]) =>
          fetch(path, { mode: 'same-origin', headers: { 'X-Sandbox-Page': half } }).then(({ status }) => status),
        [`${ADMIN}/overview`, (await page.evaluate(() => sessionStorage.getItem('half'))) ?? ''] as const,
      );
      expect(own).toBe(200);
    });

    it('17 and 18: neither frames the page nor keeps hold of a window of it', async () => {
      for (const address of origins()) {
        const attacker = await from(address);
        const told = await attacker.evaluate(async origin => {
          const frame = document.createElement('iframe');
          const object = document.createElement('object');
          const embed = document.createElement('embed');
          frame.src = `${origin}/_sandbox/`;
          object.data = `${origin}/_sandbox/`;
          embed.src = `${origin}/_sandbox/`;
          document.body.append(frame, object, embed);
          await new Promise(resolve => frame.addEventListener('load', resolve));
          const opened = window.open(`${origin}/_sandbox/`);
          let read = 'nothing';
          try {
            read = opened?.document.title ?? 'nothing';
          } catch {}
          return { length: opened?.length ?? 0, read };
        }, sandbox.origin);
        expect(['nothing', '', 'other']).toContain(told.read);
        expect(told.length).toBe(0);
        const framed = await attacker.frameTexts();
        expect(framed.join('')).not.toMatch(/No session|cardwright|SANDBOX/);
        await attacker.close();
      }
    });

    it('20 to 24: changes nothing, by whatever kind of request', async () => {
      const before = await rules();
      for (const address of origins()) {
        const attacker = await from(address);
        await attacker.evaluate(
          async ({ origin, admin, rule }) => {
            const to = `${origin}${admin}/faults`;
            const quietly = (how: RequestInit) => fetch(to, { credentials: 'include', ...how }).catch(() => undefined);
            await quietly({ method: 'POST', mode: 'no-cors', body: rule, headers: { 'Content-Type': 'text/plain' } });
            await quietly({ method: 'POST', body: rule, headers: { 'Content-Type': 'application/json' } });
            await quietly({ method: 'DELETE' });
            await fetch(`${to}?_method=DELETE`, { method: 'POST', mode: 'no-cors', body: 'a=b' }).catch(
              () => undefined,
            );
            navigator.sendBeacon(to, new Blob([rule], { type: 'text/plain' }));
          },
          { origin: sandbox.origin, admin: ADMIN, rule: JSON.stringify(RULE) },
        );
        for (const method of ['get', 'post']) {
          const form = await from(address);
          await form.evaluate(
            ([to, how]) => {
              const made = document.createElement('form');
              made.action = to;
              made.method = how;
              made.enctype = 'text/plain';
              document.body.append(made);
              made.submit();
            },
            [`${sandbox.origin}${ADMIN}/faults`, method] as const,
          );
          await until(form, `location.pathname.endsWith('/faults') && document.readyState === 'complete'`);
          await form.close();
        }
        await attacker.close();
      }
      expect(await rules()).toBe(before);
      // The page itself adds one.
      await page.evaluate(`location.hash = '/faults'`);
      const add = `document.querySelector('[data-form="faults.add"] button[type="submit"]:enabled')`;
      await until(page, `${add} !== null`);
      await page.evaluate(`${add}.click()`);
      await until(page, `document.body.innerText.includes('Added flt_')`);
      expect(await rules()).toBe(before + 1);
    });

    it('39: the policy of the page stops code and connections that came in some other way', async () => {
      const violated = await page.evaluate(async () => {
        const seen: string[] = [];
        document.addEventListener('securitypolicyviolation', event => seen.push(event.effectiveDirective));
        const run = (work: () => unknown) => {
          try {
            work();
          } catch {}
        };
        const made = document.createElement('script');
        run(() => made.append('globalThis.ran = true'));
        run(() => document.body.append(made));
        run(() => document.body.setAttribute('onclick', 'globalThis.ran = true'));
        document.body.click();
        run(() => {
          document.body.append(Object.assign(document.createElement('img'), { src: 'http://127.0.0.1:1/x.png' }));
        });
        await fetch('http://127.0.0.1:1/').catch(() => undefined);
        run(() => {
          document.body.append(Object.assign(document.createElement('iframe'), { src: 'about:srcdoc' }));
        });
        run(() => {
          const form = document.createElement('form');
          form.action = 'http://127.0.0.1:1/';
          document.body.append(form);
          form.submit();
        });
        run(() => new Worker('data:text/javascript,0'));
        run(() => {
          document.body.innerHTML += '<b>sink</b>';
        });
        run(() => {
          setTimeout('globalThis.ran = true', 0);
        });
        await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        return { ran: 'ran' in globalThis, seen: [...new Set(seen)].sort() };
      });
      expect(violated.ran).toBe(false);
      expect(violated.seen).toEqual(expect.arrayContaining(['connect-src', 'img-src', 'require-trusted-types-for']));
    });

    it('25: a cookie of our name from another port ends the session, and gives nobody another one', async () => {
      const fresh = await browser.room();
      const own = await fresh.page();
      await own.goto(await sandbox.address());
      await untilTotals(own);
      const name = (await fresh.cookieNames()).find(each => each.startsWith('cardwright-'));
      expect(name).toBeDefined();
      const attacker = await fresh.page();
      await attacker.goto(`http://127.0.0.1:${port}/?plant=${name}`);
      await own.bringToFront();
      await untilHeading(own, 'No session');
      await fresh.close();
    });

    it('40: neither ticket nor half nor a code stands in address, title, storage of others or what was told', async () => {
      const fresh = await browser.room();
      const own = await fresh.page();
      const codes = ((await sandbox.json('--sandbox 3ds list --json')) as { data: { otp: string }[] }).data;
      expect(codes.length).toBeGreaterThan(0);
      const address = await sandbox.address();
      const ticket = /#t=([^&]+)/.exec(address)?.[1] ?? 'none';
      await own.goto(address);
      await untilTotals(own);
      const half = await own.evaluate(() => sessionStorage.getItem('half'));
      const stands = await own.evaluate(() => [
        location.href,
        document.title,
        document.cookie,
        JSON.stringify({ ...localStorage }),
        document.documentElement.outerHTML,
        JSON.stringify(performance.getEntries().map(({ name }) => name)),
      ]);
      // The document itself was asked for without what stands behind #.
      expect(stands.slice(0, 5).filter(text => text.includes(ticket) || text.includes(half ?? '-'))).toEqual([]);
      expect(stands[2]).toBe('');
      const told = (await fresh.answers()).join('');
      expect(told).toContain('transaction');
      expect(told).not.toContain(ticket);
      await own.evaluate(`location.hash = '/webhooks'`);
      const challenge = `[...document.querySelectorAll('a')].find(each => each.innerText === '3ds.challenge')`;
      await until(own, `${challenge} !== undefined`);
      await own.evaluate(`${challenge}.click()`);
      await untilHeading(own, 'Delivery');
      await until(own, `document.body.innerText.includes('[hidden]')`);
      const shown = await own.evaluate(() => document.documentElement.outerHTML);
      const all = (await fresh.answers()).join('') + shown;
      expect(codes.filter(({ otp }) => all.includes(otp))).toEqual([]);
      await fresh.close();
    });
  });
