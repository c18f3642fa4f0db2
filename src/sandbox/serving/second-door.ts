/** `::1` beside 127.0.0.1: programs may take `localhost` for it, and some of them try no second address. */
import type { Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';

/**
 * Takes connections on the same port of `::1` and hands them to `server`, whose limits, answers and end are theirs too:
 * both doors together let in `most`. Rejects with the system's error, EADDRINUSE or EADDRNOTAVAIL; then nothing listens.
 */
export function secondDoor(server: HttpServer, port: number, most: number): Promise<Server> {
  const door = createServer({ allowHalfOpen: true, noDelay: true }, socket => server.emit('connection', socket));
  return new Promise((resolve, reject) => {
    door.once('error', reject);
    door.listen({ host: '::1', port, ipv6Only: true }, () => {
      door.off('error', reject);
      let open = 0;
      server.on('connection', (socket: Socket) => {
        open += 1;
        socket.once('close', () => {
          open -= 1;
        });
        if (open > most) socket.destroy();
      });
      resolve(door);
    });
  });
}
