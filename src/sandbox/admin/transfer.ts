/**
 * A snapshot as one file over HTTP: the line of its manifest, then the files of its tables as they are, in the order
 * of the manifest, which says how long each is. Streamed through files, so that its size is nobody's memory.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { RESTORED, SNAPSHOT_FILE, SNAPSHOT_MARK, TRANSFERS, type Transfer } from '../../contract/sandbox/snapshots.ts';
import { Damaged, MANIFEST_FILE, type Manifest, manifestLine, readManifest } from '../archive/manifest.ts';
import { saveInto, tableFile, writeAll } from '../archive/save.ts';
import { Refused } from '../calls/handler.ts';
import { wireObject } from '../calls/sealed.ts';
import { Gone } from '../http/body.ts';
import type { ServiceParts } from '../service/service.ts';
import { readingAll, replaceStore } from './snapshots.ts';

/** Which of the two a request asks for; any other method is none of them. */
export function transferOf({ method, url = '' }: IncomingMessage): Transfer | undefined {
  const [path] = url.split('?', 1);
  return NAMES.find(name => method === TRANSFERS[name].method && path === ADMIN_PATH + TRANSFERS[name].path);
}
const NAMES = Object.keys(TRANSFERS) as readonly Transfer[];

/** An export that lies ready to be sent. */
export interface Export extends AsyncDisposable {
  /** Answers with the file. `headers` are those of every answer. */
  sendTo(response: ServerResponse, headers: Readonly<Record<string, string>>): Promise<void>;
}

/** Reads the whole store. Throws `StoreBusy` when it cannot be read; nothing is kept then. */
export async function makeExport(parts: ServiceParts): Promise<Export> {
  const folder = await parts.archives.unfinished('export');
  const remove = () => rm(folder, { recursive: true, force: true });
  const { account, platform } = parts;
  const reading = readingAll(parts, (sql, now) => saveInto(folder, sql, { account, now, platform }));
  const manifest = await reading.catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const line = manifestLine(manifest);
  const length = manifest.tables.reduce((sum, { bytes }) => sum + bytes, Buffer.byteLength(line));
  return {
    async sendTo(response, headers) {
      response.writeHead(200, {
        ...headers,
        'Content-Type': SNAPSHOT_FILE.contentType,
        'Content-Length': String(length),
      });
      await pipeline(wholeFile(folder, line, manifest), response).catch((error: unknown) => {
        // A client may close the connection with the last byte, before the response has ended.
        throw isOfTheClient(error) ? new Gone('the client went away') : error;
      });
    },
    [Symbol.asyncDispose]: remove,
  };
}

function isOfTheClient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && LEFT.has(error.code);
}

/** Codes of a response whose connection was closed by the other side. */
const LEFT: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

async function* wholeFile(folder: string, line: string, { tables }: Manifest): AsyncGenerator<Uint8Array> {
  yield Buffer.from(line);
  for (const { name } of tables) yield* createReadStream(join(folder, tableFile(name)));
}

/** Takes a file in and puts it in place of what is there; resolves to the JSON of the answer. */
export async function takeImport(parts: ServiceParts, request: IncomingMessage): Promise<string> {
  if (request.headers['content-type'] !== SNAPSHOT_FILE.contentType) {
    throw new Refused('unsupported_media_type', `Send the file as ${SNAPSHOT_FILE.contentType}.`);
  }
  const folder = await parts.archives.unfinished('import');
  try {
    await mkdir(folder, { mode: 0o700 });
    await apart(request, folder);
    return restoredText(await replaceStore(parts, folder));
  } catch (error) {
    // What is left of it need not be read.
    request.resume();
    if (error instanceof Damaged) return restoredText({ restored: false, problems: [error.message] });
    throw request.errored ? new Gone('the client went away') : error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const restoredText = (outcome: object) =>
  JSON.stringify(wireObject(RESTORED, outcome as Readonly<Record<string, unknown>>));

const LONGEST_MANIFEST = 65_536;

/** Takes the one file apart into a folder as it was saved. Sums are checked later, lengths here. */
async function apart(pieces: AsyncIterable<Uint8Array>, folder: string): Promise<void> {
  const reader = new Pieces(pieces);
  const line = await reader.line(LONGEST_MANIFEST);
  if (!line.startsWith(SNAPSHOT_MARK)) throw new Damaged('it is no export of a sandbox');
  const manifest = readManifest(line);
  await written(join(folder, MANIFEST_FILE), file => writeAll(file, Buffer.from(line)));
  for (const table of safely(manifest)) {
    await written(join(folder, tableFile(table.name)), file => reader.copy(table.bytes, file));
  }
  if (!(await reader.isAtEnd())) throw new Damaged('there is more in the file than was written');
}

/** Names become names of files here: whatever a manifest says, they stay in their folder. */
function safely({ tables }: Manifest): Manifest['tables'] {
  const isSafe = tables.every(({ name, bytes }) => /^[a-z_]{1,64}$/.test(name) && Number.isSafeInteger(bytes));
  if (isSafe && new Set(tables.map(({ name }) => name)).size === tables.length) return tables;
  throw new Damaged('its tables are not those of a sandbox');
}

async function written(path: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

/** Bytes as they come, read by line and by length. */
class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#source = pieces[Symbol.asyncIterator]();
  }

  /** The next line, its end included. */
  async line(longest: number): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf(10) + 1;
      if (end > 0) return new TextDecoder().decode(this.#taken(end));
      if (this.#held.length > longest || !(await this.#more())) throw new Damaged('it is no export of a sandbox');
    }
  }

  async copy(length: number, file: FileHandle): Promise<void> {
    for (let left = length; left > 0; ) {
      if (this.#held.length === 0 && !(await this.#more())) throw new Damaged('the file ends too early');
      const part = this.#taken(Math.min(left, this.#held.length));
      left -= part.length;
      await writeAll(file, part);
    }
  }

  async isAtEnd(): Promise<boolean> {
    return this.#held.length === 0 && !(await this.#more());
  }

  #taken(length: number): Uint8Array {
    const part = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    return part;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done === true) return false;
    this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value]);
    return true;
  }
}
