/**
 * One run: its questions, progress and notices, and what is opened for it: the service it speaks to, the profile's or the
 * embedded sandbox; limits, journal, audit log.
 */
import { join } from 'node:path';
import type { AuditLog } from '../audit/log.ts';
import type { Observed, Wait } from '../client/request.ts';
import type { SandboxAdmin } from '../contract/sandbox/admin.ts';
import type { Reader, Service } from '../contract/service.ts';
import { CliError, undefinedOn } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import type { Secret } from '../core/secret.ts';
import { isKept } from '../id-cache/path.ts';
import type { Database } from '../journal/database.ts';
import { LIMIT_NAMES, limitWords, readLimits, type SourcedLimits, sourceWords, strictest } from '../limits/limits.ts';
import { readManagedLimits } from '../limits/managed-file.ts';
import type { ProfileSettings } from '../profile/settings.ts';
import type { EmbeddedSandbox } from '../sandbox/serving/start.ts';
import { createProgress } from '../terminal/progress.ts';
import { createPrompts, typedInput } from '../terminal/prompts.ts';
import { screenWidth } from '../terminal/screen.ts';
import { checkSandboxIsMeant, namedElsewhere, resolve, type Where, whoseOf } from './account.ts';
import { type Globals, withRepeated } from './globals.ts';
import type { AppHost } from './process-host.ts';

/** Enough for a database that starts again. Who waits for longer than that needs the journal for what he does. */
const URGENT_PATIENCE_MS = 5_000;

/** What a run is opened with. */
export interface Opening {
  readonly host: AppHost;
  readonly version: string;
  readonly globals: Globals;
  /** Filled with what takes secrets of this run out of a text. */
  readonly redactions: ((text: string) => string)[];
  /** Filled with the keys of this run, which are taken out of all output. */
  readonly keys: Set<string>;
  /** Filled with what makes room on a terminal for the answer. */
  readonly beforeOutput: Set<() => void>;
  /** It only looks, or freezes cards: it does not wait long for a shared journal. */
  readonly isUrgent: boolean;
  /** Words after `--`. */
  readonly rest: readonly string[];
  /** Runs a line of its own over another host in this process. Resolves to its exit code. */
  readonly again: (host: AppHost) => Promise<number>;
}

/** A run that can speak to a person; nothing is opened, read or asked yet. `files` is for private files of ours. */
function beginRun(opening: Opening) {
  const { host, globals } = opening;
  const { env, clock, onCrash, writeTerminal, platform, noise: random } = host;
  const { stdin, stdout, stderr } = host.streams;
  const rowsOnScreen = stdout.isTerminal && !['table', 'wide', 'json'].includes(globals.format);
  const columns = () => screenWidth(env, stderr);
  // One redrawn line for a person at a terminal, a sentence now and then for a screen reader and a log.
  const canRedraw = stderr.isTerminal && env['TERM'] !== 'dumb' && !globals.accessible;
  const mode = globals.quiet ? 'none' : canRedraw ? 'redraw' : 'lines';
  // A program that reads the answer may draw on the same terminal.
  const watched = !globals.quiet && stderr.isTerminal && (stdout.isTerminal || !globals.machine);
  const progress = createProgress({ mode, stderr, clock, columns, onCrash, writeTerminal, rowsOnScreen, watched });
  if (stdout.isTerminal) opening.beforeOutput.add(progress.clear);
  const notice = (text: string) => {
    if (!globals.quiet) progress.say(withRepeated(text, globals.repeated));
  };
  /** A notice that begins with `warning:`. */
  const warn = (text: string) => notice(`warning: ${text}`);
  const terminal = {
    stdin: typedInput(stdin, notice),
    prompts: createPrompts({
      streams: host.streams,
      allowed: !globals.noInput,
      accessible: globals.accessible || env['TERM'] === 'dumb',
      // Opened when something is asked: Node's streams take a while.
      get input() {
        return host.promptInput;
      },
      get output() {
        return host.promptOutput;
      },
      signal: host.signal,
    }),
    progress,
    canAsk: !globals.noInput && stdin.isTerminal && stderr.isTerminal,
    /** A line that was asked for by name: `--quiet` does not take it away. */
    trace: (line: string) => progress.line(line),
    /** `::add-mask::` lines under GitHub Actions, nothing elsewhere. No redactor: the runner reads the text itself, and takes the line out of the log. */
    maskInLog(texts: readonly string[]) {
      if (env['GITHUB_ACTIONS'] !== 'true' || texts.length === 0) return;
      // A line break in a text would begin a command of its own.
      const escaped = texts.map(each => each.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'));
      writeTerminal(escaped.map(each => `::add-mask::${each}\n`).join(''));
    },
    /** How long this command waits for a shared journal, and how a person is told. */
    waiting: { onWait: progress.awaited, ...(opening.isUrgent && { patienceMs: URGENT_PATIENCE_MS }) },
  };
  return { ...opening, terminal, notice, warn, files: { platform, random, warn } };
}

/** Runs `make` at the first call and keeps its promise. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Answers whose ids are kept of one run: the first pages of a long list are enough. */
const MOST_NOTED = 20;

function connections(settings: ReturnType<typeof beginRun>) {
  const { host, globals, terminal } = settings;
  /** Of what leads to the service; of journals. */
  const closers: (() => Promise<void>)[] = [];
  const journals: (() => Promise<void>)[] = [];
  let observed: Observed | undefined;
  let serverDate: { readonly dateMs: number; readonly at: number } | undefined;

  const shown: [operation: string, input: Readonly<Record<string, unknown>>, result: unknown][] = [];
  const resolved = once(() => resolve(settings));
  const embedded = once(async (): Promise<EmbeddedSandbox> => {
    const sandbox = await host.openSandbox();
    closers.push(() => sandbox.stop());
    return sandbox;
  });
  const overridesOf = async (file?: string) => {
    const { NO_OVERRIDES, readOverrides } = await import('../contract/overrides.ts');
    return file === undefined ? NO_OVERRIDES : readOverrides(await host.readFile(file), file);
  };
  const overrides = once(async () => overridesOf(globals.contract ?? (await resolved()).contractFile));

  async function client<T extends 'service' | 'admin'>(which: T, where: Where, mode: Identity['mode']) {
    const { createService } = await import('../client/api.ts');
    const { createRedactor } = await import('../client/redact.ts');
    const redactor = createRedactor();
    settings.redactions.push(text => redactor.text(text));
    const learn = async () => {
      const key = await where.key();
      settings.keys.add(key.expose());
      redactor.learn(key);
      return key;
    };
    const whom = where.socketPath === undefined ? new URL(where.baseUrl).host : 'the sandbox';
    const { timeoutMs } = globals;
    const common = {
      secureContext: where.secureContext,
      onAnswer: (answer: Observed) => {
        observed = answer;
        if (answer.dateMs !== undefined) serverDate = { dateMs: answer.dateMs, at: host.clock.monotonic() };
      },
      connection: { ...where, key: learn },
      redactor,
      overrides: await (which === 'service' ? overrides() : overridesOf()),
      clock: host.clock,
      random: host.random,
      env: host.env,
      signal: host.signal,
      mode,
      userAgent: `cardwright/${settings.version}`,
      onAsk: () => terminal.progress.asked(whom),
      onWait: ({ ms, because, attempt }: Wait) => terminal.progress.paused(whom, ms, because, attempt),
      onWarning: settings.warn,
      ...(timeoutMs !== undefined && { timeoutMs }),
      // `--verbose` shows what was asked and answered, `--debug` headers and bodies as well.
      ...((globals.debug || globals.verbose) && {
        onDebug: (line: string) => void ((globals.debug || /^[<>] /.test(line)) && terminal.trace(line)),
      }),
    };
    const made =
      which === 'service'
        ? createService({ ...common, table: (await import('../contract/calls.ts')).CALLS })
        : createService({ ...common, table: (await import('../contract/sandbox/admin.ts')).ADMIN_OPERATIONS });
    closers.unshift(() => made.close());
    return made;
  }

  /** A place in the embedded sandbox. */
  async function inside(path: string, which: 'key' | 'adminToken'): Promise<Where> {
    const sandbox = await embedded();
    // Before the first request is in the air, for V8 takes no compiled code then (client/transport.ts).
    if (which === 'adminToken') await import('../sandbox/admin/table.ts');
    return { baseUrl: sandbox.origin + path, socketPath: sandbox.socketPath, key: async () => sandbox[which] };
  }

  /** A place elsewhere, with whom TLS trusts on the way there; warns, or throws `guarded`, where nobody is checked. */
  async function outside(where: Where, mode: Identity['mode']): Promise<Where> {
    const origin = new URL(where.baseUrl);
    if (origin.protocol !== 'https:') return where;
    const { trustedBy, checkVerification } = await import('../platform/trust.ts');
    const risk = checkVerification(origin, mode, host.env);
    if (risk !== undefined) settings.warn(risk);
    return { ...where, secureContext: await trustedBy(host.env, path => host.readFile(path)) };
  }

  const service = once(async () => {
    const { baseUrl, key, variables, mode } = await resolved();
    const place = mode === 'sandbox' ? inside('/v1', 'key') : outside({ baseUrl, key, variables }, mode);
    return (await client('service', await place, mode)) as Service;
  });

  const sandboxElsewhere = once(() => namedElsewhere(settings));
  const checkIsMeant = once(() => checkSandboxIsMeant(settings));
  const adminPlace = once(async (): Promise<Where> => {
    const named = await sandboxElsewhere();
    if (named !== undefined) return outside(named, 'sandbox');
    await checkIsMeant();
    return inside('/_sandbox/v1', 'adminToken');
  });
  const admin = once(async () => (await client('admin', await adminPlace(), 'sandbox')) as SandboxAdmin);

  return {
    service,
    // What is assumed can be looked up before any profile is chosen.
    overrides: async () => (await undefinedOn('not_authenticated', overrides())) ?? overridesOf(),
    admin,
    /** The sandbox elsewhere that is steered; undefined for the one of this machine. */
    sandboxElsewhere,
    /** Throws `guarded` where the sandbox of this machine is not the one that the requests of the run go to. */
    checkSandboxIsMeant: checkIsMeant,
    /** Where the sandbox's control surface is, for what is no call of a table. */
    adminPlace,
    /** The control surface of a sandbox that this process serves. */
    async adminAt(origin: string, token: Secret): Promise<SandboxAdmin> {
      const { ADMIN_PATH } = await import('../contract/sandbox/basis.ts');
      const where = { baseUrl: `${origin}${ADMIN_PATH}`, key: async () => token };
      return (await client('admin', where, 'sandbox')) as SandboxAdmin;
    },
    /** The API key of the service. */
    key: async (): Promise<Secret> => {
      const { mode, key } = await resolved();
      return mode === 'sandbox' ? (await embedded()).key : key();
    },
    /** The embedded sandbox's own sender; undefined when another service is spoken to. */
    deliver: async () => ((await resolved()).mode === 'sandbox' ? (await embedded()).deliver : undefined),
    /** Whether the embedded sandbox honours idempotency keys in the dialect it speaks. */
    sandboxHonoursKeys: async () => (await embedded()).honoursKeys,
    identity: (): Promise<Identity> => resolved(),
    /** The account as journals and copies know it. */
    async acting() {
      const { profile, mode, baseUrl: origin } = await resolved();
      return { profile, mode, origin };
    },
    settings: async (): Promise<ProfileSettings> => (await resolved()).settings,
    /** Called when the run is over; journals are closed behind all others. */
    onClose: (work: () => Promise<void>) => void closers.push(work),
    onCloseOfJournal: (work: () => Promise<void>) => void journals.push(work),
    /** An answer that the command shows: completion offers its ids from then on. */
    noteShown(...answer: (typeof shown)[number]): void {
      if (shown.length < MOST_NOTED) shown.push(answer);
    },
    /** What the last answer showed beside its content. */
    observed: () => observed,
    /** The clock of the service, ms UTC, by its newest answer; undefined while none told the time. */
    serviceNow: () => serverDate && serverDate.dateMs + (host.clock.monotonic() - serverDate.at),
    /** `acknowledge` comes last: whoever is killed before has ended without an exit code, and may type the same command again. */
    async close(acknowledge: () => Promise<void>) {
      for (const close of closers.splice(0)) await close();
      if (shown.length > 0 && isKept(host, (await resolved()).profile)) {
        const { rememberShown, idsIn } = await import('../id-cache/shown.ts');
        const seen = shown.map(each => idsIn(...each)).filter(each => each !== undefined);
        await rememberShown(host, whoseOf(host, await resolved()), seen);
      }
      await acknowledge();
      for (const close of journals.splice(0)) await close();
    },
  };
}

/** One run, for whatever is put together for it. What is a function is opened once, when it is first asked for. */
export type Run = Readonly<ReturnType<typeof openRun>>;

/** Pages from which on a list is a long one, and its rows much garbage. */
const MANY_PAGES = 60;

/** Nothing is opened yet. */
export function openRun(opening: Opening) {
  const begun = beginRun(opening);
  const { host, files } = begun;
  const { clock, folders, pid, user, machine } = host;
  const opened = connections(begun);

  /** Reading operations alone, the bare results. */
  const reader = once(async (): Promise<Reader> => {
    const service = await opened.service();
    type Input = Parameters<typeof opened.noteShown>[1];
    async function* noted<Page>(pages: AsyncIterable<Page>, operation: string, input: Input) {
      let count = 0;
      for await (const page of pages) {
        count += 1;
        if (count === MANY_PAGES) await host.keepSmallAtOnce();
        opened.noteShown(operation, input, page);
        yield page;
      }
    }
    return {
      async read(operation, input, options) {
        const { result } = await service.send(operation, input as never, options);
        opened.noteShown(operation, input as Input, result);
        return result as never;
      },
      pages: (operation, input, options) => noted(service.pages(operation, input, options), operation, input as Input),
    };
  });

  /** The journal of this machine, which holds its audit log too. */
  const local = once(async () => {
    const { hasJournal, JOURNAL_FILE, openSqlite } = await import('../journal/sqlite.ts');
    let database: Promise<Database> | undefined;
    const open = () => {
      if (database === undefined) {
        database = openSqlite({ stateFolder: folders.state, files, clock });
        opened.onCloseOfJournal(async () => (await database?.catch(() => undefined))?.close());
      }
      return database;
    };
    return {
      path: join(folders.state, JOURNAL_FILE),
      /** Makes it where there is none. */
      open,
      /** Undefined where there is none. */
      existing: async () => (database !== undefined || hasJournal(folders.state) ? open() : undefined),
    };
  });

  const managed = once(async () => {
    const { mode, baseUrl } = await opened.identity();
    return readManagedLimits(host.limitsFile, mode === 'sandbox' ? undefined : new URL(baseUrl).origin);
  });
  const sources = once(async (): Promise<readonly SourcedLimits[]> => {
    const [{ profile }, settings] = [await opened.identity(), await opened.settings()];
    const read = readLimits(settings);
    if ('wrong' in read)
      throw new CliError('internal', { message: `${read.wrong} of profile ${profile} cannot be read` });
    return [...(await managed()).sources, { source: { kind: 'profile', name: profile }, limits: read.limits }];
  });

  return {
    ...begun,
    opened,
    reader,
    /** The time of the service; where no answer came yet, a reading request asks for one. */
    async askServiceTime() {
      if (opened.serviceNow() === undefined) await (await reader()).read('wallet.get', {});
      return opened.serviceNow();
    },
    local,
    audit: once(async (): Promise<AuditLog> => {
      const { auditLog } = await import('../audit/log.ts');
      const { path, open, existing } = await local();
      return auditLog({ path, database: open, existing, clock, pid, user, host: machine });
    }),
    limits: {
      /** Throws `guarded` for a managed file that does not count. */
      managed,
      sources,
      /** Each limit that is set, and by whom; `more` are sources beside the file and the profile. */
      async shown(more: readonly SourcedLimits[]) {
        const limits = strictest([...(await sources()), ...more]);
        const { reveal, path } = await managed();
        const shown = LIMIT_NAMES.flatMap(name => {
          const set = limits[name];
          return set === undefined
            ? []
            : [{ name: name as string, value: limitWords(name, set.value), source: sourceWords(set.source) }];
        });
        return reveal === undefined ? shown : [...shown, { name: 'reveal', value: reveal, source: path }];
      },
    },
  };
}
