/**
 * The program, with a test key, before a service that does what a test tells it: every write goes through a script, which
 * decides whether it is executed and what is answered. Its books are those of `card-books.ts`; it ignores idempotency keys.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Answered, Books, type CardRequest, isWrite, requestOf } from './card-books.ts';
import { errorOf, type Ran, WORLD_TIME, type World, world } from './world.ts';

type Shown = Readonly<Record<string, unknown>>;
type Answer = Answered | 'lost';

/** `execute` changes the books and gives the answer of an honest service; `lost` closes the connection without an answer. */
export type Script = (execute: () => Answered) => Answer;

export interface ScriptedService {
  script: Script;
  /** What a GET is answered in place of the truth; undefined: the truth. */
  reads: (path: string) => Answered | undefined;
  /** How a card is shown, in every answer. */
  shown: (card: Shown) => Shown;
  /** From now on connections are refused, until `back`. */
  gone(): Promise<void>;
  back(): Promise<void>;
  /** With `card_old`: active, 100 dollars, made long ago; 1000 dollars in the wallet. */
  readonly books: Books<CardRequest>;
  /** Writes that were executed, in order. */
  effects(): readonly string[];
  /** Writes that were asked for, in order. */
  readonly asked: string[];
}

export interface Told extends Ran {
  /** The error of the JSON line; empty when there is none. */
  readonly error: Readonly<Record<string, unknown>>;
}

export interface ScriptedWorld extends AsyncDisposable {
  readonly service: ScriptedService;
  readonly here: World;
  /** Runs a line with `--json`; pauses between two looks pass at once. */
  run(line: string): Promise<Told>;
}

/** While the service is gone, no server of another test is given its port: those that the system gives lie above. */
const BELOW_GIVEN_PORTS = [15_000, 32_000] as const;

export async function scriptedWorld(): Promise<ScriptedWorld> {
  const now = Date.parse(WORLD_TIME);
  const books = new Books<CardRequest>({ keys: 'ignored', cards: [{ id: 'card_old', label: 'old' }] }, () => now);
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url = '' } = incoming;
    const answer = answerTo(service, requestOf(method, url, undefined, await text(incoming)));
    if (answer === 'lost') return void outgoing.destroy();
    // The clock of a test stands still; a real date would be told as a wrong one.
    outgoing.writeHead(answer.status, { 'content-type': 'application/json', date: new Date(now).toUTCString() });
    outgoing.end(JSON.stringify(answer.body));
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  };
  let port = randomInt(...BELOW_GIVEN_PORTS);
  while (
    !(await listen(port).then(
      () => true,
      () => false,
    ))
  )
    port = randomInt(...BELOW_GIVEN_PORTS);
  const service: ScriptedService = {
    script: execute => execute(),
    reads: () => undefined,
    shown: card => card,
    gone: close,
    back: () => listen(port),
    books,
    effects: () => books.effects.map(({ operation }) => operation),
    asked: [],
  };
  const here = await world({
    env: {
      CARDWRIGHT_PROFILE: '',
      CARDWRIGHT_BASE_URL: `http://127.0.0.1:${port}/v1`,
      CARDWRIGHT_API_KEY: 'sk_test_scripted_service_77aa',
    },
  });
  return {
    service,
    here,
    async run(line) {
      // What stands after `--` belongs to a program.
      const [own = '', ...program] = line.split(' -- ');
      const ran = await here.run([`${own} --json`, ...program].join(' -- '), { onPause: () => undefined });
      return { ...ran, error: errorOf(ran) };
    },
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await close();
    },
  };
}

function answerTo({ books, script, reads, shown, asked }: ScriptedService, request: CardRequest): Answer {
  const showing = (answer: Answered): Answered => {
    const body = answer.body as { readonly data?: readonly Shown[] } & Shown;
    if (body.data !== undefined) return { ...answer, body: { ...body, data: body.data.map(shown) } };
    return 'bin_id' in body ? { ...answer, body: shown(body) } : answer;
  };
  if (isWrite(request.operation)) {
    asked.push(request.operation);
    return script(() => showing(books.write(request)));
  }
  const [path = ''] = request.path.split('?');
  return reads(path) ?? (path.startsWith('/cards') ? showing(books.read(request)) : books.read(request));
}
