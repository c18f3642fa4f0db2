/**
 * Names of callers as files of this machine: lines in the form of the journal, a file for each first byte of the digest of
 * service, mode and name. The last line of a name counts. A line stands before the plan of its op: one whose op has no plan
 * says nothing, because nothing was sent.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { CliError } from '../../core/errors.ts';
import { decodeLines, encodeLines } from '../wal/codec.ts';
import type { PlanRecord } from '../wal/records.ts';
import { cardOf, type History } from '../wal/replay.ts';
import type { LocalOps } from './local-ops.ts';
import type { ClaimedIntent, IntentsHold, NamedIntents, NotedIntent } from './op-store.ts';

interface IntentLine extends NotedIntent, Pick<PlanRecord, 'origin' | 'mode'> {
  readonly t: 'INTENT';
  /** ms UTC. */
  readonly at: number;
}

/** Waiting for another process that notes the names of its rows; those of 100,000 take seconds. */
const PATIENCE_MS = 30_000;
/** Who writes a file anew: no op begins with this. */
const REWRITER = '00000000';

/** See `OpStore.notedIntents`. `addresses`: all of the account; what stands at the first of them counts before the others. */
export async function notedIntents(
  local: LocalOps,
  { origin, mode, names }: NamedIntents,
  addresses: readonly string[] = [origin],
): Promise<ReadonlyMap<string, NotedIntent>> {
  const found = new Map<string, NotedIntent>();
  for (const address of addresses.toReversed()) {
    const paths = new Set([...names].map(name => pathOf(local, { origin: address, mode }, name)));
    for (const path of paths) {
      for (const line of await linesIn(local, path)) {
        if (line.origin === address && line.mode === mode && names.has(line.name)) found.set(line.name, line);
      }
    }
  }
  return found;
}

/** Every name of a service, with what it stands for now. */
export async function intentsOfService(
  local: LocalOps,
  service: Pick<PlanRecord, 'origin' | 'mode'>,
): Promise<readonly NotedIntent[]> {
  const found = new Map<string, NotedIntent>();
  for (const file of await local.disk.names(local.places.intents)) {
    if (!/^[0-9a-f]{2}$/.test(file)) continue;
    for (const { t: _, origin, mode, at: __, ...line } of await linesIn(local, join(local.places.intents, file)))
      if (origin === service.origin && mode === service.mode) found.set(line.name, line);
  }
  return [...found.values()];
}

/** The same, by the op that has them. */
export async function intentsByOp(
  local: LocalOps,
  service: Pick<PlanRecord, 'origin' | 'mode'>,
): Promise<Map<string, readonly NotedIntent[]>> {
  return grouped(await intentsOfService(local, service), ({ op }) => op);
}

/** Notes names of another store here, durably; those that are noted for the same op stay. */
export async function addIntents(
  local: LocalOps,
  { origin, mode, at }: Pick<PlanRecord, 'origin' | 'mode' | 'at'>,
  names: readonly NotedIntent[],
): Promise<void> {
  const release = await holdAll(local);
  try {
    const known = new Map((await intentsOfService(local, { origin, mode })).map(each => [each.name, each]));
    const lines = names
      .filter(
        ({ name, op, done }) =>
          known.get(name)?.op !== op || (done !== undefined && known.get(name)?.done === undefined),
      )
      .map((each): IntentLine => ({ t: 'INTENT', origin, mode, at, ...each }));
    for (const [path, together] of grouped(lines, line => pathOf(local, line, line.name))) {
      const before = await linesIn(local, path);
      await local.disk.replace(path, Buffer.from(encodeLines(REWRITER, 0, [...before, ...together])).toString());
    }
  } finally {
    await release();
  }
}

/** See `OpStore.holdIntents`. */
export async function holdIntents(
  local: LocalOps,
  wanted: NamedIntents,
  addresses?: readonly string[],
): Promise<IntentsHold> {
  const release = await holdAll(local);
  try {
    return { noted: await notedIntents(local, wanted, addresses), release };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

async function holdAll({ disk, places }: LocalOps): Promise<() => Promise<void>> {
  await disk.prepareFolder(places.root);
  await disk.prepareFolder(places.intents);
  return disk.hold(places.intentsLock, PATIENCE_MS);
}

/** Notes the names for an op, durably. They are held. */
export async function noteIntents(local: LocalOps, plan: PlanRecord, intents: readonly ClaimedIntent[]): Promise<void> {
  const { disk, places } = local;
  const { op, origin, mode, at } = plan;
  const lines = intents.map(
    ({ name, digest, row }): IntentLine => ({ t: 'INTENT', origin, mode, name, digest, op, row, at }),
  );
  // An op notes its names once, so no file holds another line of this writer.
  const by = createHash('sha256').update(op).digest('hex').slice(0, 8);
  let isNew = false;
  for (const [path, together] of grouped(lines, line => pathOf(local, line, line.name))) {
    isNew = (await appendTo(local, path, encodeLines(by, 0, together))) || isNew;
  }
  if (isNew) await disk.syncNames(places.intents);
}

/** True when the file was not there. */
async function appendTo({ disk }: LocalOps, path: string, bytes: Uint8Array): Promise<boolean> {
  const there = await disk.open(path);
  const file = there ?? (await disk.create(path));
  try {
    const before = await file.readAll();
    const whole = before.lastIndexOf(0x0a) + 1;
    // What a crash has torn off was never relied upon, and nothing may be appended to it.
    if (whole < before.length) await file.truncate(whole);
    await file.append(bytes);
    await file.sync();
    return there === undefined;
  } finally {
    await file.close();
  }
}

/** The op is about to be removed: names of done rows keep what came of them, the others are free. */
export async function keepDoneIntents(local: LocalOps, { plan, rows }: History): Promise<void> {
  const names = new Set([...rows.values()].flatMap(({ item }) => item.intent ?? []));
  if (names.size === 0) return;
  const paths = new Set([...names].map(name => pathOf(local, plan, name)));
  await rewrite(local, paths, line => {
    if (line.op !== plan.op) return line;
    const row = rows.get(line.row);
    if (row?.state !== 'done') return undefined;
    const card = cardOf(row);
    return { ...line, done: card === undefined ? {} : { card } };
  });
}

/** See `OpStore.forgetIntents`. */
export async function forgetIntents(local: LocalOps, before: number): Promise<void> {
  const { disk, places } = local;
  const paths = (await disk.names(places.intents)).filter(name => /^[0-9a-f]{2}$/.test(name));
  if (paths.length === 0) return;
  const isOver = (line: IntentLine) => line.done !== undefined && line.at < before;
  await rewrite(local, new Set(paths.map(name => join(places.intents, name))), line =>
    isOver(line) ? undefined : line,
  );
}

/** Each line as `keep` gives it back; lines that others of the same name have followed go as well. */
async function rewrite(
  local: LocalOps,
  paths: ReadonlySet<string>,
  keep: (line: IntentLine) => IntentLine | undefined,
): Promise<void> {
  const release = await holdAll(local);
  try {
    for (const path of paths) {
      const lines = await linesIn(local, path);
      const last = new Map(lines.map(line => [`${line.origin}\n${line.mode}\n${line.name}`, line]));
      const kept = [...last.values()].flatMap(line => keep(line) ?? []);
      const isSame = kept.length === lines.length && kept.every((line, index) => line === lines[index]);
      if (!isSame) await local.disk.replace(path, Buffer.from(encodeLines(REWRITER, 0, kept)).toString());
    }
  } finally {
    await release();
  }
}

async function linesIn(local: LocalOps, path: string): Promise<readonly IntentLine[]> {
  const file = await local.disk.open(path);
  if (file === undefined) return [];
  try {
    return decodeLines<IntentLine>(await file.readAll(), path).written.map(({ record }) => record);
  } catch (thrown) {
    throw thrown instanceof CliError && thrown.kind === 'check_failed' ? damaged(path) : thrown;
  } finally {
    await file.close();
  }
}

function pathOf({ places }: LocalOps, { origin, mode }: Pick<PlanRecord, 'origin' | 'mode'>, name: string): string {
  return places.intent(`${origin}\n${mode}`, name);
}

function grouped<T>(all: readonly T[], by: (one: T) => string): Map<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = by(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}

function damaged(path: string): CliError {
  return new CliError('check_failed', {
    message: `${path} is damaged, and nobody can say what its intents were used for; nothing was sent`,
    notes: ['Look at the service itself before doing anything under one of these intents again.'],
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}
