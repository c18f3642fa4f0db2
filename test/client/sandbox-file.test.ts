/** Files of any size on their way into a sandbox. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { exportedFrom, importInto } from '../../src/client/sandbox-file.ts';
import { CliError } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';

const PIECE = new Uint8Array(262_144);
const PIECES = 40;

async function* manyPieces() {
  for (let count = 0; count < PIECES; count += 1) yield PIECE;
}

describe('an answer that is not that of the sandbox', () => {
  const HTML = '<html><h1>Gateway Timeout</h1></html>';
  const OWN = JSON.stringify({ error: 'busy', message: 'the store is busy', code: 503, request_id: 'req_1' });

  /** What an import, or an export, comes to before a server that does `answered` with a request. */
  async function endOf(answered: (request: IncomingMessage, response: ServerResponse) => void, way = importing) {
    const server = createServer(answered).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const place = { baseUrl: `http://127.0.0.1:${port}/_sandbox/v1`, token: new Secret('sandbox_token') };
    const thrown = await way({ ...place, signal: new AbortController().signal }).catch((error: unknown) => error);
    server.closeAllConnections();
    server.close();
    expect(thrown).toBeInstanceOf(CliError);
    const { kind, facts } = thrown as CliError;
    return { kind, outcome: facts.outcome, message: facts.message };
  }
  type Way = (place: Parameters<typeof importInto>[0]) => Promise<unknown>;
  const importing: Way = place => importInto(place, manyPieces());
  const exporting: Way = async place => {
    for await (const _ of exportedFrom(place));
  };
  const whole = (then: (response: ServerResponse) => void) => (request: IncomingMessage, response: ServerResponse) =>
    request.resume().on('end', () => then(response));
  const saying = (status: number, body: string) =>
    whole(response => response.writeHead(status, { 'content-type': 'text/html' }).end(body));

  it.each([500, 502, 503, 504])('is an unknown outcome of an import: HTTP %i', async status => {
    const end = await endOf(saying(status, HTML));
    expect(end).toMatchObject({ kind: 'outcome_unknown', outcome: 'unknown' });
    expect(end.message).toContain(`HTTP ${status}`);
  });

  it('is an unknown outcome where it is a success without the answer of an import', async () => {
    expect(await endOf(saying(200, HTML))).toMatchObject({ kind: 'outcome_unknown', outcome: 'unknown' });
  });

  it('is an unknown outcome where the connection ends behind the whole file', async () => {
    expect(await endOf(whole(response => response.destroy()))).toMatchObject({ kind: 'outcome_unknown' });
  });

  it('is no outcome where the connection ends within the file: a part of it changes nothing', async () => {
    const end = await endOf((request, response) => void request.once('data', () => response.destroy()));
    expect(end).toMatchObject({ kind: 'unreachable' });
  });

  it('is a no where the sandbox itself says so, or a proxy before the file was forwarded', async () => {
    expect(await endOf(saying(503, OWN))).toMatchObject({ kind: 'unreachable', outcome: 'refused' });
    expect(await endOf(saying(413, HTML))).toMatchObject({ kind: 'unreachable', outcome: 'refused' });
  });

  it('is nothing but a failed read of an export', async () => {
    expect(await endOf(saying(504, HTML), exporting)).toMatchObject({ kind: 'unreachable' });
  });
});
