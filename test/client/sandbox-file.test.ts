/** Files of any size on their way into a sandbox. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { importInto } from '../../src/client/sandbox-file.ts';
import { Secret } from '../../src/core/secret.ts';

const PIECE = new Uint8Array(262_144);
const PIECES = 40;

async function* manyPieces() {
  for (let count = 0; count < PIECES; count += 1) yield PIECE;
}

it('waits for the sandbox at each piece, and leaves nothing behind that waits', async () => {
  let came = 0;
  const server = createServer((request, response) => {
    request.on('data', (part: Uint8Array) => {
      came += part.length;
    });
    request.on('end', () => response.end('{"restored":true}'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);
  process.on('warning', warned);
  const { port } = server.address() as AddressInfo;
  const place = { baseUrl: `http://127.0.0.1:${port}/_sandbox/v1`, token: new Secret('sandbox_token') };
  const answer = await importInto({ ...place, signal: new AbortController().signal }, manyPieces());
  // Warnings come after the turn they are about.
  await setImmediate();
  process.off('warning', warned);
  server.close();
  expect({ answer, came }).toEqual({ answer: { restored: true }, came: PIECES * PIECE.length });
  expect(warnings.map(({ message }) => message)).toEqual([]);
});
