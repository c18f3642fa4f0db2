/**
 * Prism between the commands and the sandbox: a command speaks to a socket of ours, we to Prism, Prism to a port of
 * ours, and we to the sandbox of that very world. So one Prism serves every world, and every answer of it is seen.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RunningSandbox } from '../../../src/sandbox/serving/start.ts';
import type { Between } from '../../support/world.ts';
import { type Document, startJudge, written } from './installed.ts';

export interface Proxied extends AsyncDisposable {
  /** Opens a way through Prism to one sandbox; `found` is told of every violation. */
  to(found: (violation: string) => void): (sandbox: RunningSandbox, folder: string) => Promise<Between>;
  /** Method and path of every request that went through so far. */
  readonly asked: ReadonlySet<string>;
}

const WORLD = 'x-judged-world';

/** `surfaces` are the documents by the path their addresses stand below, such as `/v1`. */
export async function proxied(surfaces: Readonly<Record<string, Document>>): Promise<Proxied> {
  const worlds = new Map<string, RunningSandbox>();
  const back = createServer((asked, answer) => {
    const { [WORLD]: world, connection: _, ...headers } = asked.headers;
    const socketPath = worlds.get(String(world))?.socketPath;
    if (socketPath === undefined) return void answer.destroy();
    return void pass(asked, answer, { socketPath, path: asked.url ?? '', headers: { ...headers, host: 'localhost' } });
  });
  const port = await listening(back, { port: 0, host: '127.0.0.1' });
  const prisms = await Promise.all(
    Object.entries(surfaces).map(async ([base, document]) => ({ base, ...(await prism(document, port, base)) })),
  );
  const everyAsked = new Set<string>();
  let opened = 0;

  async function between(
    found: (violation: string) => void,
    sandbox: RunningSandbox,
    folder: string,
  ): Promise<Between> {
    const world = String(++opened);
    worlds.set(world, sandbox);
    const front = createServer((asked, answer) => {
      const { url = '', method, headers } = asked;
      const judge = prisms.find(({ base }) => url.startsWith(`${base}/`));
      if (judge === undefined) return void answer.destroy(new Error(`${url} is on no surface`));
      everyAsked.add(`${method} ${url.split('?')[0]}`);
      const { connection: _, ...sent } = headers;
      const to = { host: '127.0.0.1', port: judge.port, path: url.slice(judge.base.length) };
      void pass(asked, answer, { ...to, headers: { ...sent, [WORLD]: world } }, (status, type, violations, text) => {
        if (violations === undefined && !type.startsWith('application/problem+json')) return;
        found(`${method} ${url} ${status}: ${violations ?? ''} ${text}`);
      });
    });
    const socketPath = join(folder, `judged-${world}.sock`);
    await listening(front, { path: socketPath });
    const close = async () => {
      worlds.delete(world);
      front.closeAllConnections();
      await new Promise(resolve => front.close(resolve));
    };
    return { socketPath, close };
  }

  return {
    to: found => (sandbox, folder) => between(found, sandbox, folder),
    asked: everyAsked,
    async [Symbol.asyncDispose]() {
      await Promise.all(prisms.map(({ stop }) => stop()));
      back.closeAllConnections();
      await new Promise(resolve => back.close(resolve));
    },
  };
}

/** Starts Prism on a port it chooses; every violation becomes an error or a header. */
async function prism(document: Document, port: number, base: string) {
  const upstream = `http://127.0.0.1:${port}${base}`;
  const file = await written(document);
  const judge = startJudge('prism', ['proxy', file.path, upstream, '--errors', '--cors=false', '-p', '0']);
  const ended = once(judge, 'close');
  judge.stderr.resume();
  const lines = createInterface(judge.stdout);
  for await (const line of lines) {
    const found = /Prism is listening on http:\/\/[^:]+:(\d+)/.exec(line)?.[1];
    if (found === undefined) continue;
    const stop = async () => {
      judge.kill();
      await ended;
      await file[Symbol.asyncDispose]();
    };
    // Nobody reads what it says of each request.
    judge.stdout.resume();
    return { port: Number(found), stop };
  }
  throw new Error('Prism ended before it listened');
}

type Options = RequestOptions & { readonly headers: OutgoingHttpHeaders };
type Told = (status: number, type: string, violations: string | undefined, text: string) => void;

/**
 * Hands a request on and its answer back; an answer that breaks off breaks off here too. A body that comes in chunks is
 * sent with its length: Prism would add one and keep `transfer-encoding` beside it, which no server may take.
 */
async function pass(asked: IncomingMessage, answer: ServerResponse, to: Options, told?: Told): Promise<void> {
  const { 'transfer-encoding': chunked, ...rest } = to.headers;
  const body = chunked === undefined ? undefined : Buffer.concat(await asked.toArray());
  const headers = body === undefined ? rest : { ...rest, 'content-length': String(body.length) };
  const sent = request({ ...to, headers, method: asked.method, agent: false });
  sent.on('error', () => answer.destroy());
  sent.on('response', response => {
    const parts: Buffer[] = [];
    const { statusCode = 0, headers } = response;
    response.on('error', () => answer.destroy());
    response.on('data', (part: Buffer) => parts.push(part));
    response.on('end', () => {
      const body = Buffer.concat(parts);
      const violations = headers['sl-violations'];
      told?.(statusCode, headers['content-type'] ?? '', violations && String(violations), body.toString('utf8'));
      const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...kept } = headers;
      answer.writeHead(statusCode, kept).end(body);
    });
  });
  if (body === undefined) asked.pipe(sent);
  else sent.end(body);
}

async function listening(server: ReturnType<typeof createServer>, at: object): Promise<number> {
  server.listen(at);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port ?? 0;
}
