/** A way to a PostgreSQL server that is cut as a COMMIT is on its way. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Server } from '../postgres/server.ts';
import { temporaryFolder } from './temporary-folder.ts';

type Reached = Pick<Server, 'socket' | 'port'>;

/** A way to the server that is cut, when told to, once a COMMIT has gone through, or just before. */
export async function cuttingWay() {
  const folder = await temporaryFolder();
  const way: { cut: 'before' | 'after' | undefined } = { cut: undefined };
  const ends = new Set<Socket>();
  const to = async ({ socket, port }: Reached): Promise<Reached> => {
    const server = createServer(near => {
      const far = connect(join(socket, `.s.PGSQL.${port}`));
      const close = () => [near, far].map(end => end.destroy());
      for (const end of [near, far]) ends.add(end.on('error', close).on('close', close));
      far.pipe(near);
      near.on('data', (bytes: Buffer) => {
        const { cut } = way;
        if (cut === undefined || !bytes.includes('\0commit\0')) return void far.write(bytes);
        way.cut = undefined;
        far.unpipe(near);
        if (cut === 'before') return void close();
        // The answers of the statements before it may come first. All of them go nowhere.
        let answers = Buffer.alloc(0);
        far.on('data', (part: Buffer) => {
          answers = Buffer.concat([answers, part]);
          if (answers.includes('COMMIT\0')) close();
        });
        far.write(bytes);
        far.resume();
      });
    });
    await once(server.listen(join(folder.path, `.s.PGSQL.${port}`)), 'listening');
    server.unref();
    return { socket: folder.path, port };
  };
  const close = async () => {
    for (const end of ends) end.destroy();
    await folder[Symbol.asyncDispose]();
  };
  return { way, to, [Symbol.asyncDispose]: close };
}
