/**
 * Exports and imports of a sandbox: files of any size, streamed over a connection of their own. The sandbox itself waits for its
 * store; nothing is repeated, and an import happened whole or not at all.
 */
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import type { SecureContext } from 'node:tls';
import { SNAPSHOT_FILE, TRANSFERS } from '../contract/sandbox/snapshots.ts';
import { CliError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import { readErrorBody } from './errors.ts';

interface SandboxAddress {
  /** `http://localhost/_sandbox/v1` or the address of a server. */
  readonly baseUrl: string;
  readonly socketPath?: string | undefined;
  readonly token: Secret;
  readonly signal: AbortSignal;
  /** Certificates that TLS trusts, PEM; the usual ones when left out. */
  readonly secureContext?: SecureContext | undefined;
}

/** The bytes of an export as they come. Throws `unreachable` when they do not come whole. */
export async function* exportedFrom(place: SandboxAddress): AsyncGenerator<Uint8Array> {
  const answer = await answerTo(place, TRANSFERS.export);
  let missing = Number(answer.headers['content-length']);
  try {
    for await (const piece of answer as AsyncIterable<Uint8Array>) {
      missing -= piece.length;
      yield piece;
    }
  } catch (error) {
    throw interrupted(place, error);
  }
  if (missing !== 0) throw interrupted(place, undefined);
}

/**
 * Sends a file in place of what the sandbox holds. Resolves to the JSON of the answer. Throws `outcome_unknown` where the whole
 * file was sent and the sandbox itself did not answer: a proxy that gave up does not know what became of it.
 */
export async function importInto(place: SandboxAddress, pieces: AsyncIterable<Uint8Array>): Promise<unknown> {
  const answer = jsonOf(await text(await answerTo(place, TRANSFERS.import, pieces)));
  if (answer === undefined) throw unknownImport(place, 'the answer is none of a sandbox');
  return answer;
}

async function answerTo(
  place: SandboxAddress,
  { method, path }: { readonly method: string; readonly path: string },
  pieces?: AsyncIterable<Uint8Array>,
): Promise<IncomingMessage> {
  const { baseUrl, socketPath, token, signal, secureContext } = place;
  const url = new URL(baseUrl + path);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${token.expose()}`,
        ...(pieces !== undefined && { 'content-type': SNAPSHOT_FILE.contentType }),
      },
      ...(socketPath !== undefined && { socketPath }),
      ...(secureContext && { secureContext }),
    });
    sent.on('response', resolve);
    sent.on('error', (error: Error) => {
      const isWhole = pieces !== undefined && sent.writableFinished;
      const failure = isWhole ? unknownImport(place, error.message) : interrupted(place, error);
      reject(signal.aborted ? signal.reason : failure);
    });
    if (pieces === undefined) sent.end();
    else send(sent, pieces).catch((error: unknown) => sent.destroy(error instanceof Error ? error : undefined));
  });
  const { statusCode: status = 0 } = answer;
  if (status === 200) return answer;
  const said = readErrorBody(jsonOf(await text(answer)))?.message;
  if (pieces !== undefined && said === undefined && status >= 500) throw unknownImport(place, `HTTP ${status}`);
  const kind = status === 401 || status === 403 ? 'not_authenticated' : status === 409 ? 'refused' : 'unreachable';
  const message = `the sandbox refused it: ${said ?? `HTTP ${status}`}`;
  throw new CliError(kind, { message, httpStatus: status, outcome: 'refused' });
}

async function send(sent: ClientRequest, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    // An answer before the end says no: the rest is not wanted.
    if (sent.destroyed || sent.writableEnded) return;
    if (sent.write(piece)) continue;
    // More may be written, or nothing ever will; no listener is left behind.
    await new Promise<void>(resolve => {
      const goOn = () => {
        sent.off('drain', goOn).off('close', goOn);
        resolve();
      };
      sent.on('drain', goOn).on('close', goOn);
    });
  }
  sent.end();
}

/** Undefined for a text that is no JSON. */
function jsonOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function unknownImport(place: SandboxAddress, why: string): CliError {
  return new CliError('outcome_unknown', {
    message: `the whole file was sent to the sandbox at ${shownPlace(place)}, and it did not answer: ${why}`,
    notes: ['It holds the file whole, or what it held before. It may still be at work.'],
    hint: 'cardwright sandbox status',
    outcome: 'unknown',
  });
}

function shownPlace({ baseUrl, socketPath }: SandboxAddress): string {
  return socketPath ?? new URL(baseUrl).host;
}

function interrupted(place: SandboxAddress, cause: unknown): CliError {
  // The file could not be read to its end: an import that was cut off changes nothing, and says so itself.
  if (cause instanceof CliError) return cause;
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return new CliError('unreachable', {
    message: `the connection to the sandbox at ${shownPlace(place)} was interrupted${why}`,
    hint: 'cardwright sandbox status',
    outcome: 'unknown',
    cause,
  });
}
