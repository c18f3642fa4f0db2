/** Where the program starts: signals in, one run, an exit code out. */
import { setMaxListeners } from 'node:events';
import { writeSync } from 'node:fs';
import { processHost } from './app/process-host.ts';
import { report, run, stoppedBy } from './cli/run.ts';
import { compose } from './compose.ts';
import { asCliError } from './core/errors.ts';

declare const CARDWRIGHT_VERSION: string;

/** Whose default is to end the process, leaving the terminal and the journal as they happen to be. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131, SIGUSR2: 140, SIGALRM: 142 } as const;

const stopping = new AbortController();
// Every worker of a run listens to it; Node takes more than ten for a leak.
setMaxListeners(0, stopping.signal);
const host = processHost(CARDWRIGHT_VERSION, stopping.signal);
const machine = compose(host, CARDWRIGHT_VERSION);

/** ms within which the same signal is the same wish: npm passes on a Ctrl-C that reached us already. */
const ECHO = 100;
const last = new Map<string, number>();

for (const [name, code] of Object.entries(SIGNALS)) {
  process.on(name, () => {
    const now = performance.now();
    const isEcho = now - (last.get(name) ?? Number.NEGATIVE_INFINITY) < ECHO;
    last.set(name, now);
    if (isEcho) return;
    if (host.passOn(name as NodeJS.Signals)) return;
    host.restoreScreen();
    const reason = stoppedBy(name === 'SIGINT' ? 'interrupted' : 'terminated');
    // The second one leaves a write on the wire to `ops resume`, and the process once that is written down.
    if (!stopping.signal.aborted) stopping.abort(reason);
    else if (!host.cutOff(reason)) process.exit(code);
  });
}
// Node's own answer is to open a debugger, in a process that holds a key and may hold a card
// (docs/design/security.md, D15).
process.on('SIGUSR1', () => undefined);
process.on('exit', () => {
  host.restoreScreen();
  if (!host.terminalIsGone()) return;
  // Node aborts, with a core dump where those are on, when it cannot put back a terminal that is not there any more.
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
});

let failing = false;
process.on('uncaughtException', (thrown: unknown) => {
  if (failing) process.exit(1);
  failing = true;
  host.restoreScreen();
  const error = asCliError(thrown);
  // Where no file can be opened any more, what lays errors out cannot be loaded either.
  void report(machine, error)
    .catch(() =>
      writeSync(2, machine.redact(`error: ${error.message}\n  try: ${error.facts.hint ?? 'cardwright doctor'}\n`)),
    )
    .finally(() => process.exit(error.kind === 'guarded' ? error.exitCode : 1));
});

// All that was written has been taken. To wait until Node is at rest would be time in which whoever kills the process takes a
// purchase for unfinished that was acknowledged.
void run(machine).then(code => process.exit(code));
