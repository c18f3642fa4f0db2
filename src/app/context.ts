/** What a command may ask for, put together by concern. Costly or failing things are functions, opened once, when first asked for. */
import type { Input, ReadName, Result, WriteName } from '../contract/calls.ts';
import type { PlannedRequest, ReadOptions } from '../contract/service.ts';
import { asCliError } from '../core/errors.ts';
import type { AfterAnswer } from '../journal/run.ts';
import { strictest } from '../limits/limits.ts';
import { createRecorder } from '../writes/audit-record.ts';
import { cannotConfirm, confirmWithPerson, declined } from '../writes/guard.ts';
import { createPipeline } from '../writes/pipeline.ts';
import { createWriter, type WriteOptions, type WriteResult } from '../writes/single-write.ts';
import { profilesFor } from './account.ts';
import { contextFiles } from './context-files.ts';
import { type Opening, once, openRun } from './run.ts';

const programs = () => import('./programs.ts');

export type OpenContext = ReturnType<typeof openContext>;
export type Context = OpenContext['context'];

/** The context of one run; nothing is opened yet. */
export function openContext(opening: Opening) {
  const run = openRun(opening);
  const { host, version, globals, terminal, notice, warn, opened, reader, limits, audit } = run;
  const { clock, random, env, platform, signal } = host;
  const { prompts, progress, canAsk, maskInLog } = terminal;
  const { yes, dryRun, live } = globals;
  const planned: PlannedRequest[] = [];
  const ops: string[] = [];
  /** Work that the answer does not wait for. */
  const afterAnswer: AfterAnswer[] = [];
  const journals = () => import('./journal.ts');
  const place = once(async () => (await journals()).placeFor(run));
  const journal = once(async () =>
    (await journals()).journalFor(run, await place(), work => void afterAnswer.push(work)),
  );
  const shownLimits = async () => (await journals()).shownLimits(run, place);
  const recorder = createRecorder({ audit, identity: opened.identity, warn });
  const asker = { identity: opened.identity, prompts, canAsk, yes, dryRun, live };
  const pipeline = createPipeline({
    ...asker,
    recorder,
    readOnly: async () => strictest(await limits.sources()).read_only?.source,
  });
  const { write, confirmCount } = createWriter({
    ...{ ...asker, signal, clock, random, notice, pipeline, reader, planned, journal },
    service: opened.service,
    onOp: op => void ops.push(op),
  });
  const serviceNow = () => opened.serviceNow() ?? clock.now();
  const context = {
    /** Version of this program. */
    version,
    ...{ clock, random, env, platform },
    /** Fired by Ctrl-C and SIGTERM. */
    signal,
    /** Words after `--`, for a command that runs another program. */
    rest: opening.rest,
    dryRun,
    /** `--csv-raw`: cells of CSV as they are, without the guard against formulas. */
    csvRaw: globals.csvRaw,
    /** `--sort` was given: an order of one page alone would say nothing about the others. */
    sorted: globals.sort !== undefined,
    /** Name given with `--profile`, for commands that save or remove one. */
    profileName: globals.profile,
    /** The account at the service: whose it is, its reads and its changes. */
    api: {
      identity: opened.identity,
      overrides: opened.overrides,
      /** Limits of this run, and what sets each of them. Throws `guarded` for an unsafe file. */
      limits: shownLimits,
      reader,
      /** Reads one thing. */
      read: async <N extends ReadName>(operation: N, input: Input<N>, options?: ReadOptions): Promise<Result<N>> =>
        (await reader()).read(operation, input, options),
      /** One change, through the pipeline. Throws `DryRun` in a dry run. */
      async write<N extends WriteName, Before = undefined>(
        operation: N,
        input: Input<N>,
        options: WriteOptions<Before>,
      ): Promise<WriteResult<N, Before>> {
        const made = await write(operation, input, options);
        opened.noteShown(operation, input as Readonly<Record<string, unknown>>, made.result);
        return made;
      },
      /** The clock of the service, ms UTC, by its newest answer; this machine's while none told the time. */
      serviceNow,
      /** Time of the service; a reading request asks for it where no answer came yet: `--since 1d` is a day of the service. */
      async askServiceTime() {
        await run.askServiceTime().catch((thrown: unknown) => {
          if (!['refused', 'not_found', 'contract_mismatch'].includes(asCliError(thrown).kind)) throw thrown;
        });
        return serviceNow();
      },
      /** The local copy of the account; nothing is sent before it is asked. */
      mirror: once(async () => (await import('./mirror.ts')).mirrorFor(run, journal)),
    },
    /** What is meant, sent and recorded on this machine, or in a journal that several share. */
    journal: {
      /** Money operations and bulk runs; nothing is read before it is asked. */
      open: journal,
      admin: once(async () => (await import('./journal-admin.ts')).journalAdmin(run, place)),
      /** Writes and reveals of this machine. */
      audit,
      /** What a dry run would have sent. */
      planned: planned as readonly PlannedRequest[],
      /** Single operations of the journal that this run has carried out. */
      ops: ops as readonly string[],
      /** Every change goes through here: what is asked, held, recorded and sent, in its one order. */
      pipeline,
      /** Tells the audit log what is about to happen, and what became of it. */
      recorder,
    },
    /** The sandbox: its control surface, servers, deliveries and state. */
    sandbox: {
      /** The sandbox's control surface: that of the sandbox elsewhere, else the embedded one. */
      admin: opened.admin,
      /** Origin of the sandbox elsewhere, and the variable or profile that names it; undefined for the one of this machine. */
      elsewhere: opened.sandboxElsewhere,
      /** `the sandbox`, or with its address where it is not the one of this machine. */
      async named() {
        const elsewhere = await opened.sandboxElsewhere();
        return elsewhere === undefined ? 'the sandbox' : `the sandbox at ${elsewhere.origin}`;
      },
      /** The sandbox as a server for other programs, and its state as a file. */
      servers: async () => (await import('./sandbox.ts')).sandboxesOf(run),
      /** Sends deliveries of the embedded sandbox, which nobody else sends; undefined when the service is another one. */
      deliver: opened.deliver,
    },
    /** What is asked of a person, and what is told beside the answer. */
    ui: {
      prompts,
      /** How far a run is, on standard error. */
      progress,
      /** A line for people on standard error. */
      notice,
      /** Hides texts in the log of a CI job, before they are printed or handed on. */
      maskInLog,
      /** The question before a change, for the pipeline. Throws `not_confirmed`. */
      ask: confirmWithPerson.bind(undefined, asker),
      /**
       * Resolves when a person agrees to a change of this machine, or `--yes` was given. Throws `not_confirmed`. `intent` is what would
       * be done: `Remove profile team`.
       */
      async confirmed(intent: string, question = `${intent}?`): Promise<void> {
        if (yes) return;
        if (!canAsk) {
          const { UNCHANGED } = await import('../terminal/error-text.ts');
          throw cannotConfirm(intent).with({ notes: [UNCHANGED] });
        }
        if (!(await prompts.confirm(question, { flag: '--yes' }))) throw declined();
      },
      /** Asks once for several targets of an irreversible operation. Throws `not_confirmed`. */
      confirmCount,
      /** Both ends of a conversation are terminals and questions are allowed. */
      canAsk,
      /** `--yes`. */
      yes,
      /** A person looks at standard output, and no machine format was asked for. */
      forPeople: host.streams.stdout.isTerminal && !globals.machine && !globals.quiet,
    },
    files: contextFiles(run),
    /** What may show card details: on a screen, in a file, to one program. */
    gate: once(async () => (await import('./reveal.ts')).cardReveal(run, recorder)),
    openBrowser: async (address: string) => (await programs()).openBrowser(run, address),
    /**
     * Signals go to `onSignal` in place of stopping this run, until the returned function is called: for a command that
     * must clean up with requests of its own.
     */
    takeSignals: (onSignal: (signal: NodeJS.Signals) => void) => host.handOver(onSignal),
    /** The name of this process, for what a run makes at the service, and whether that of another one is provably of one that is gone. */
    async processes() {
      const { isNamedGone, processName } = await import('../files/processes.ts');
      const own = processName(host.pid);
      return { own, isGone: (name: string) => isNamedGone(name, own, host.isRunning) };
    },
    /** Standard input and output as those of a server of tools, and the way to run commands in it. */
    toolHost: async () => (await programs()).toolHost(run),
    /** Runs one program with our streams and these variables, for the account of this run. Resolves to its exit code. */
    runProgram: async (program: readonly string[], variables: Readonly<Record<string, string>>) =>
      (await programs()).runForAccount(run, program, { variables, handsKeys: true }),
    profiles: once(() => profilesFor(run)),
    /** Looks at key, network, files and contract; changes nothing. */
    diagnose: async () => (await import('./doctor.ts')).doctorFor(run, journal, shownLimits),
  };
  return {
    context,
    /** Closes what was opened, in order. An operation whose answer was `lost` stays unfinished: nobody was told. */
    async close(answer: 'written' | 'lost'): Promise<void> {
      progress.end();
      await opened.close(async () => {
        await progress.written();
        // What is left undone here is looked at by the next command; the answer stands.
        for (const work of afterAnswer) await work(answer).catch((thrown: unknown) => warn((thrown as Error).message));
      });
    },
  };
}
