/**
 * The protocol's own conformance suite judges the built server. It speaks HTTP, so a bridge stands in between: a session is a server of its
 * own, a request a line of it, an answer a JSON body. The packages of this folder are needed once: `cd test/mcp && npm ci`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';

const modules = join(import.meta.dirname, 'node_modules');
const program = join(import.meta.dirname, '..', '..', 'bin', 'cardwright.js');

/** What this server has. The other scenarios want tools, resources, prompts and logs of the suite's own, or are about HTTP. */
const SCENARIOS = ['server-initialize', 'ping', 'tools-list'];

interface Session {
  readonly child: ChildProcess;
  readonly waiting: Map<unknown, (line: string) => void>;
}

function startSession(home: string): Session {
  const env = { PATH: process.env['PATH'], HOME: home, CARDWRIGHT_CONFIG_DIR: home };
  const child = spawn(process.execPath, [program, '--sandbox', 'mcp'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: Session['waiting'] = new Map();
  createInterface({ input: child.stdout }).on('line', line => waiting.get(JSON.parse(line).id)?.(line));
  return { child, waiting };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request) text += piece;
  return text;
}

test('the suite finds what this server has as the protocol says', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cardwright-conformance-'));
  const sessions = new Map<string, Session>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const text = await bodyOf(request);
    if (request.method !== 'POST') return response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    const { id, method } = JSON.parse(text);
    const name = method === 'initialize' ? `s${sessions.size + 1}` : String(request.headers['mcp-session-id']);
    const session = sessions.get(name) ?? startSession(home);
    sessions.set(name, session);
    const answered = new Promise<string>(resolve => session.waiting.set(id, resolve));
    session.child.stdin?.write(`${JSON.stringify(JSON.parse(text))}\n`);
    if (id === undefined) return response.writeHead(202).end();
    return response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': name }).end(await answered);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const suite = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
    for (const scenario of SCENARIOS) {
      const words = [suite, 'server', '--url', url, '--scenario', scenario];
      const judge = spawn(join(modules, 'node-22', 'bin', 'node'), words, {
        cwd: home,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      for (const stream of [judge.stdout, judge.stderr])
        stream.on('data', piece => {
          said += piece;
        });
      const code = await new Promise(resolve => judge.on('close', resolve));
      process.stdout.write(`${said.trim()}\n`);
      expect({ scenario, code, said: code === 0 ? '' : said }).toEqual({ scenario, code: 0, said: '' });
      expect(said).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
    }
  } finally {
    server.close();
    server.closeAllConnections();
    const ended = [...sessions.values()].map(({ child }) => new Promise(resolve => child.once('close', resolve)));
    for (const { child } of sessions.values()) child.kill();
    await Promise.all(ended);
    rmSync(home, { recursive: true, force: true });
  }
}, 300_000);
