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
    return await new Promise((resolve, reject) => line.ask(request, { resolve, reject, wantsBody: true }));
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
    await new Promise((resolve, reject) => {
      let began;
      // No promise for each request: what the client takes is no part of what is asked.
      const heard = ({ status, body }) => {
        const now = performance.now();
        if (status >= 400) return reject(new Error(`answered ${status}: ${body}`));
        times.push(now - began);
        next(now);
      };
      const next = now => {
        if (now >= until || sent >= count) return resolve();
        const asked = request(sent++);
        began = performance.now();
        line.ask(asked, { resolve: heard, reject, wantsBody: false });
      };
      next(performance.now());
    });
    line.close();
  };
  await Promise.all(Array.from({ length: connections }, one));
  return times;
}

/** A kept connection; one request at a time. */
function connection({ port, headers = '' }) {
  let buffered;
  let waiting;
  const receive = (size, room) => {
    const part = room.subarray(0, size);
    const bytes = buffered === undefined ? part : Buffer.concat([buffered, part]);
    const answer = wholeAnswer(bytes, waiting?.wantsBody);
    // The room is used again.
    buffered = answer === undefined ? Buffer.from(bytes) : undefined;
    if (answer !== undefined) waiting.resolve(answer);
  };
  const onread = { buffer: Buffer.allocUnsafe(65_536), callback: receive };
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
  socket.on('error', error => waiting?.reject(error));
  socket.on('close', () => waiting?.reject(new Error('the server closed the connection')));
  const ask = ({ method, path, body, key }, expecting) => {
    const kept = key === undefined ? '' : `X-Idempotency-Key: ${key}\r\n`;
    const sized =
      body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}${kept}${sized}\r\n`;
    waiting = expecting;
    socket.write(head + (body ?? ''));
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

/** Status and body of an answer once all of it is there, sized or in chunks; the body where it is wanted, or an error. */
function wholeAnswer(bytes, wantsBody) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.latin1Slice(0, end);
  const status = Number(head.slice(9, 12));
  const body = last => (wantsBody || status >= 400 ? bytes.toString('utf8', end + 4, last) : undefined);
  const size = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (size !== undefined) {
    const length = end + 4 + Number(size);
    return bytes.length < length ? undefined : { status, body: body(length) };
  }
  const last = bytes.indexOf('\r\n0\r\n\r\n', end + 2, 'latin1');
  return last < 0 ? undefined : { status, body: body(last) };
}
