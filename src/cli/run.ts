/** One run of the program: words to a command, its value to output, an error to an exit code. */
import type { ValueProvider } from '../app/completion.ts';
import type { OpenContext } from '../app/context.ts';
import type { Globals } from '../app/globals.ts';
import type { AppHost } from '../app/process-host.ts';
import { wholeSeconds } from '../core/durations.ts';
import { asCliError, CliError, DryRun, type ErrorKind, OutputError, usage } from '../core/errors.ts';
import { WHOLE_INPUT_BYTES } from '../core/input-limits.ts';
import type { Host } from '../platform/host.ts';
import type { OutputSettings, Row } from '../terminal/view.ts';
import type { Context, Shown } from './context.ts';
import { keptPage } from './docs/kept-pages.ts';
import type { openOffline } from './offline.ts';
import type { Command, Registry } from './parsing/declaration.ts';
import type { Parsed } from './parsing/parsed.ts';

/** What the composition root hands to a run. */
export interface Machine {
  readonly host: AppHost;
  readonly version: string;
  readonly registry: Registry;
  /** Everything a command may ask for; costly things are opened when asked. An urgent one does not wait long for a shared journal. */
  openContext(globals: Globals, rest: readonly string[], isUrgent?: boolean): Promise<OpenContext>;
  /** Takes secrets of this process out of a text. */
  redact(text: string): string;
}

/** Runs one command line. Resolves to the exit code; never rejects and never ends the process. */
export async function run(machine: Machine): Promise<number> {
  const { argv: typed } = machine.host;
  const [first = ''] = typed;
  /** What a person was asked for is part of the line from then on. */
  const line: { argv: readonly string[] } = { argv: typed };
  try {
    if (first === '-V' || first === '--version') return await print(machine, `${machine.version}\n`);
    if (first === '__complete') {
      const { completionText } = await import('./completion/complete.ts');
      const { registry, host } = machine;
      const provide: ValueProvider = async wanted =>
        (await import('../app/completion.ts')).completionValues(host, wanted);
      return await print(machine, await completionText(typed.slice(1), { registry, provide }));
    }
    if (first === '__query') return await (await import('../app/mirror.ts')).answerQuery(machine.host).then(() => 0);
    const page = keptPage(typed);
    if (page !== undefined) return await printPage(machine, page);
    const { readLine } = await import('./parsing/tree.ts');
    const asked = await readLine(typed, machine.registry);
    if (asked.asks === 'version') return await print(machine, `${machine.version}\n`);
    if (asked.asks !== 'command') {
      const { helpText, startText } = await import('./docs/help.ts');
      const { registry } = machine;
      return await printPage(
        machine,
        asked.asks === 'start' ? startText(registry) : await helpText(asked.located, registry),
      );
    }
    return await execute(machine, asked.parsed, line);
  } catch (thrown) {
    return await report(machine, asCliError(thrown), line.argv);
  }
}

/** Steps of a command, in their order, from the typed words to the exit code. `line` is the line as an error shows it. */
async function execute(machine: Machine, typed: Parsed, line: { argv: readonly string[] }): Promise<number> {
  const { command } = typed;
  const { host, registry } = machine;
  const { readGlobals } = await import('../app/globals.ts');
  const globals = readGlobals(typed.globals, host.env);
  // Names that the answer will not have, and an expression that cannot be read, are found out before anything is sent.
  let promised: Iterable<string> | undefined;
  if (globals.fields !== undefined || globals.columns !== undefined || globals.sort !== undefined) {
    const { promisedFields } = await import('./docs/answers.ts');
    promised = promisedFields(command, globals, typed.typed);
  }
  await using jq =
    globals.jq === undefined
      ? undefined
      : await (await import('../terminal/jq-filter.ts')).openJq(globals.jq, host.signal);
  const hasDryRun = command.dryRun ?? (command.operation !== undefined || command.effect === 'read');
  if (globals.dryRun && !hasDryRun)
    throw usage(`${command.path} sends no change to the service, and has no dry run. Nothing was changed`);
  const isUrgent = command.effect === 'read' || command.operation === 'cards.freeze';
  const opened = await machine.openContext(globals, typed.rest, isUrgent);
  let offline: Awaited<ReturnType<typeof openOffline>> | undefined;
  let answerIs: 'written' | 'lost' = 'written';
  try {
    if (typed.typed['offline'] === true) offline = await (await import('./offline.ts')).openOffline(opened.context);
    const context = offline?.context ?? opened.context;
    const isOfService = command.operation !== undefined && typed.countsFromNow;
    const now = isOfService ? wholeSeconds(await context.api.askServiceTime()) : host.clock.now();
    const times = { now };
    // What was left out is asked for.
    const { args, flags } = typed.missing();
    const isAsked = args.length + flags.length > 0 && context.ui.canAsk;
    const whole = isAsked
      ? await (await import('./complete-line.ts')).complete(typed, { context, registry, settings: times })
      : typed;
    line.argv = whole.argv;
    const values = await whole.values(times, () => context.files.stdin.readText(WHOLE_INPUT_BYTES));
    const made = await answerOf(whole, context, values);
    const shown = offline?.mark(made) ?? made;
    const settings = {
      ...globals,
      promised,
      jq: jq && ((value: unknown) => jq.apply(value)),
      /** Asked when ages are written, for the rows tell it. */
      get now() {
        return wholeSeconds(context.api.serviceNow());
      },
    };
    const failed: unknown = await writeAnswer(host, settings, shown).catch((thrown: unknown) => thrown);
    if (failed !== undefined || host.streams.stdout.closed) {
      const lost = lostAnswer(failed, command, { shown, context });
      answerIs = lost === undefined ? 'written' : 'lost';
      if (lost !== undefined) throw lost;
    }
    await shown.goesOn?.();
    const failure = typeof shown.failure === 'function' ? shown.failure() : shown.failure;
    if (failure) return await report(machine, failure, line.argv);
    return (typeof shown.exit === 'function' ? shown.exit() : shown.exit) ?? 0;
  } finally {
    offline?.[Symbol.dispose]();
    await opened.close(answerIs);
  }
}

/** Ids that are written short are looked up, then the command is carried out. */
async function answerOf({ command, argv }: Parsed, context: Context, values: Row): Promise<Shown> {
  const mayBeShort = [...command.args, ...command.flags].some(
    ({ key, field }) => field.names !== undefined && values[key] !== undefined,
  );
  const input = mayBeShort
    ? await (await import('./ids.ts')).withWholeIds({ command, context, argv, input: values })
    : values;
  try {
    return await command.execute(context, input);
  } catch (thrown) {
    if (mayBeShort && context.ui.forPeople && thrown instanceof CliError && thrown.kind === 'not_found')
      throw thrown.with({ notes: [...(thrown.facts.notes ?? []), 'The beginning of an id needs … or ... behind it.'] });
    // A dry run ends where the first request would leave; what was planned is then the answer.
    if (!context.dryRun || !(thrown instanceof DryRun)) throw thrown;
    const { showPlanned } = await import('./dry-run.ts');
    return showPlanned(context.journal.planned, input['fromInput'] === true ? { isList: true } : {});
  }
}

async function print({ host }: Machine, text: string): Promise<number> {
  await host.streams.stdout.write(text);
  return 0;
}

/** A page of help, broken anew where the screen is narrower. */
async function printPage(machine: Machine, page: string): Promise<number> {
  const { streams, env } = machine.host;
  if (!streams.stdout.isTerminal) return print(machine, page);
  const [{ fitted }, { screenWidth }] = await Promise.all([
    import('../terminal/fold.ts'),
    import('../terminal/screen.ts'),
  ]);
  const cells = screenWidth(env, streams.stdout);
  // A command to copy stays as it is, with the lines that it goes on in.
  const lines = page.split(/(?<!\\)\n/).flatMap(line => (/^ *\$ /.test(line) ? [line] : fitted(line, cells)));
  return print(machine, lines.join('\n'));
}

/**
 * Writes an error on standard error. `argv` is the line with what a person was asked for; how an error must look is told by the
 * words that were typed. Resolves to the exit code.
 */
export async function report({ host, redact }: Machine, thrown: CliError, argv = host.argv): Promise<number> {
  const { errorLine, errorText, errorOnScreen } = await import('../terminal/error-text.ts');
  const { errorWithRepeated, repeatedOptions, wantsMachineFormat } = await import('../app/globals.ts');
  const { globalsAsTyped } = await import('./parsing/tree.ts');
  const { env, streams } = host;
  const { stderr } = streams;
  const typed = globalsAsTyped(host.argv);
  const json = wantsMachineFormat(typed, env);
  const error = errorWithRepeated(thrown, argv, repeatedOptions(typed));
  // Before the lines are broken: a secret that goes on in the next line would not be known.
  const { withoutTypedNumbers } = await import('../core/card-numbers.ts');
  const text = withoutTypedNumbers(redact(json ? errorLine(error) : errorText(error)), host.argv);
  const choice = typed['color'] === 'always' || typed['color'] === 'never' ? typed['color'] : 'auto';
  await stderr.write(json ? text : await errorOnScreen(text, { choice, env, stream: stderr }));
  const trace = error.facts.cause instanceof Error ? error.facts.cause.stack : undefined;
  if (typed['debug'] === true && trace !== undefined) await stderr.write(`${redact(trace)}\n`);
  return error.exitCode;
}

/**
 * The error of a command that did what was asked, and whose answer could not be written as asked (`failure`) or whose reader has
 * left (undefined): for one that changes something it says what was carried out. Undefined where nobody is owed an answer.
 */
function lostAnswer(
  failure: unknown,
  command: Command,
  { shown, context }: { readonly shown: Shown; readonly context: Context },
): unknown {
  const isChange = command.effect !== 'read' && shown.changedNothing !== true && !context.dryRun;
  // What a run says below its table is no server.
  const isServer = shown.goesOn !== undefined && shown.listing === undefined;
  const isOwed = isChange && command.effect !== 'reveals-secret' && shown.exit === undefined && !isServer;
  if (failure === undefined && !isOwed) return undefined;
  const thrown = failure ?? new OutputError('check_failed', { message: 'its reader has closed standard output' });
  const isLost = thrown instanceof OutputError;
  if (!isLost && !(thrown instanceof CliError && thrown.kind === 'usage')) return thrown;
  // The answer of a read, or of what changed nothing, can be asked for again.
  const again = 'The answer is lost. Run the same command again with another output.';
  if (!isChange) return isLost ? thrown.with({ notes: [...(thrown.facts.notes ?? []), again] }) : thrown;
  const page = shown.listing?.page() ?? {};
  // A story has steps that are done, and no operation of the journal.
  if (shown.listing?.runsOn && page['op'] === undefined && !(Number(page['total']) > 0))
    return thrown.with({ message: `${thrown.message}. Nothing was sent`, outcome: 'not_sent' });
  const made = typeof page['op'] === 'string' ? [page['op']] : context.journal.ops;
  const [op] = made.length === 1 ? made : [];
  // Single changes without a journal have their line in the audit log.
  const alone = op === undefined ? 'cardwright audit list' : `cardwright ops resume ${op}`;
  const hint = made.length > 1 ? 'cardwright ops list' : alone;
  const outcome = typeof shown.failure === 'function' ? shown.failure() : shown.failure;
  // The rows of a run are in its journal, whatever became of the output; what it came to stands.
  if (outcome !== undefined) {
    const notes = [...(outcome.facts.notes ?? []), `The results cannot be shown as requested: ${thrown.message}`];
    return outcome.with({ notes, hint: outcome.facts.hint ?? hint });
  }
  const { data, idField = 'id' } = shown;
  const id = typeof data === 'object' && !Array.isArray(data) ? (data as Row)[idField] : undefined;
  const what = typeof id === 'string' ? ` for ${id}` : '';
  return new CliError('check_failed', {
    message: `${command.path} was carried out${what}, but its answer cannot be shown as requested: ${thrown.message}`,
    notes: ['Do not run the command again: look at what it did.'],
    hint,
    outcome: 'done',
    ...(op !== undefined && { op }),
    cause: thrown,
  });
}

/** The error of a run that a signal ended, for the composition root. */
export function stoppedBy(kind: Extract<ErrorKind, 'interrupted' | 'terminated'>): CliError {
  return new CliError(kind, { message: kind === 'interrupted' ? 'stopped by Ctrl-C' : 'stopped by a signal' });
}

/** Writes it to standard output. Rejects with `OutputError` where that fails. */
async function writeAnswer(
  host: Host,
  settings: OutputSettings & Pick<Globals, 'repeated'>,
  shown: Shown,
): Promise<void> {
  const { verbatim, prose, failure: _failure, exit: _exit, goesOn: _goesOn, ...presentation } = shown;
  const { format, fields, columns, sort, jq, repeated } = settings;
  // Nothing was said about how the answer should look.
  const readsAsPage = format === 'table' && fields === undefined && columns === undefined && sort === undefined;
  const text = jq === undefined ? (verbatim ?? (readsAsPage ? prose : undefined)) : undefined;
  if (text !== undefined || verbatim === '') return host.streams.stdout.write(text ?? '');
  const { present } = await import('../terminal/present.ts');
  // Text that is the answer as it stands is, to an expression, a string.
  const written = verbatim === undefined ? presentation : { ...presentation, data: verbatim.replace(/\n$/, '') };
  const { shownWithRepeated } = await import('../app/globals.ts');
  const whole = repeated.length === 0 ? written : shownWithRepeated(written, repeated);
  await present(whole, settings, host.streams, host.env);
}
