/**
 * `cardwright/sandbox`: the sandbox for test suites and other programs. Its types stand in library-types.ts, which
 * imports nothing, because the build ships that file as it is.
 */
import { request } from 'node:http';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { sandboxMethods } from './library-methods.ts';
import { checkOptions } from './library-options.ts';
import type * as Public from './library-types.ts';
import { type RunningSandbox, startSandbox as start } from './start.ts';

declare const CARDWRIGHT_VERSION: string;

type Failed = ConstructorParameters<typeof Public.SandboxRefusal>[0];

/** See library-types.ts. */
export class SandboxRefusal extends Error implements Public.SandboxRefusal {
  override readonly name = 'SandboxRefusal';
  readonly status: number;
  readonly error: string;
  readonly requestId: string;

  constructor({ status, error, message, requestId }: Failed) {
    super(message);
    this.status = status;
    this.error = error;
    this.requestId = requestId;
  }
}

/** See library-types.ts. */
export const startSandbox: typeof Public.startSandbox = async (options = {}) => {
  checkOptions(options);
  const { timers = 'live', deliveries = 'live', allowRemoteWebhooks = false, dialect, ...same } = options;
  const running = await start({
    ...same,
    dialect,
    liveTimers: timers === 'live',
    deliveries: deliveries === 'live' ? 'sent' : 'queued',
    delivery: { allowRemote: allowRemoteWebhooks },
    version: CARDWRIGHT_VERSION,
  });
  const admin = adminOf(running);
  const methods = sandboxMethods(admin);
  return {
    // Their types are made from the rows by the build.
    ...methods,
    url: running.url,
    ...(running.socketPath !== undefined && { socketPath: running.socketPath }),
    key: running.key.expose(),
    admin,
    async advance(by) {
      const { advance } = methods['clock'] as { advance(input: object): Promise<{ fired: Public.SandboxFired[] }> };
      return (await advance({ by })).fired;
    },
    deliver: async () => void (await running.deliver({ kind: 'idle' })),
    async check() {
      const { faults } = await admin.request<{ faults: string[] }>('POST', '/ledger/check');
      return faults;
    },
    stop: () => running.stop(),
    [Symbol.asyncDispose]: () => running.stop(),
  };
};

function adminOf({ url, socketPath, adminToken }: RunningSandbox): Public.SandboxAdmin {
  const base = new URL(url).origin + ADMIN_PATH;
  const token = adminToken.expose();
  return {
    url: base,
    token,
    request: (method, path, body) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      return asked({ url: base + path, method, token, socketPath, text }) as Promise<never>;
    },
  };
}

interface Question {
  readonly url: string;
  readonly method: string;
  readonly token: string;
  readonly socketPath: string | undefined;
  readonly text: string | undefined;
}

function asked({ url, method, token, socketPath, text }: Question): Promise<unknown> {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(text !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, ...(socketPath !== undefined && { socketPath }) });
    sent.on('error', reject);
    sent.on('response', response => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const answer = Buffer.concat(chunks).toString('utf8');
        const { statusCode: status = 0 } = response;
        const value: unknown = answer === '' ? undefined : JSON.parse(answer);
        if (status >= 200 && status < 300) resolve(value);
        else reject(refusalOf(status, value));
      });
    });
    sent.end(text);
  });
}

function refusalOf(status: number, value: unknown): Error {
  const {
    error = 'unknown',
    message = `answered ${status}`,
    request_id: requestId = '',
  } = (value ?? {}) as {
    error?: string;
    message?: string;
    request_id?: string;
  };
  return new SandboxRefusal({ status, error, message, requestId });
}
