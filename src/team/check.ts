/**
 * Whether a shared journal is whole: its chain, the lines of its ops, names, and the sums that must hold. It reads, and
 * changes nothing; while others work it sees what they have finished.
 */
import { isDeepStrictEqual } from 'node:util';
import { CliError } from '../core/errors.ts';
import { cents, dollars } from '../core/money.ts';
import { createClaimedCards } from '../journal/runs/claimed-cards.ts';
import type { AcceptedClash, JournalFlaw, StoreCheck } from '../journal/shared-ops.ts';
import type { OpFlaws } from '../journal/store/op-store.ts';
import { decodeLines } from '../journal/wal/codec.ts';
import type { StoredRecord } from '../journal/wal/records.ts';
import { type History, historyOf } from '../journal/wal/replay.ts';
import { literal } from '../postgres/sql-text.ts';
import type { DaySums, OpenRows, OpHead, Segment } from './calls.ts';
import { readSharedChain } from './chain.ts';
import { recordsOrError, sqlForDamaged } from './damaged-records.ts';
import { lateCents } from './late-done.ts';
import { digestOfSegments } from './records-digest.ts';
import type { SharedOps } from './shared-ops.ts';
import { createStanding } from './standing.ts';

type Checked = Pick<SharedOps, 'statements' | 'account' | 'head'>;

const PAGE = 1000;

/** Throws `guarded` where the journal cannot be read; what is wrong with it is in the answer. */
export async function checkShared(shared: Checked, opFlaws: OpFlaws): Promise<StoreCheck> {
  const chain = await checkChain(shared);
  const ops = new Set<string>();
  const named: [name: string, op: string][] = [];
  const flaws = [...chain.flaws];
  const claimed = createClaimedCards();
  let records = 0;
  for await (const head of allHeads(shared)) {
    ops.add(head.op);
    if (head.pruned) continue;
    const found = await checkOp(shared, head, { digests: chain.digests, opFlaws });
    records += found.records;
    if (found.history !== undefined) claimed.add(found.history);
    for (const name of found.names) named.push([name, head.op]);
    const sql = found.damaged ? { sql: sqlForDamaged(shared.account, head.op) } : {};
    flaws.push(...found.texts.map(text => ({ what: 'op', op: head.op, text, ...sql }) as const));
  }
  const intents = await checkIntents(shared, named);
  const days = await shared.statements().daySums(shared.account);
  flaws.push(...intents.flaws, ...days.flatMap(flawsOfDay));
  return {
    lines: chain.lines,
    ops,
    records,
    since: chain.since,
    flaws,
    clashes: intents.clashes,
    accepted: (await shared.statements().status(shared.account)).accepted,
    acceptedCards: await shared.statements().acceptedCards(shared.account),
    claimed,
    sqlForCard: card => `select cardwright.accept_card('${shared.account}', ${literal(card)}, 'why');`,
  };
}

interface CheckedChain {
  readonly lines: number;
  /** When the account was made, ms UTC. */
  readonly since: number;
  /** By op, what the line of its end says of its records. */
  readonly digests: ReadonlyMap<string, string>;
  readonly flaws: readonly JournalFlaw[];
}

async function checkChain({ statements, account, head }: Checked): Promise<CheckedChain> {
  const { entries, flaw } = await readSharedChain(statements(), account);
  const flaws: JournalFlaw[] = [];
  const broken = (line: number, why: string) => void flaws.push({ what: 'chain', line, text: `line ${line}: ${why}` });
  if (flaw !== undefined) broken(flaw.line, flaw.why);
  const known = head.known();
  if (flaw === undefined && known !== undefined && entries[known.seq - 1]?.hash !== known.hash)
    broken(known.seq, 'it is not the one that this machine has seen');
  const digests = new Map<string, string>();
  for (const { op, records_sha256: digest } of entries)
    if (op !== undefined && digest !== undefined) digests.set(op, digest);
  return { lines: entries.length, since: Date.parse(entries[0]?.at ?? '') || 0, digests, flaws };
}

async function* allHeads({ statements, account }: Checked): AsyncIterable<OpHead> {
  for (let skip = 0; ; skip += PAGE) {
    const page = await statements().heads(account, { skip, most: PAGE, pruned: true });
    yield* page;
    if (page.length < PAGE) return;
  }
}

interface CheckedOp {
  readonly records: number;
  /** Names of rows that are not known to have come to nothing. */
  readonly names: readonly string[];
  readonly texts: readonly string[];
  /** Its records are not those that were written: an admin may set it aside. */
  readonly damaged: boolean;
  /** Undefined where its records cannot be read. */
  readonly history?: History | undefined;
}

async function checkOp(
  { statements, account }: Checked,
  seen: OpHead,
  { digests, opFlaws }: { readonly digests: ReadonlyMap<string, string>; readonly opFlaws: OpFlaws },
): Promise<CheckedOp> {
  for (let head = seen; ; ) {
    const segments = await statements().readOp(account, head.op, 1);
    const found = await withOpFlaws(head, flawsOf(head, segments, digests.get(head.op)), opFlaws);
    if (found.texts.length === 0) return found;
    // Somebody may have written between the two readings.
    const [again] = await statements().heads(account, { op: head.op });
    if (again === undefined) return { ...found, texts: [] };
    if (again.n === head.n && again.state === head.state) return found;
    head = again;
  }
}

/** What is held counts nothing yet. */
async function withOpFlaws(head: OpHead, found: CheckedOp, opFlaws: OpFlaws): Promise<CheckedOp> {
  const { history } = found;
  if (history === undefined || found.damaged) return found;
  const isCounted = head.state !== 'pending' && history.denied === undefined;
  const counted = isCounted ? { cents: head.reserved, told: head.spending ?? undefined } : undefined;
  return { ...found, texts: [...found.texts, ...(await opFlaws(history, counted))] };
}

function flawsOf(head: OpHead, segments: readonly Segment[], digest: string | undefined): CheckedOp {
  const inOrder = segments.filter(({ n }) => n > 0);
  const texts: string[] = [];
  if (inOrder.some(({ n }, index) => n !== index + 1) || inOrder.length !== head.n)
    texts.push(`${head.n} segments were written, and ${inOrder.length} are there`);
  const size = inOrder.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (size !== head.size) texts.push(`${head.size} bytes were written, and ${size} are there`);
  if (digest !== undefined && digestOfSegments(inOrder) !== digest)
    texts.push('its records are not those that the chain names');
  const bytes = Buffer.concat(segments.map(segment => segment.bytes));
  const written = recordsOrError(bytes, head.op);
  if (written instanceof CliError) return { records: 0, names: [], texts: [...texts, written.message], damaged: true };
  const damaged = texts.length > 0;
  const standing = createStanding();
  standing.read(Buffer.concat(inOrder.map(segment => segment.bytes)));
  const before = standing.counts();
  if (head.shown !== null && !isDeepStrictEqual(head.shown, standing.shown()))
    texts.push('what a list shows of it is not what its records say');
  for (const late of segments.filter(({ n }) => n < 0)) standing.read(late.bytes);
  const late = inOrder.length === segments.length ? 0 : lateCents(linesOf(inOrder, head.op), written);
  texts.push(...planFlaws(head, written), ...endFlaws(head, { standing, before, late }));
  const free = new Set(standing.unusedIntents());
  const names = written.flatMap(({ record }) => (record.t === 'ITEM' && record.intent ? record.intent : []));
  return {
    records: written.length,
    names: names.filter(name => !free.has(name)),
    texts,
    damaged,
    history: historyOf(written),
  };
}

function linesOf(segments: readonly Segment[], op: string): readonly StoredRecord[] {
  return decodeLines(Buffer.concat(segments.map(({ bytes }) => bytes)), op).written;
}

function planFlaws({ op, command, rows, cents: total }: OpHead, [first]: readonly StoredRecord[]): string[] {
  const plan = first?.record;
  if (plan?.t !== 'PLAN') return ['it does not begin with its plan'];
  const isSame = plan.op === op && plan.command === command && plan.rows === rows && plan.total_cents === total;
  return isSame ? [] : ['its plan is that of another operation'];
}

interface Standings {
  readonly standing: ReturnType<typeof createStanding>;
  /** Without what former holders brought later: the holder may not have read that. */
  readonly before: OpenRows;
  /** Cents of rows that were done after all, as was brought behind the end. */
  readonly late: number;
}

function endFlaws(head: OpHead, { standing, before, late }: Standings): string[] {
  const end = standing.end();
  if (head.state !== 'finished') {
    const counts = [before, standing.counts()];
    const isTold = counts.some(({ unknown, open }) => unknown === head.unknown && open === head.open);
    return isTold || head.state === 'pending' ? [] : ['the rows that are unknown or open are not those it counts'];
  }
  if (end === undefined) return ['it is finished, and its records do not say so'];
  const spent = Math.min(end.cents + late, head.reserved);
  // An older release has counted nothing of what came late.
  return spent === head.spent || Math.min(end.cents, head.reserved) === head.spent
    ? []
    : [`its records say ${money(spent)} were spent, and ${money(head.spent)} are counted`];
}

interface CheckedIntents {
  readonly flaws: readonly JournalFlaw[];
  readonly clashes: readonly AcceptedClash[];
}

/** Names of rows that may have been carried out, noted for nothing or for another op: they could be used once more. */
async function checkIntents(
  shared: Checked,
  named: readonly (readonly [name: string, op: string])[],
): Promise<CheckedIntents> {
  const { statements, account } = shared;
  const used = new Map<string, string>();
  for (let behind = ''; ; ) {
    const page = await statements().intentsPage(account, behind);
    for (const { name, op } of page) used.set(name, op);
    behind = page.at(-1)?.name ?? '';
    if (page.length < PAGE) break;
  }
  const flaws: JournalFlaw[] = [];
  const clashes: AcceptedClash[] = [];
  const known = await statements().acceptedClashes(account);
  for (const [intent, op] of named) {
    const belongsTo = used.get(intent);
    if (belongsTo === op || !(await stillHas(shared, op, intent))) continue;
    const accepted = known.find(each => each.op === op && each.belongs_to === belongsTo);
    if (belongsTo === undefined) flaws.push({ what: 'intent', op, text: `its intent ${intent} is noted for nothing` });
    else if (accepted === undefined) flaws.push(clashOf({ op, intent, belongsTo, account }));
    else clashes.push({ op, intent, belongsTo, by: accepted.by, at: accepted.at, why: accepted.why });
  }
  return { flaws, clashes };
}

type Clashing = Pick<AcceptedClash, 'op' | 'intent' | 'belongsTo'> & Pick<Checked, 'account'>;

function clashOf({ op, intent, belongsTo, account }: Clashing): JournalFlaw {
  const sql = `select cardwright.accept_clash('${account}', '${op}', '${belongsTo}', 'why');`;
  return { what: 'intent', op, text: `its intent ${intent} belongs to ${belongsTo}`, sql };
}

/** Its row may have come to nothing since it was read; then the name is free. */
async function stillHas({ statements, account }: Checked, op: string, name: string): Promise<boolean> {
  const standing = createStanding();
  for (const { bytes } of await statements().readOp(account, op, 1)) standing.read(bytes);
  return standing.writer() !== undefined && !standing.unusedIntents().includes(name);
}

function flawsOfDay({ day, held, spent, ops_held, ops_spent }: DaySums): readonly JournalFlaw[] {
  if (held === ops_held && spent === ops_spent) return [];
  const text = `${day} counts ${money(held)} held and ${money(spent)} spent; its operations have ${money(ops_held)} and ${money(ops_spent)}`;
  return [{ what: 'day', text }];
}

function money(value: number): string {
  return dollars(cents(value));
}
