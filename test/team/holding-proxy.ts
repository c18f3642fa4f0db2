/** A way to the server on which a call waits until it is let through: others come between. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';

function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { opened, open };
}

/** Before the socket of a server. What calls `text` for the first time waits; with `answer` it is its answer that does. */
export async function holdingProxy(
  { socket, port }: { readonly socket: string; readonly port: number },
  text: string,
  holds: 'call' | 'answer' = 'call',
) {
  const place = await temporaryFolder();
  const [held, release] = [gate(), gate()];
  let [isUsed, isAway] = [false, false];
  const through = new Set<Socket>();
  async function letThrough(end: Socket): Promise<void> {
    end.pause();
    held.open();
    await release.opened;
    end.resume();
  }
  const server = createServer(near => {
    if (isAway) return void near.destroy();
    const far = connect(join(socket, `.s.PGSQL.${port}`));
    through.add(near);
    for (const each of [near, far])
      each.on('error', () => undefined).on('close', () => [near, far].map(end => end.destroy()));
    let isAnswerHeld = false;
    near.on('data', async (chunk: Buffer) => {
      if (!isUsed && chunk.includes(text)) {
        isUsed = true;
        isAnswerHeld = holds === 'answer';
        if (!isAnswerHeld) await letThrough(near);
      }
      far.write(chunk);
    });
    far.on('data', async (chunk: Buffer) => {
      if (isAnswerHeld) await letThrough(far);
      isAnswerHeld = false;
      near.write(chunk);
    });
  });
  await once(server.listen(join(place.path, `.s.PGSQL.${port}`)), 'listening');
  return {
    folder: place.path,
    port,
    /** Resolves when it waits. */
    held: held.opened,
    release: release.open,
    /** What waits never arrives, and nobody gets through until `mend`. */
    cut(): void {
      isAway = true;
      for (const each of through) each.destroy();
      release.open();
    },
    mend(): void {
      isAway = false;
    },
    async [Symbol.asyncDispose]() {
      release.open();
      server.close();
      await place[Symbol.asyncDispose]();
    },
  };
}
