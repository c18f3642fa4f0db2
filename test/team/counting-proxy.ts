/** A way to the server that counts: logins, and calls, each of which waits for its answer. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A call of the extended protocol ends with one; a simple one is a message of its own. */
const SYNC = 0x53;
const QUERY = 0x51;

/** Tells of each whole message of one client; the first one has no type. */
function createReader(tell: (type: number | 'login') => void) {
  let rest = Buffer.alloc(0);
  let isFirst = true;
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const before = isFirst ? 0 : 1;
      if (rest.length < before + 4) return;
      const length = before + rest.readUInt32BE(before);
      if (rest.length < length) return;
      tell(isFirst ? 'login' : (rest[0] ?? 0));
      isFirst = false;
      rest = rest.subarray(length);
    }
  };
}

/** Before the socket of a server. */
export async function countingProxy({ socket, port }: { readonly socket: string; readonly port: number }) {
  const place = await temporaryFolder();
  const counted = { logins: 0, calls: 0 };
  const server = createServer(near => {
    const far = connect(join(socket, `.s.PGSQL.${port}`));
    const read = createReader(type => {
      if (type === 'login') counted.logins += 1;
      else if (type === SYNC || type === QUERY) counted.calls += 1;
    });
    for (const each of [near, far])
      each.on('error', () => undefined).on('close', () => [near, far].map(end => end.destroy()));
    near.on('data', (chunk: Buffer) => read(chunk));
    near.pipe(far).pipe(near);
  });
  await once(server.listen(join(place.path, `.s.PGSQL.${port}`)), 'listening');
  return {
    folder: place.path,
    port,
    /** Since it was asked last. */
    taken() {
      const { logins, calls } = counted;
      Object.assign(counted, { logins: 0, calls: 0 });
      return { logins, calls };
    },
    async [Symbol.asyncDispose]() {
      server.close();
      await place[Symbol.asyncDispose]();
    },
  };
}
