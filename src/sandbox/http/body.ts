/** Reads the body of a request: JSON, small, an object. */
import type { IncomingMessage } from 'node:http';
import { LIMITS } from '../../contract/limits.ts';
import { Refused } from '../calls/handler.ts';

/** The client went away before its request was whole: there is nobody to answer. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

/** The fields of the body; none when there is no body. Throws `Refused` for a body that is none of the kind. */
export async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const announced = Number(request.headers['content-length'] ?? 0);
  const isPresent = announced > 0 || request.headers['transfer-encoding'] !== undefined;
  if (!isPresent) return {};
  if (announced > LIMITS.requestBody.max) throw tooLarge();
  if (!isJson(request)) throw new Refused('unsupported_media_type', 'Send the body as application/json in UTF-8.');
  const bytes = await collected(request);
  if (bytes.length === 0) return {};
  const value = parsed(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refused('invalid_request', 'The body must be a JSON object.');
  }
  if (depthOf(value) > DEEPEST) throw new Refused('invalid_request', 'The body is nested too deep.');
  return value as Readonly<Record<string, unknown>>;
}

/** Deeper than any body of the contract, far from what would exhaust the stack. */
const DEEPEST = 16;

function isJson(request: IncomingMessage): boolean {
  if (request.headers['content-encoding'] !== undefined) return false;
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map(parameter => parameter.trim()).find(parameter => parameter.startsWith('charset='));
  return type.trim() === 'application/json' && (charset === undefined || /^charset="?utf-8"?$/.test(charset));
}

async function collected(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size > LIMITS.requestBody.max) reject(tooLarge());
      else parts.push(part);
    });
    request.on('end', () => resolve(Buffer.concat(parts)));
    // Also comes after the end of every whole request.
    request.on('close', () => request.complete || reject(new Gone('the client went away')));
    request.on('error', () => reject(new Gone('the client went away')));
  });
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) {
      throw new Refused('invalid_request', 'The body is not JSON in UTF-8.');
    }
    throw error;
  }
}

/** Levels of nesting, counted level by level so that a deep body cannot exhaust the stack. */
function depthOf(value: object): number {
  let depth = 0;
  for (let level: readonly object[] = [value]; level.length > 0 && depth <= DEEPEST; depth += 1) {
    level = level
      .flatMap(entry => Object.values(entry) as unknown[])
      .filter(entry => typeof entry === 'object' && entry !== null) as object[];
  }
  return depth;
}

function tooLarge(): Refused {
  return new Refused('payload_too_large', `A body may have at most ${LIMITS.requestBody.max} bytes.`);
}
