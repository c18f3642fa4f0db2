/**
 * Speaks the Model Context Protocol on standard input and output: revision 2026-07-28 and those of 2025. A line that is no message
 * gets its error, and the next one is read.
 */
import { type JSONRPCMessage, parseJSONRPCMessage, Server, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { ToolHost } from '../../cli/context.ts';
import { jsonOrUndefined } from '../../core/objects.ts';
import type { ToolServer } from './calls.ts';

/** Longest line that is read; a client that sends more is not one. */
const LONGEST_LINE = 1_048_576;

const INSTRUCTIONS = [
  'Virtual cards. One purchase has one intent: repeat a call with the same intent, never with another.',
  'An unknown outcome may have happened. What is pending waits for a person at a terminal.',
].join(' ');

/** Serves until standard input ends or the signal comes; calls that run then come to their end first. */
export async function serve(
  host: ToolHost,
  { tools, version, signal }: { readonly tools: ToolServer; readonly version: string; readonly signal: AbortSignal },
): Promise<void> {
  const running = new Set<Promise<unknown>>();
  const transport = new Lines(host);
  const factory = () => {
    const server = new Server(
      { name: 'cardwright', title: 'cardwright', version },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    );
    server.setRequestHandler('tools/list', () => ({ tools: [...tools.tools] }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const call = tools.call(params.name, params.arguments ?? {});
      running.add(call);
      const result = await call.finally(() => running.delete(call));
      // Invalid params, as the protocol has it for a name that is no tool.
      if (result === undefined)
        throw Object.assign(new Error(`Unknown tool: ${params.name.slice(0, 64)}`), { code: -32602 });
      return result;
    });
    return server;
  };
  const handle = serveStdio(factory, { transport });
  const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([transport.ended, stopped]);
  await Promise.allSettled(running);
  // The package writes an answer in the turn in which its call ends.
  await new Promise(resolve => setImmediate(resolve));
  await handle.close();
}

/** Messages as lines. The package reads a line that is no message without an answer; here it gets one. */
class Lines implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Resolves at the end of standard input. */
  readonly ended: Promise<void>;
  readonly #host: ToolHost;
  #end: () => void = () => undefined;

  constructor(host: ToolHost) {
    this.#host = host;
    this.ended = new Promise(resolve => {
      this.#end = resolve;
    });
  }

  async start(): Promise<void> {
    void this.#read()
      .catch((error: Error) => this.onerror?.(error))
      .finally(this.#end);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#host.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    let isTooLong = false;
    for await (const piece of this.#host.input) {
      rest += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (isTooLong || line.length > LONGEST_LINE) await this.#refuse(null, -32600, 'a message is longer than 1 MB');
        else await this.#take(line.trim());
        isTooLong = false;
      }
      if (rest.length <= LONGEST_LINE) continue;
      isTooLong = true;
      rest = '';
    }
  }

  async #take(line: string): Promise<void> {
    if (line === '') return;
    const value = jsonOrUndefined(line);
    if (value === undefined) return this.#refuse(null, -32700, 'Parse error');
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      const { id } = (value ?? {}) as { readonly id?: unknown };
      return this.#refuse(typeof id === 'string' || typeof id === 'number' ? id : null, -32600, 'Invalid Request');
    }
    this.onmessage?.(message);
  }

  async #refuse(id: string | number | null, code: number, message: string): Promise<void> {
    await this.#host.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);
  }
}
