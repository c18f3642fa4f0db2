/** Looks at everything a run depends on: key, network, clock, files, contract. Changes nothing. */

import { proxyFor } from '../client/transport.ts';
import type { ValueOf } from '../contract/field.ts';
import { maybe, tells } from '../contract/own-field.ts';
import { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { shellWord } from '../core/shell-quote.ts';
import { freeSpaceOf } from '../files/file-system.ts';
import { checkPrivateFolder } from '../files/private-files.ts';
import type { Journal } from '../journal/journal.ts';
import { preloads, watchers } from '../platform/watched.ts';
import { checkBaseUrl } from '../profile/parts.ts';
import type { shownLimits } from './journal.ts';
import type { AppHost } from './process-host.ts';
import type { Run } from './run.ts';

/** One thing `doctor` looked at. `fail` makes the whole examination fail; `warn` should be known; `skip` could not be looked at. */
export const FINDING = {
  check: tells.text('What was looked at.'),
  status: tells.word('The outcome.', ['ok', 'warn', 'fail', 'skip']),
  says: tells.text('In one line.'),
  hint: maybe(tells.text('The next command.')),
} as const;
export type Finding = ValueOf<typeof FINDING>;
type Seen = Omit<Finding, 'check'>;

const ok = (says: string): Seen => ({ status: 'ok', says });
const skip = (says: string): Seen => ({ status: 'skip', says });

/** One finding. What the look throws is a failure of this check alone. */
async function examined(check: string, look: () => Seen | Promise<Seen>): Promise<Finding> {
  try {
    return { check, ...(await look()) };
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    const { hint } = thrown.facts;
    // What failed elsewhere may tell to run this very command.
    const isOther = hint !== undefined && hint !== 'cardwright doctor';
    return { check, status: 'fail', says: thrown.message, ...(isOther && { hint }) };
  }
}

const CLOCK_WARN_MS = 30_000;
const CLOCK_FAIL_MS = 300_000;

export async function doctorFor(
  run: Run,
  journal: () => Promise<Journal>,
  limits: () => ReturnType<typeof shownLimits>,
): Promise<readonly Finding[]> {
  const { host, opened, audit, local } = run;
  const { nodeVersion, codeCache } = host;
  const identity = await opened.identity().catch((thrown: unknown) => {
    if (thrown instanceof CliError) return thrown;
    throw thrown;
  });
  const who = identity instanceof CliError ? undefined : identity;
  const rest = [
    await examined('files', () => foldersSeen(host)),
    await examined('space', () => spaceSeen(host)),
    // Where operations are kept: without them a change could be made twice.
    await examined('journal', async () => {
      const database = await (await local()).existing();
      return ok(database?.shown ?? 'no operation was begun on this machine yet');
    }),
    ...(who === undefined ? [] : await accountFindings(who, journal, limits)),
    await examined('contract', async () => {
      await opened.overrides();
      const file = who?.contractFile;
      return ok(file === undefined ? 'as assumed; nothing is overridden' : `overridden by ${file}`);
    }),
    await examined('store', async () => {
      if (who?.mode !== 'sandbox') return skip('the sandbox is not in use');
      const { result } = await (await opened.admin()).send('ledger.check', {});
      const [fault] = result.faults;
      if (fault === undefined) return ok('the ledger of the sandbox balances');
      return { status: 'fail', says: fault, hint: 'cardwright sandbox reset' };
    }),
    await examined('audit', async () => {
      const { entries, flaw } = await (await audit()).read();
      if (flaw === undefined) return ok(`${entries.length === 1 ? '1 line' : `${entries.length} lines`}, unbroken`);
      const says = `broken at line ${flaw.line}: ${flaw.why}`;
      return { status: 'fail', says, hint: 'cardwright audit verify' };
    }),
    // An older one than we need does not start the program.
    await examined('node', () => ok(nodeVersion)),
    // Never a failure: without it the program starts later and does the same.
    await examined('code cache', () => (codeCache === undefined ? skip('this program was not built') : ok(codeCache))),
    await examined('runtime', () => runtimeSeen(host)),
  ];
  const profile = await examined('profile', () => {
    if (identity instanceof CliError) throw identity;
    const { profile, mode, baseUrl, chosenBy } = identity;
    return ok(`${profile}, ${mode === 'live' ? 'LIVE' : mode}, ${baseUrl}; chosen by ${chosenBy}`);
  });
  return [profile, ...(who === undefined ? [] : await serviceFindings(run, who)), ...rest];
}

/** What this machine knows of the account: runs, keys, limits. */
async function accountFindings(
  { profile, mode }: Identity,
  journal: () => Promise<Journal>,
  limits: () => ReturnType<typeof shownLimits>,
): Promise<Finding[]> {
  return [
    // Runs that stopped: nobody may know whether their money moved.
    await examined('operations', async () => {
      const left = (await (await journal()).list()).filter(
        ({ profile: of, state, counts }) =>
          of === profile && (state === 'unknown' || state === 'open') && counts.unknown + counts.open > 0,
      );
      const [first] = left;
      if (first === undefined) return ok('none has stopped on its way');
      const [unknown, open] = (['unknown', 'open'] as const).map(of => left.filter(each => each.counts[of] > 0).length);
      const says = [
        ...(unknown ? [`${unknown} with rows of unknown outcome`] : []),
        ...(open ? [`${open} stopped with rows that were not sent`] : []),
      ];
      return { status: 'warn', says: says.join(', '), hint: `cardwright ops resume ${first.op}` };
    }),
    // What an idempotency key is known to be worth: a lost answer is sent again only under one that is honoured.
    await examined('idempotency', async () => {
      const { key } = await (await journal()).capability('cards.create');
      if (key !== 'unknown') return ok(`keys are known to be ${key}`);
      const says = 'not known whether keys are honoured: what was lost on its way is not sent again by itself';
      return ok(mode === 'live' ? says : `${says}; contract check --probe-idempotency finds out`);
    }),
    await examined('limits', async () => {
      const { known, unread } = await limits();
      const shown = known.map(({ name, value, source }) => `${name} is ${value}, set by ${source}`);
      if (unread !== undefined) return { status: 'fail', says: [...shown, unread].join('; ') };
      return ok(shown.length === 0 ? 'none are set' : shown.join('; '));
    }),
  ];
}

/** The way to the service, and one request to it. */
async function serviceFindings({ host, opened }: Run, identity: Identity): Promise<readonly Finding[]> {
  const { env, clock } = host;
  const origin = identity.baseUrl === 'embedded' ? undefined : new URL(identity.baseUrl);
  const key = await examined('key', async () => {
    await opened.key();
    return ok(`${identity.keyHint ?? 'none needed'}; ${identity.keySource}: ${identity.keyHome}`);
  });
  const ways = [
    key,
    await examined('proxy', () => {
      // Host and port alone: the address may hold a password.
      const found = origin === undefined ? undefined : proxyFor(origin, env);
      return ok(found === undefined ? 'none on the way' : found.host);
    }),
    await examined('authorities', () => {
      if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' && origin?.protocol === 'https:') {
        const says = 'NODE_TLS_REJECT_UNAUTHORIZED=0: the receiver of the key is not checked';
        return { status: 'fail', says, hint: 'unset NODE_TLS_REJECT_UNAUTHORIZED' };
      }
      const added = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].filter(name => env[name]);
      return ok(['those of Node', ...added.map(name => `${name} (${env[name]})`)].join(' and '));
    }),
  ];
  if (key.status === 'fail') return [...ways, { check: 'network', ...skip('not asked without a key') }];
  const network = await examined('network', async () => {
    await (await opened.service()).send('wallet.get', {});
    const answer = opened.observed();
    return ok(answer === undefined ? 'answered' : `answered ${answer.status} in ${Math.round(answer.tookMs)} ms`);
  });
  const answer = opened.observed();
  return [
    ...ways,
    network,
    await examined('clock', () => {
      if (identity.mode === 'sandbox') return skip('the sandbox has a clock of its own');
      if (answer?.dateMs === undefined) return skip('the service told no time');
      const apart = Math.abs(answer.dateMs - clock.now());
      // What serves on this machine may be a sandbox whose clock was moved.
      const isHere = checkBaseUrl(identity.baseUrl, identity.mode).loopback;
      const status = apart > CLOCK_FAIL_MS && !isHere ? 'fail' : apart > CLOCK_WARN_MS ? 'warn' : 'ok';
      const remark = isHere ? '; a sandbox may have a clock of its own' : ': set the clock of this machine';
      const todo = status === 'ok' ? '' : remark;
      return { status, says: `${Math.round(apart / 1000)} s apart from the service${todo}` };
    }),
    await examined('tls', () => {
      if (origin?.protocol !== 'https:') return skip('nothing leaves this machine');
      if (answer?.certificate === undefined) return skip('no connection was made');
      const { issuer = 'an unnamed issuer', validTo = 'not told' } = answer.certificate;
      return ok(`issued by ${issuer}, valid until ${validTo}`);
    }),
  ];
}

function runtimeSeen(host: AppHost): Seen {
  const runtime = { execArgv: host.execArgv, env: host.env, inspected: host.inspected() };
  const [seen, loaded] = [watchers(runtime), preloads(runtime)];
  const says = [
    ...(seen.length > 0 ? [`others can read along: ${seen.join(', ')}; nothing is revealed`] : []),
    ...(loaded.length > 0 ? [`foreign code is loaded first: ${loaded.join(', ')}; no live card is revealed`] : []),
  ];
  if (says.length === 0) return ok('no debugger, report or preloaded code');
  return { status: 'warn', says: says.join('; '), hint: 'unset NODE_OPTIONS NODE_DEBUG' };
}

/** Folders of this user alone: one that is open to others is closed and told of, and with it the files in it. */
async function foldersSeen({ folders, platform, random }: AppHost): Promise<Seen> {
  const repaired: string[] = [];
  const around = { platform, random, warn: (text: string) => void repaired.push(text) };
  const there: string[] = [];
  for (const folder of new Set([folders.config, folders.state, folders.data, folders.cache])) {
    if (await checkPrivateFolder(folder, around)) there.push(folder);
  }
  if (repaired.length > 0) return { status: 'warn', says: repaired.join('; ') };
  return ok(`private: ${there.join(', ') || 'none made yet'}`);
}

const MEGABYTE = 1_000_000;
/** A journal of some thousand rows; and less than that may hold no plan at all. */
const LITTLE = 20 * MEGABYTE;
const TOO_LITTLE = MEGABYTE;

/** Without room nothing can be written down, and what cannot be written down is not sent. */
async function spaceSeen({ folders }: AppHost): Promise<Seen> {
  const asked = [...new Set([folders.state, folders.data, folders.config])];
  const spaces = await Promise.all(asked.map(freeSpaceOf));
  const barred = spaces.find(({ refusedBy }) => refusedBy !== undefined);
  if (barred !== undefined) {
    const says = `${barred.folder} cannot be written (${barred.refusedBy}): no money is moved`;
    return { status: 'fail', says, hint: `ls -ld ${shellWord(barred.folder)}` };
  }
  const [least] = spaces.toSorted((a, b) => a.free - b.free);
  if (least === undefined || least.free >= LITTLE) return ok('folders can be written');
  const left = `${Math.floor(least.free / MEGABYTE)} MB are left for ${least.folder}`;
  const hint = `df -h ${shellWord(least.folder)}`;
  if (least.free >= TOO_LITTLE) return { status: 'warn', says: left, hint };
  return { status: 'fail', says: `${left}: no money is moved until there is room`, hint };
}
