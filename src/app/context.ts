/** What a command's context can do, put together by concern. Costly things are opened once, when first asked for. */
import type { Context, ContextSandbox } from '../cli/context.ts';
import type { OpenContext } from '../cli/run.ts';
import type { PlannedRequest } from '../contract/service.ts';
import { asCliError } from '../core/errors.ts';
import type { AfterAnswer } from '../journal/run.ts';
import { strictest } from '../limits/limits.ts';
import { createRecorder } from '../writes/audit-record.ts';
import { confirmWithPerson } from '../writes/guard.ts';
import { createPipeline } from '../writes/pipeline.ts';
import { createWriter } from '../writes/single-write.ts';
import { once, openRun, type Run } from './connections.ts';
import { contextFiles, openInput } from './context-files.ts';
import { beginRun, type Opening } from './run.ts';

const programs = () => import('./programs.ts');

/** The context of one run; nothing is opened yet. */
export function openContext(opening: Opening): OpenContext {
  const run = openRun(beginRun(opening));
  const { host, version, globals, terminal, opened, reader } = run;
  const { prompts, progress, notice, warn, canAsk, life } = terminal;
  const changes = changesOf(run);
  const { journal } = changes;
  // The time of the service, as its answers tell it; ours until there is one. ms UTC.
  const serviceNow = () => opened.serviceNow() ?? host.clock.now();
  const context: Context = {
    version,
    ...{ clock: host.clock, random: host.random, env: host.env, platform: host.platform },
    ...{ signal: host.signal, rest: opening.rest },
    ...{ dryRun: globals.dryRun, csvRaw: globals.csvRaw, sorted: globals.sort !== undefined },
    profileName: globals.profile,
    api: {
      serviceNow,
      async askServiceTime() {
        if (opened.serviceNow() !== undefined) return serviceNow();
        // Any answer tells the time.
        await (await reader()).read('wallet.get', {}).catch((thrown: unknown) => {
          if (!['refused', 'not_found', 'contract_mismatch'].includes(asCliError(thrown).kind)) throw thrown;
        });
        return serviceNow();
      },
      identity: opened.identity,
      limits: run.limits.shown,
      overrides: opened.overrides,
      reader,
      read: async (operation, input, options) => (await reader()).read(operation, input, options),
      async write(operation, input, ...more) {
        const made = await changes.write(operation, input, ...more);
        opened.noteShown(operation, input as Readonly<Record<string, unknown>>, made.result);
        return made;
      },
      mirror: once(async () => {
        const { mirrorFor } = await import('./mirror.ts');
        return mirrorFor(run, journal.open);
      }),
    },
    journal,
    sandbox: contextSandbox(run),
    ui: {
      ...{ prompts, progress, notice, canAsk, maskInLog: terminal.maskInLog },
      ...{ ask: changes.ask, confirmCount: changes.confirmCount },
      yes: globals.yes,
      forPeople: host.streams.stdout.isTerminal && !globals.machine && !globals.quiet,
    },
    files: contextFiles(run),
    reveal: async (cardId, options) => (await changes.gate()).reveal(cardId, options),
    runWithCard: async (cardId, options) => (await changes.gate()).runWithCard(cardId, options),
    checkRunWithCard: async options => (await changes.gate()).checkRunWithCard(options),
    openBrowser: async address => (await programs()).openBrowser(run, address),
    takeSignals: onSignal => host.handOver(onSignal),
    async processes() {
      const { isNamedGone, processName } = await import('../files/lock.ts');
      const own = processName(host.pid);
      return { own, isGone: name => isNamedGone(name, own, pid => host.isRunning(pid)) };
    },
    toolHost: async () => (await programs()).toolHost(run),
    runProgram: async (program, variables) =>
      (await programs()).runForAccount(run, program, { variables, handsKeys: true }),
    profiles: once(async () => {
      const { profilesFor } = await import('./profiles.ts');
      return profilesFor(run);
    }),
    async diagnose() {
      const { doctorFor } = await import('./doctor.ts');
      return doctorFor(run, journal.open);
    },
  };
  return {
    context,
    async close(answer) {
      life.end();
      // What is left undone here is looked at by the next command; the answer stands.
      for (const work of changes.afterAnswer)
        await work(answer).catch((thrown: unknown) => warn((thrown as Error).message));
      await progress.written();
      await opened.close();
    },
  };
}

/** What changes something: journal, audit log, limits, and the pipeline that holds their order. */
function changesOf(run: Run) {
  const { host, globals, terminal, opened, reader, limits, audit, notice, warn } = run;
  const { prompts, canAsk } = terminal;
  const { yes, dryRun, live } = globals;
  const { signal, clock, random } = host;
  const planned: PlannedRequest[] = [];
  const ops: string[] = [];
  const afterAnswer: AfterAnswer[] = [];
  const place = once(async () => (await import('./journal.ts')).placeFor(run));
  const approvals = once(async () => {
    const { approvalsFor } = await import('./approvals.ts');
    return approvalsFor(run, await place());
  });
  const journal = {
    open: once(async () => {
      const { journalFor } = await import('./journal.ts');
      return journalFor(run, await place(), work => void afterAnswer.push(work));
    }),
    approvals,
    admin: once(async () => {
      const { journalAdmin } = await import('./journal-admin.ts');
      return journalAdmin(run, place, async () => (await approvals()).approvers());
    }),
    audit,
    planned,
    ops,
  };
  const recorder = createRecorder({ audit, identity: opened.identity, warn });
  const asker = { identity: opened.identity, prompts, canAsk, yes, dryRun, live };
  const pipeline = createPipeline({
    ...asker,
    recorder,
    readOnly: async () => strictest(await limits.sources()).read_only?.source,
  });
  const { write, confirmCount } = createWriter({
    ...{ ...asker, signal, clock, random, notice, pipeline, reader, planned },
    service: opened.service,
    journal: journal.open,
    onOp: op => void ops.push(op),
  });
  return {
    journal: { ...journal, pipeline, recorder },
    write,
    confirmCount,
    ask: confirmWithPerson.bind(undefined, asker),
    /** What may show card details. */
    gate: once(async () => {
      const { cardReveal } = await import('./reveal.ts');
      return cardReveal(run, recorder);
    }),
    /** Work that the answer does not wait for. */
    afterAnswer: afterAnswer as readonly AfterAnswer[],
  };
}

function contextSandbox(run: Run): ContextSandbox {
  const { host, opened } = run;
  const started = () => import('./sandbox.ts');
  return {
    admin: opened.admin,
    elsewhere: opened.sandboxElsewhere,
    servers: async () => (await import('./sandbox.ts')).sandboxServersFor(run),
    exportTo: async path => (await started()).exportFrom(run, path),
    async importFrom(path) {
      const { importFrom } = await started();
      await using input = await openInput(run, path);
      return await importFrom(run, input);
    },
    subscriptionsIn: async path => (await started()).subscriptionsIn(host, path),
    async deliveries() {
      const deliver = await opened.deliver();
      if (deliver === undefined) return undefined;
      return {
        run: async until => void (await deliver({ kind: 'signal', signal: until })),
        settle: async until => void (await deliver({ kind: 'idle', signal: until })),
      };
    },
    moveAside: async () => (await started()).moveStoreAway(host),
  };
}
