/** A client of the protocol beside a server that runs in the world of a story. */
import { PassThrough } from 'node:stream';
import type { RunOptions, World } from '../support/world.ts';

type Members = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly id?: number | string | null;
  readonly result?: Members & { readonly structuredContent?: Members };
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Client extends AsyncDisposable {
  /** Sends a line as it stands. */
  line(text: string): void;
  request(method: string, params?: object): Promise<Answer>;
  /** What a tool gave, as data. */
  call(name: string, args?: object): Promise<Members>;
  /** Everything that the server wrote so far, line by line. */
  readonly messages: readonly string[];
  /** The next answer to what `line` sent. */
  next(): Promise<Answer>;
  /** Ends standard input; resolves to the exit code. */
  end(): Promise<number>;
}

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'test', version: '1' },
};

export async function client(here: Pick<World, 'run'>, line: string, options: RunOptions = {}): Promise<Client> {
  const input = new PassThrough();
  const messages: string[] = [];
  const waiting = new Map<unknown, (answer: Answer) => void>();
  const others: Answer[] = [];
  let awaited: ((answer: Answer) => void) | undefined;
  const take = (text: string) => {
    for (const each of text.split('\n').filter(Boolean)) {
      messages.push(each);
      const answer = JSON.parse(each) as Answer;
      const resolve = waiting.get(answer.id) ?? awaited;
      if (resolve === undefined) others.push(answer);
      else resolve(answer);
    }
  };
  const ran = here.run(line, { ...options, input, onOut: take });
  let last = 0;
  const request = (method: string, params: object = {}) => {
    const id = ++last;
    const answered = new Promise<Answer>((resolve, reject) => {
      waiting.set(id, resolve);
      void ran.then(({ all }) => reject(new Error(`the server has ended: ${all}`)));
    });
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answered;
  };
  const opened: Client = {
    messages,
    line: text => void input.write(`${text}\n`),
    request,
    async call(name, args = {}) {
      const { result, error } = await request('tools/call', { name, arguments: args });
      if (result?.structuredContent === undefined) throw new Error(JSON.stringify(error ?? result));
      return result.structuredContent;
    },
    next: () =>
      new Promise(resolve => {
        const there = others.shift();
        if (there !== undefined) return resolve(there);
        awaited = answer => {
          awaited = undefined;
          resolve(answer);
        };
      }),
    async end() {
      input.end();
      return (await ran).code;
    },
    async [Symbol.asyncDispose]() {
      input.end();
      await ran;
    },
  };
  await request('initialize', INITIALIZE);
  input.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return opened;
}
