/** A load over loopback, of the plainest kind, so that what is measured is the server and not a client library. */
import { connect } from 'node:net';

export function get(path) {
  return { method: 'GET', path };
}

export function post(path, body, key) {
  return { method: 'POST', path, body: JSON.stringify(body), key };
}

/** Sends one request on a connection of its own. `server` has `port` and, where needed, `headers`. */
export async function once(server, request) {
  const line = await connection(server);
  try {
    return await line.ask(request);
  } finally {
    line.close();
  }
}

/**
 * Sends requests one after another on each of some connections, until a time or a number of them; resolves to the
 * time each took, ms. `request` makes the nth. Throws for an answer that is an error.
 */
export async function repeat(server, { connections, request, until = Infinity, count = Infinity }) {
  const times = [];
  let sent = 0;
  const one = async () => {
    const line = await connection(server);
    while (performance.now() < until && sent < count) {
      const began = performance.now();
      const { status, body } = await line.ask(request(sent++));
      if (status >= 400) throw new Error(`answered ${status}: ${body}`);
      times.push(performance.now() - began);
    }
    line.close();
  };
  await Promise.all(Array.from({ length: connections }, one));
  return times;
}

/** A kept connection; one request at a time. */
function connection({ port, headers = '' }) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let buffered = Buffer.alloc(0);
  let waiting;
  socket.on('data', part => {
    buffered = buffered.length === 0 ? part : Buffer.concat([buffered, part]);
    const answer = wholeAnswer(buffered);
    if (answer === undefined) return;
    buffered = buffered.subarray(answer.length);
    waiting.resolve(answer);
  });
  socket.on('error', error => waiting?.reject(error));
  socket.on('close', () => waiting?.reject(new Error('the server closed the connection')));
  const ask = ({ method, path, body, key }) => {
    const kept = key === undefined ? '' : `X-Idempotency-Key: ${key}\r\n`;
    const sized =
      body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}${kept}${sized}\r\n`;
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(head + (body ?? ''));
    });
  };
  const close = () => {
    waiting = undefined;
    socket.destroy();
  };
  return new Promise((resolve, reject) => {
    waiting = { resolve, reject };
    socket.on('connect', () => resolve({ ask, close }));
  });
}

/** Status, body and length of an answer once all of it is there: sized, or in chunks. */
function wholeAnswer(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const status = Number(head.slice(9, 12));
  const size = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (size !== undefined) {
    const length = end + 4 + Number(size);
    return bytes.length < length ? undefined : { status, length, body: bytes.toString('utf8', end + 4, length) };
  }
  const last = bytes.indexOf('\r\n0\r\n\r\n', end + 2, 'latin1');
  return last < 0 ? undefined : { status, length: last + 7, body: bytes.toString('utf8', end + 4, last) };
}
