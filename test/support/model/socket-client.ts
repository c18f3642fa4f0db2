/** HTTP over one kept-open Unix socket, one request at a time: a model run sends hundreds of thousands. */
import { connect, type Socket } from 'node:net';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** From the root: `/v1/cards` or `/_sandbox/v1/clock`. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly key?: string | undefined;
}

export interface Reply {
  readonly status: number;
  readonly head: string;
  readonly text: string;
}

export interface Reached {
  readonly socketPath: string;
  readonly key: string;
  readonly adminToken: string;
}

export class SocketClient {
  readonly #socket: Socket;
  readonly #reached: Reached;
  #waiting: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;
  #received: Buffer = Buffer.alloc(0);

  constructor(reached: Reached) {
    this.#reached = reached;
    this.#socket = connect(reached.socketPath);
    this.#socket.on('data', (part: Buffer) => this.#take(part));
    this.#socket.on('error', error => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the sandbox closed the connection')));
  }

  ask({ method, path, body, key }: Request): Promise<Reply> {
    const token = path.startsWith('/_sandbox') ? this.#reached.adminToken : this.#reached.key;
    const text = body === undefined ? '' : JSON.stringify(body);
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`];
    if (key !== undefined) lines.push(`X-Idempotency-Key: ${key}`);
    if (text !== '') lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n${text}`);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(part: Buffer): void {
    this.#received = this.#received.length === 0 ? part : Buffer.concat([this.#received, part]);
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#received.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const text = this.#received.toString('utf8', end + 4, end + 4 + length);
    this.#received = this.#received.subarray(end + 4 + length);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, text });
  }
}
