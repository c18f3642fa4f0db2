/** Looks at everything a run depends on: key, network, clock, files, contract. Changes nothing. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditLog } from '../audit/log.ts';
import type { Finding } from '../cli/context.ts';
import { preloads, type Runtime, watchers } from '../cli/reveal.ts';
import { proxyFor } from '../client/proxy.ts';
import type { Observed } from '../client/request.ts';
import { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { shellWord } from '../core/shell-quote.ts';
import { type FreeSpace, freeSpaceOf } from '../files/file-system.ts';
import type { IsRunning } from '../files/lock.ts';
import { isLocked } from '../files/lock.ts';
import { checkPrivateFolder, type FileDependencies, inOurWords, systemCode } from '../files/private-files.ts';
import type { Journal } from '../journal/types.ts';
import type { Folders } from '../platform/host.ts';
import type { Connections } from './connections.ts';
import type { ShownLimit } from './context.ts';
import type { AppHost } from './process-host.ts';

interface DoctorFacts {
  readonly host: AppHost;
  readonly version: string;
  readonly opened: Connections;
  readonly audit: () => Promise<AuditLog>;
  /** Limits that are set, and by whom. */
  readonly limits: () => Promise<readonly ShownLimit[]>;
  readonly journal: () => Promise<Journal>;
}

const OLDEST_NODE = [20, 19] as const;
const CLOCK_WARN_MS = 30_000;
const CLOCK_FAIL_MS = 300_000;

export async function doctorFor(about: DoctorFacts): Promise<readonly Finding[]> {
  const { host, opened } = about;
  const { platform, random, pid, folders } = host;
  const identity = await opened.identity().catch(asError);
  const who = identity instanceof CliError ? undefined : identity;
  const isRunning = (other: number) => host.isRunning(other);
  const rest = [
    ...(await fileFindings({ folders, files: { platform, random }, pid, isRunning, freeSpaceOf })),
    await journalFinding(host),
    ...(who === undefined ? [] : [await runsFinding(about, who), await keysFinding(about, who)]),
    ...(who === undefined ? [] : await limitFindings(about)),
    await contractFinding(opened, who),
    await storeFinding(opened, who),
    await auditFinding(about),
    nodeFinding(host.nodeVersion),
    codeCacheFinding(host.codeCache),
    runtimeFinding({ execArgv: host.execArgv, env: host.env, inspected: host.inspected() }),
  ];
  if (identity instanceof CliError) return [failed('profile', identity), ...rest];
  return [profileFinding(identity), ...(await serviceFindings(about, identity)), ...rest];
}

async function limitFindings({ limits }: DoctorFacts): Promise<Finding[]> {
  const check = 'limits';
  const shown = await limits().catch(asError);
  if (shown instanceof CliError) return [failed(check, shown)];
  const says = shown.map(({ name, value, source }) => `${name} is ${value}, set by ${source}`).join('; ');
  return [{ check, status: 'ok', says: says === '' ? 'none are set' : says }];
}

/** Runs that stopped: nobody may know whether their money moved. */
async function runsFinding({ journal }: DoctorFacts, { profile }: Identity): Promise<Finding> {
  const check = 'operations';
  const all = await journal()
    .then(opened => opened.list())
    .catch(asError);
  if (all instanceof CliError) return failed(check, all);
  const left = all.filter(
    ({ profile: of, state, counts }) =>
      of === profile && (state === 'unknown' || state === 'open') && counts.unknown + counts.open > 0,
  );
  const [first] = left;
  if (first === undefined) return { check, status: 'ok', says: 'none has stopped on its way' };
  const [unknown, open] = (['unknown', 'open'] as const).map(of => left.filter(each => each.counts[of] > 0).length);
  const says = [
    ...(unknown ? [`${unknown} with rows of unknown outcome`] : []),
    ...(open ? [`${open} stopped with rows that were not sent`] : []),
  ];
  return { check, status: 'warn', says: says.join(', '), hint: `cardwright ops resume ${first.op}` };
}

/** What an idempotency key is known to be worth: a lost answer is sent again only under one that is honoured. */
async function keysFinding({ journal }: DoctorFacts, { mode }: Identity): Promise<Finding> {
  const check = 'idempotency';
  const known = await journal()
    .then(opened => opened.capability('cards.create'))
    .catch(asError);
  if (known instanceof CliError) return failed(check, known);
  const { key } = known;
  if (key !== 'unknown') return { check, status: 'ok', says: `keys are known to be ${key}` };
  const says = 'not known whether keys are honoured: what was lost on its way is not sent again by itself';
  if (mode === 'live') return { check, status: 'ok', says };
  return { check, status: 'ok', says: `${says}; contract check --probe-idempotency finds out` };
}

/** Where operations are kept: without them a change could be made twice. */
async function journalFinding(host: AppHost): Promise<Finding> {
  const check = 'journal';
  const { journalPath } = await import('./journal.ts');
  const path = await journalPath(host).catch(asError);
  if (path instanceof CliError) return failed(check, path);
  return { check, status: 'ok', says: path ?? 'no operation was begun on this machine yet' };
}

function profileFinding({ profile, mode, baseUrl, chosenBy }: Identity): Finding {
  const says = `${profile}, ${mode === 'live' ? 'LIVE' : mode}, ${baseUrl}; chosen by ${chosenBy}`;
  return { check: 'profile', status: 'ok', says };
}

async function serviceFindings({ host, opened }: DoctorFacts, identity: Identity): Promise<readonly Finding[]> {
  const key = await opened.key().then(() => undefined, asError);
  const kept = `${identity.keyHint ?? 'none needed'}; ${identity.keySource}: ${identity.keyHome}`;
  const keyFinding: Finding = key === undefined ? { check: 'key', status: 'ok', says: kept } : failed('key', key);
  const origin = identity.baseUrl === 'embedded' ? undefined : new URL(identity.baseUrl);
  const ways = [keyFinding, proxyFinding(origin, host), verificationFinding(origin, host)];
  if (key !== undefined) return [...ways, { check: 'network', status: 'skip', says: 'not asked without a key' }];
  const service = await opened.service().catch(asError);
  const error =
    service instanceof CliError ? service : await service.send('wallet.get', {}).then(() => undefined, asError);
  const answer = opened.observed();
  return [
    ...ways,
    networkFinding(answer, error),
    clockFinding(host, answer, identity),
    certificateFinding(origin, answer),
  ];
}

function networkFinding(answer: Observed | undefined, error: CliError | undefined): Finding {
  if (error !== undefined) return failed('network', error);
  const says = answer === undefined ? 'answered' : `answered ${answer.status} in ${Math.round(answer.tookMs)} ms`;
  return { check: 'network', status: 'ok', says };
}

function clockFinding({ clock }: AppHost, answer: Observed | undefined, { mode }: Identity): Finding {
  const check = 'clock';
  if (mode === 'sandbox') return { check, status: 'skip', says: 'the sandbox has a clock of its own' };
  if (answer?.dateMs === undefined) return { check, status: 'skip', says: 'the service told no time' };
  const apart = Math.abs(answer.dateMs - clock.now());
  const status = apart > CLOCK_FAIL_MS ? 'fail' : apart > CLOCK_WARN_MS ? 'warn' : 'ok';
  const todo = status === 'ok' ? '' : ': set the clock of this machine';
  return { check, status, says: `${Math.round(apart / 1000)} s apart from the service${todo}` };
}

function certificateFinding(origin: URL | undefined, answer: Observed | undefined): Finding {
  const check = 'tls';
  if (origin?.protocol !== 'https:') return { check, status: 'skip', says: 'nothing leaves this machine' };
  if (answer?.certificate === undefined) return { check, status: 'skip', says: 'no connection was made' };
  const { issuer = 'an unnamed issuer', validTo = 'not told' } = answer.certificate;
  return { check, status: 'ok', says: `issued by ${issuer}, valid until ${validTo}` };
}

function verificationFinding(origin: URL | undefined, { env }: AppHost): Finding {
  const check = 'authorities';
  const off = env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0';
  if (off && origin?.protocol === 'https:') {
    const says = 'NODE_TLS_REJECT_UNAUTHORIZED=0: the receiver of the key is not checked';
    return { check, status: 'fail', says, hint: 'unset NODE_TLS_REJECT_UNAUTHORIZED' };
  }
  const added = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].filter(name => env[name]);
  const also = added.map(name => `${name} (${env[name]})`).join(' and ');
  return { check, status: 'ok', says: added.length === 0 ? 'those of Node' : `those of Node and ${also}` };
}

function proxyFinding(origin: URL | undefined, { env }: AppHost): Finding {
  const check = 'proxy';
  try {
    const proxy = origin === undefined ? undefined : proxyFor(origin, env);
    // Host and port alone: the address may hold a password.
    return { check, status: 'ok', says: proxy === undefined ? 'none on the way' : proxy.host };
  } catch (thrown) {
    return failed(check, asError(thrown));
  }
}

async function contractFinding({ overrides }: Connections, identity: Identity | undefined): Promise<Finding> {
  const check = 'contract';
  const read = await overrides().catch(asError);
  if (read instanceof CliError) return failed(check, read);
  const file = identity?.contractFile;
  return {
    check,
    status: 'ok',
    says: file === undefined ? 'as assumed; nothing is overridden' : `overridden by ${file}`,
  };
}

async function storeFinding({ admin }: Connections, identity: Identity | undefined): Promise<Finding> {
  const check = 'store';
  if (identity?.mode !== 'sandbox') return { check, status: 'skip', says: 'the sandbox is not in use' };
  const checked = await admin()
    .then(made => made.send('ledger.check', {}))
    .catch(asError);
  if (checked instanceof CliError) return failed(check, checked);
  const [fault] = checked.result.faults;
  if (fault === undefined) return { check, status: 'ok', says: 'the ledger of the sandbox balances' };
  return { check, status: 'fail', says: fault, hint: 'cardwright sandbox reset' };
}

async function auditFinding({ audit }: DoctorFacts): Promise<Finding> {
  const check = 'audit';
  const read = await audit()
    .then(log => log.read())
    .catch(asError);
  if (read instanceof CliError) return failed(check, read);
  const { entries, flaw } = read;
  if (flaw === undefined)
    return { check, status: 'ok', says: `${entries.length === 1 ? '1 line' : `${entries.length} lines`}, unbroken` };
  return { check, status: 'fail', says: `broken at line ${flaw.line}: ${flaw.why}`, hint: 'cardwright audit verify' };
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const old = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  const says = old ? `${version}; ${OLDEST_NODE.join('.')} or later is needed` : version;
  return { check: 'node', status: old ? 'fail' : 'ok', says };
}

/** Never a failure: without it the program starts later and does the same. */
function codeCacheFinding(says: string | undefined): Finding {
  const check = 'code cache';
  return says === undefined
    ? { check, status: 'skip', says: 'this program was not built' }
    : { check, status: 'ok', says };
}

function runtimeFinding(runtime: Runtime): Finding {
  const [seen, loaded] = [watchers(runtime), preloads(runtime)];
  const says = [
    ...(seen.length > 0 ? [`others can read along: ${seen.join(', ')}; nothing is revealed`] : []),
    ...(loaded.length > 0 ? [`foreign code is loaded first: ${loaded.join(', ')}; no live card is revealed`] : []),
  ];
  if (says.length === 0) return { check: 'runtime', status: 'ok', says: 'no debugger, report or preloaded code' };
  return { check: 'runtime', status: 'warn', says: says.join('; '), hint: 'unset NODE_OPTIONS NODE_DEBUG' };
}

function failed(check: string, error: CliError): Finding {
  // What failed elsewhere may tell to run this very command.
  const hint = error.facts.hint === 'cardwright doctor' ? undefined : error.facts.hint;
  return { check, status: 'fail', says: error.message, ...(hint !== undefined && { hint }) };
}

function asError(thrown: unknown): CliError {
  if (thrown instanceof CliError) return thrown;
  throw thrown;
}

interface FileFacts {
  readonly folders: Folders;
  readonly files: Omit<FileDependencies, 'warn'>;
  readonly pid: number;
  readonly isRunning: IsRunning;
  readonly freeSpaceOf: (folder: string) => Promise<FreeSpace>;
}

/** Deep enough for a folder per operation. */
const DEEPEST = 3;
const OTHERS = 0o077;

export async function fileFindings(facts: FileFacts): Promise<readonly Finding[]> {
  try {
    return [await modesFinding(facts), await spaceFinding(facts), await locksFinding(facts)];
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    return [{ check: 'files', status: 'fail', says: thrown.message }];
  }
}

async function modesFinding({ folders, files }: FileFacts): Promise<Finding> {
  const repaired: string[] = [];
  const around = { ...files, warn: (text: string) => void repaired.push(text) };
  const there: string[] = [];
  for (const folder of new Set([folders.config, folders.state, folders.data, folders.cache])) {
    if (await checkPrivateFolder(folder, around)) there.push(folder);
  }
  const open = files.platform === 'win32' ? [] : await openFiles(there);
  if (repaired.length > 0) return { check: 'files', status: 'warn', says: repaired.join('; ') };
  const [first] = open;
  if (first === undefined)
    return { check: 'files', status: 'ok', says: `private: ${there.join(', ') || 'none made yet'}` };
  const says = `${open.length} open to other users, the first is ${first}`;
  return { check: 'files', status: 'warn', says, hint: `chmod 600 ${JSON.stringify(first)}` };
}

const MEGABYTE = 1_000_000;
/** A journal of some thousand rows; and less than that may hold no plan at all. */
const LITTLE = 20 * MEGABYTE;
const TOO_LITTLE = MEGABYTE;

/** Without room nothing can be written down, and what cannot be written down is not sent. */
async function spaceFinding({ folders, freeSpaceOf }: FileFacts): Promise<Finding> {
  const check = 'space';
  const asked = [...new Set([folders.state, folders.data, folders.config])];
  const spaces = await Promise.all(asked.map(freeSpaceOf));
  const barred = spaces.find(({ refusedBy }) => refusedBy !== undefined);
  if (barred !== undefined) {
    const says = `${barred.folder} cannot be written (${barred.refusedBy}): no money is moved`;
    return { check, status: 'fail', says, hint: `ls -ld ${shellWord(barred.folder)}` };
  }
  const [least] = spaces.toSorted((a, b) => a.free - b.free);
  if (least === undefined || least.free >= LITTLE) return { check, status: 'ok', says: 'folders can be written' };
  const left = `${Math.floor(least.free / MEGABYTE)} MB are left for ${least.folder}`;
  const hint = `df -h ${shellWord(least.folder)}`;
  if (least.free >= TOO_LITTLE) return { check, status: 'warn', says: left, hint };
  return { check, status: 'fail', says: `${left}: no money is moved until there is room`, hint };
}

async function openFiles(folders: readonly string[]): Promise<readonly string[]> {
  const open: string[] = [];
  for await (const path of filesBelow(folders)) {
    const found = await statOf(path);
    if (found?.isFile() && (found.mode & OTHERS) !== 0) open.push(path);
  }
  return open;
}

async function locksFinding({ folders, pid, isRunning }: FileFacts): Promise<Finding> {
  const stale: string[] = [];
  let held = 0;
  for await (const path of filesBelow([folders.config, folders.state, folders.data])) {
    if (!/(?:\.lock|\/lock|\.takeover)$/.test(path)) continue;
    if (await isLocked(path, { pid }, isRunning)) held += 1;
    else if ((await statOf(path)) !== undefined) stale.push(path);
  }
  if (stale.length === 0)
    return { check: 'locks', status: 'ok', says: held === 0 ? 'none' : `${held} held by running processes` };
  const says = `${stale.length} left by processes that are gone; the next command takes them over`;
  return { check: 'locks', status: 'warn', says: `${says}: ${stale.join(', ')}` };
}

async function* filesBelow(folders: readonly string[], depth = DEEPEST): AsyncGenerator<string> {
  for (const folder of folders) {
    const entries = await inOurWords(folder, async () =>
      readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
        if (systemCode(error) === 'ENOENT') return [];
        throw error;
      }),
    );
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isFile()) yield path;
      else if (entry.isDirectory() && depth > 0) yield* filesBelow([path], depth - 1);
    }
  }
}

/** A file may be gone since it was listed: another process is at work. */
async function statOf(path: string) {
  return lstat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}
