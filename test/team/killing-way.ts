/** The ways of a process to the database and to the service. Around the n-th message on either of them the process is killed. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Targets {
  readonly database: { readonly socket: string; readonly port: number };
  readonly service: { readonly port: number };
}

/** What is asked and does not arrive, or is done and not answered. */
export async function killingWay({ database, service }: Targets) {
  const place = await temporaryFolder();
  let left: number | undefined;
  let kill: (() => void) | undefined;
  /** Whether it is the message that does not pass. */
  const isLast = (): boolean => {
    if (left === undefined) return false;
    left -= 1;
    if (left > 0) return false;
    if (left === 0) kill?.();
    return true;
  };
  const through = new Set<Socket>();
  const way = (open: () => Socket) =>
    createServer(near => {
      const far = open();
      for (const each of [near, far]) {
        through.add(each);
        each
          .on('error', () => undefined)
          .on('close', () => {
            through.delete(each);
            for (const end of [near, far]) end.destroy();
          });
      }
      near.on('data', chunk => void (isLast() ? far.destroy() : far.write(chunk)));
      far.on('data', chunk => void (isLast() ? near.destroy() : near.write(chunk)));
    });
  const toDatabase = way(() => connect(join(database.socket, `.s.PGSQL.${database.port}`)));
  const toService = way(() => connect(service.port, '127.0.0.1'));
  await once(toDatabase.listen(join(place.path, `.s.PGSQL.${database.port}`)), 'listening');
  await once(toService.listen(0, '127.0.0.1'), 'listening');
  return {
    /** Folder of the socket of the database; its port is that of the server. */
    socket: place.path,
    /** Of the service. */
    port: (toService.address() as AddressInfo).port,
    /** From now on messages are counted. */
    arm(messages: number, strike: () => void): void {
      left = messages;
      kill = strike;
    },
    /** Counts something that is no message, such as the answer of the process; it may be where it is killed. */
    isLast,
    /** Everything passes again. */
    disarm(): void {
      left = undefined;
    },
    async [Symbol.asyncDispose]() {
      for (const each of through) each.destroy();
      for (const server of [toDatabase, toService]) server.close();
      await place[Symbol.asyncDispose]();
    },
  };
}
