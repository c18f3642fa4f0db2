/** A port for a program that must be told one: free now, and below those that the system gives to others. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const server = createServer();
    const isFree = await Promise.race([
      once(server.listen(port, '127.0.0.1'), 'listening').then(() => true),
      once(server, 'error').then(() => false),
    ]).catch(() => false);
    if (!isFree) continue;
    await once(server.close(), 'close');
    return port;
  }
}
