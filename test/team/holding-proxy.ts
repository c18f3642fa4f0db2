/** A way to the server on which a call waits until it is let through: others come between. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';

function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { opened, open };
}

/** Before the socket of a server. What calls `text` for the first time waits. */
export async function holdingProxy({ socket, port }: { readonly socket: string; readonly port: number }, text: string) {
  const place = await temporaryFolder();
  const [held, release] = [gate(), gate()];
  let isUsed = false;
  const server = createServer(near => {
    const far = connect(join(socket, `.s.PGSQL.${port}`));
    for (const each of [near, far])
      each.on('error', () => undefined).on('close', () => [near, far].map(end => end.destroy()));
    near.on('data', async (chunk: Buffer) => {
      if (!isUsed && chunk.includes(text)) {
        isUsed = true;
        near.pause();
        held.open();
        await release.opened;
        near.resume();
      }
      far.write(chunk);
    });
    far.pipe(near);
  });
  await once(server.listen(join(place.path, `.s.PGSQL.${port}`)), 'listening');
  return {
    folder: place.path,
    port,
    /** Resolves when it waits. */
    held: held.opened,
    release: release.open,
    async [Symbol.asyncDispose]() {
      release.open();
      server.close();
      await place[Symbol.asyncDispose]();
    },
  };
}
