/** What every store of ops owes the journal, whatever it keeps them in (src/journal/store/op-store.ts). */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { spendingOf } from '../../src/core/spending.ts';
import { judgedRows } from '../../src/journal/approvals/rule.ts';
import { planLines } from '../../src/journal/runs/plan-lines.ts';
import type { Claim, HeadFilter, OpStore, Tape } from '../../src/journal/store/op-store.ts';
import { encodeLines } from '../../src/journal/wal/codec.ts';
import { newOp } from '../../src/journal/wal/op-id.ts';
import type { ItemRecord, JournalRecord, PlanRecord } from '../../src/journal/wal/records.ts';

/** An empty place of ops; each of `open` is another process before it, with the same account. */
export interface StorePlace extends AsyncDisposable {
  open(): OpStore;
  /** Ops are never removed, and a name or claim that comes second is refused where it would be kept waiting elsewhere. */
  readonly isShared?: true;
}

const ORIGIN = 'https://api.example.com';
const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const tick = () => new Promise(resolve => setImmediate(resolve));

export function record(more: Partial<PlanRecord> = {}): PlanRecord {
  return {
    t: 'PLAN',
    version: 1,
    op: newOp({ bytes: count => randomBytes(count), fraction: () => 0 }),
    command: 'cards fund',
    origin: ORIGIN,
    profile: 'team',
    mode: 'test',
    key_print: '0123456789abcdef',
    digest: hex(32),
    rows: 1,
    total_cents: 500,
    bulk: false,
    marker: true,
    capability: {},
    at: 1,
    ...more,
  };
}

function bytesOf(plan: PlanRecord, by = '0a0a0a0a'): Uint8Array {
  const run = { t: 'RUN', pid: 1, start: '', boot: '', at: 1 } as const;
  return Buffer.concat([...planLines({ by, plan, items: [], run })]);
}

/** A claim that nothing is in the way of. */
export function claimOf(plan: PlanRecord, more: Partial<Claim> = {}): Claim {
  return {
    record: plan,
    spending: () => spendingOf([]),
    judged: () => judgedRows([]),
    refuse: async () => undefined,
    lines: () => [bytesOf(plan)],
    refuseAgain: async () => undefined,
    ...more,
  };
}

const END: JournalRecord = { t: 'END', done: 1, refused: 0, not_sent: 0, cents: 500, at: 2 };

/** Writes a record as the journal does, three behind the plan. */
async function append({ file }: Tape, line: JournalRecord): Promise<Uint8Array> {
  const bytes = encodeLines('0a0a0a0a', 3, [line]);
  await file.append(bytes);
  await file.sync();
  return bytes;
}

async function letGo(tape: Tape, ended = false): Promise<void> {
  await tape.file.close();
  await tape.release(ended);
}

async function opsOf(store: OpStore, filter?: HeadFilter): Promise<string[]> {
  const found: string[] = [];
  for await (const { op } of store.heads(filter)) found.push(op);
  return found.sort();
}

export function storeContract(name: string, place: () => Promise<StorePlace>): void {
  describe(name, () => {
    reading(place);
    claiming(place);
    refusing(place);
    taking(place);
    keys(place);
    intents(place);
  });
}

function reading(place: () => Promise<StorePlace>): void {
  test('an empty place has no ops, and says so without being made ready', async () => {
    await using at = await place();
    const store = at.open();
    const { op } = record();
    expect(await opsOf(store)).toEqual([]);
    expect(await store.read(op)).toBeUndefined();
    expect(await store.isHeld(op)).toBe(false);
    expect(store.setAside(op)).toContain(op);
    await store.forget(op);
  });

  test('heads: the plan, the end, what is not finished, and since when', async () => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    const [over, untold, open] = [record({ at: 10 }), record({ at: 20 }), record({ at: 30 })];
    for (const [plan, ended] of [
      [over, true],
      [untold, false],
    ] as const) {
      const tape = await one.claim(claimOf(plan));
      await append(tape, END);
      await letGo(tape, ended);
    }
    await letGo(await one.claim(claimOf(open)));
    const seen = new Map<string, unknown>();
    for await (const head of other.heads())
      seen.set(head.op, { unfinished: head.unfinished, plan: await head.plan(), end: await head.end() });
    expect(seen).toEqual(
      new Map([
        [over.op, { unfinished: false, plan: over, end: END }],
        // END alone finishes nothing: nobody was told of it.
        [untold.op, { unfinished: true, plan: untold, end: END }],
        [open.op, { unfinished: true, plan: open, end: undefined }],
      ]),
    );
    expect(await opsOf(other, { unfinished: true })).toEqual([untold.op, open.op].sort());
    expect(await opsOf(other, { writtenSince: 1 })).toHaveLength(3);
    expect(await opsOf(other, { writtenSince: Number.MAX_SAFE_INTEGER })).toEqual([]);
    if (at.isShared) {
      // Its own clock says that it is not old enough.
      expect(await other.forget(over.op)).toBe(false);
      return;
    }
    expect(await other.forget(over.op)).toBe(true);
    expect(await opsOf(one)).toEqual([untold.op, open.op].sort());
  });

  test('prints of keys: none of a sandbox, and an own plan is known', async () => {
    await using at = await place();
    const store = at.open();
    await store.ready();
    expect(await store.keyPrint('sandbox')).toBe('sandbox');
    const print = await store.keyPrint('test');
    expect(await at.open().keyPrint('test')).toBe(print);
    expect(await store.isOwnPlan(record({ key_print: print }))).toBe(true);
    expect(await store.isOwnPlan(record({ key_print: 'ffffffff' }))).toBe(false);
  });
}

function claiming(place: () => Promise<StorePlace>): void {
  test('a claim keeps its lines as they are, in this order: refuse, lines, everybody sees them, refuse again', async () => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    const plan = record();
    const steps: string[] = [];
    const step = async (what: string) => {
      const bytes = await other.read(plan.op);
      steps.push(`${what}: ${bytes === undefined || bytes.length === 0 ? 'nothing' : 'the plan'}`);
    };
    const whole = bytesOf(plan);
    const tape = await one.claim({
      record: plan,
      spending: () => spendingOf([]),
      judged: () => judgedRows([]),
      refuse: () => step('refuse'),
      *lines() {
        steps.push('lines');
        yield whole.subarray(0, 20);
        yield whole.subarray(20);
      },
      refuseAgain: () => step('refuse again'),
    });
    expect(steps).toEqual(['refuse: nothing', 'lines', 'refuse again: the plan']);
    expect(tape.op).toBe(plan.op);
    expect(Buffer.from((await other.read(plan.op)) ?? [])).toEqual(Buffer.from(whole));
    expect([await one.isHeld(plan.op), await other.isHeld(plan.op)]).toEqual([true, true]);
    await letGo(tape);
    expect(await other.isHeld(plan.op)).toBe(false);
  });

  test('what is appended is there after a sync, and can be read back in place', async () => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    const plan = record();
    const tape = await one.claim(claimOf(plan));
    const { length } = bytesOf(plan);
    expect(await tape.file.size()).toBe(length);
    const line = await append(tape, END);
    expect(Buffer.from(tape.file.readAt(length, line.length + 100))).toEqual(Buffer.from(line));
    expect(Buffer.from(await tape.file.readAll())).toEqual(Buffer.from((await other.read(plan.op)) ?? []));
    expect(await tape.file.size()).toBe(length + line.length);
    await letGo(tape, true);
  });

  test('of two claims of the same changes the second asks when it can see the plan of the first', async () => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await Promise.all([one.ready(), other.ready()]);
    const first = record({ bulk: true });
    const second = record({ bulk: true, digest: first.digest });
    let asked = false;
    let seen: string[] = [];
    let late: Promise<Tape> | undefined;
    const begun = one.claim(
      claimOf(first, {
        async refuse() {
          if (late !== undefined) return;
          late = other.claim(
            claimOf(second, {
              async refuse() {
                asked = true;
                seen = await opsOf(other, { unfinished: true });
              },
            }),
          );
          for (let turn = 0; turn < 20; turn += 1) await tick();
          if (!at.isShared) expect(asked).toBe(false);
          // There whoever is first is first.
          else await late?.then(letGo);
        },
      }),
    );
    if (at.isShared) {
      // The rules were asked again, and found nobody in the way: the database has the last word.
      await expect(begun).rejects.toMatchObject({ kind: 'guarded', facts: { op: second.op } });
      return;
    }
    const tape = await begun;
    await letGo((await late) as Tape);
    expect(seen).toContain(first.op);
    await letGo(tape);
  });

  test('of two claims of other changes one at least sees the other when it is asked again', async () => {
    await using at = await place();
    const stores = [at.open(), at.open()];
    const plans = [record({ bulk: true }), record({ bulk: true })] as const;
    await Promise.all(stores.map(store => store.ready()));
    const seen: boolean[] = [];
    const tapes = await Promise.all(
      stores.map((store, index) =>
        store.claim(
          claimOf(plans[index] as PlanRecord, {
            async refuseAgain() {
              const found: (string | undefined)[] = [];
              for await (const head of store.heads({ unfinished: true })) found.push((await head.plan())?.digest);
              seen.push(found.includes(plans[1 - index]?.digest));
            },
          }),
        ),
      ),
    );
    expect(seen).toContain(true);
    for (const tape of tapes) await letGo(tape);
  });
}

function refusing(place: () => Promise<StorePlace>): void {
  const no = new Error('in the way');
  test.each([
    ['refuse', { refuse: () => Promise.reject(no) }],
    ['lines', { lines: () => bad() }],
    ['refuseAgain', { refuseAgain: () => Promise.reject(no) }],
  ] as const)('a claim that ends in %s leaves nothing that a resume would send', async (_, more) => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    const plan = record();
    await expect(one.claim(claimOf(plan, more))).rejects.toBe(no);
    expect(await opsOf(other, { unfinished: true })).toEqual([]);
    expect(await other.isHeld(plan.op)).toBe(false);
    // Nor is anybody kept waiting by it.
    await letGo(await other.claim(claimOf(record({ digest: plan.digest }))));
  });

  function* bad(): Iterable<Uint8Array> {
    yield bytesOf(record()).subarray(0, 10);
    throw no;
  }

  test('a claim that is taken back is gone', async () => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    const plan = record();
    await (await one.claim(claimOf(plan))).abandon();
    expect(await opsOf(other, { unfinished: true })).toEqual([]);
    expect(await other.isHeld(plan.op)).toBe(false);
  });
}

function taking(place: () => Promise<StorePlace>): void {
  test('an op is in the hands of one process, and comes with its bytes', async () => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    const plan = record();
    const tape = await one.claim(claimOf(plan));
    const refused = { kind: 'guarded', facts: { op: plan.op, outcome: 'not_sent' } };
    await expect(other.take(plan.op)).rejects.toMatchObject(refused);
    await letGo(tape);
    const taken = await other.take(plan.op);
    await expect(one.take(plan.op)).rejects.toMatchObject(refused);
    expect(Buffer.from(await taken.file.readAll())).toEqual(Buffer.from(bytesOf(plan)));
    await append(taken, END);
    await letGo(taken, true);
    expect(await opsOf(one, { unfinished: true })).toEqual([]);
    // What is over may still be looked at under the lock.
    await letGo(await one.take(plan.op));
  });

  test('what a process left torn is cut off before anything is appended', async () => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    const plan = record();
    const tape = await one.claim(claimOf(plan));
    await tape.file.append(encodeLines('0a0a0a0a', 3, [END]).subarray(0, 12));
    await letGo(tape);
    const whole = bytesOf(plan);
    const taken = await other.take(plan.op);
    await taken.file.truncate(whole.length);
    const line = await append(taken, END);
    expect(Buffer.from((await one.read(plan.op)) ?? [])).toEqual(Buffer.concat([whole, line]));
    await letGo(taken, true);
  });
}

function keys(place: () => Promise<StorePlace>): void {
  const given = { origin: ORIGIN, mode: 'test', key: 'order-7' } as const;

  test('a given key is in one hand, and tells the op it was used for last', async () => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    const held = await one.holdKey(given);
    expect(await held.usedFor()).toBeUndefined();
    const inUse = { kind: 'guarded', facts: { idempotencyKey: given.key, outcome: 'not_sent' } };
    const plan = record({ given_key: given.key });
    if (!at.isShared) await expect(other.holdKey(given)).rejects.toMatchObject(inUse);
    await letGo(await one.claim(claimOf(plan)));
    expect(await held.usedFor()).toBe(plan.op);
    await held.release();
    if (at.isShared) {
      // Of two that found it free the second one is refused; a key is one of the account there.
      const late = record({ given_key: given.key, digest: plan.digest });
      await expect(other.claim(claimOf(late))).rejects.toMatchObject(inUse);
      return;
    }
    const elsewhere = await other.holdKey({ ...given, origin: 'https://other.example.com' });
    expect(await elsewhere.usedFor()).toBeUndefined();
    await elsewhere.release();
  });

  test('the key belongs to the op that was claimed last with it, and is free when that is forgotten', async () => {
    await using at = await place();
    if (at.isShared) return;
    const store = at.open();
    await store.ready();
    const plans = [record({ given_key: given.key }), record({ given_key: given.key })] as const;
    const held = await store.holdKey(given);
    for (const plan of plans) await letGo(await store.claim(claimOf(plan)));
    await store.forget(plans[0].op);
    expect(await held.usedFor()).toBe(plans[1].op);
    await store.forget(plans[1].op);
    expect(await held.usedFor()).toBeUndefined();
    await held.release();
  });
}

function intents(place: () => Promise<StorePlace>): void {
  const wanted = { origin: ORIGIN, mode: 'test', names: new Set(['po-1', 'po-2']) } as const;
  const claimed = [
    { name: 'po-1', digest: hex(32), row: 1 },
    { name: 'po-2', digest: hex(32), row: 2 },
  ];

  test('names belong to the op that was claimed last with them, of one service and mode', async () => {
    await using at = await place();
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    expect(await one.notedIntents(wanted)).toEqual(new Map());
    const plans = [record({ rows: 2 }), record({ rows: 2 })] as const;
    const held = await one.holdIntents(wanted);
    expect(held.noted).toEqual(new Map());
    await letGo(await one.claim(claimOf(plans[0], { intents: claimed })));
    await held.release();
    expect(await other.notedIntents(wanted)).toMatchObject(
      new Map(claimed.map(each => [each.name, { ...each, op: plans[0].op }])),
    );
    if (at.isShared) {
      const late = record({ rows: 2 });
      await expect(other.claim(claimOf(late, { intents: claimed.slice(1) }))).rejects.toMatchObject({
        kind: 'guarded',
        facts: { op: plans[0].op, outcome: 'not_sent' },
      });
      const otherwise = [{ name: 'po-1', digest: hex(32), row: 1 }];
      await expect(other.claim(claimOf(record(), { intents: otherwise }))).rejects.toMatchObject({ kind: 'usage' });
      return;
    }
    expect(await other.notedIntents({ ...wanted, mode: 'live' })).toEqual(new Map());
    expect(await other.notedIntents({ ...wanted, origin: 'https://other.example.com' })).toEqual(new Map());
    const again = await other.holdIntents(wanted);
    await letGo(await other.claim(claimOf(plans[1], { intents: claimed.slice(1) })));
    await again.release();
    const now = await one.notedIntents(wanted);
    expect([now.get('po-1')?.op, now.get('po-2')?.op]).toEqual([plans[0].op, plans[1].op]);
  });

  test('who holds names is the only one who learns what they were used for', async () => {
    await using at = await place();
    if (at.isShared) return;
    const [one, other] = [at.open(), at.open()];
    await one.ready();
    const held = await one.holdIntents(wanted);
    const plan = record({ rows: 2 });
    const second = other.holdIntents(wanted);
    await letGo(await one.claim(claimOf(plan, { intents: claimed })));
    await held.release();
    const late = await second;
    expect(late.noted.get('po-1')?.op).toBe(plan.op);
    await late.release();
  });

  test('of an op that is removed the names of done rows stay, until they are too old', async () => {
    await using at = await place();
    const store = at.open();
    await store.ready();
    const plan = record({ rows: 2, at: 1_000 });
    const items = claimed.map(({ name, row }) => itemOf(row, name));
    const run = { t: 'RUN', pid: 1, start: '', boot: '', at: 1 } as const;
    const lines = () => [Buffer.concat([...planLines({ by: '0a0a0a0a', plan, items, run })])];
    const held = await store.holdIntents(wanted);
    const tape = await store.claim(claimOf(plan, { intents: claimed, lines }));
    await held.release();
    const done = { t: 'DONE', row: 1, id: 'card_1', via: 'answer', changed: true, at: 2 } as const;
    const failed = { t: 'FAILED', row: 2, kind: 'refused', message: 'no', at: 2 } as const;
    await tape.file.append(encodeLines('0a0a0a0a', 5, [done, failed, END]));
    await tape.file.sync();
    await letGo(tape, true);
    if (at.isShared) {
      // The name of the row that came to nothing is free at once.
      expect([...(await store.notedIntents(wanted)).keys()]).toEqual(['po-1']);
      return;
    }
    await store.forget(plan.op);
    expect([...(await store.notedIntents(wanted)).values()]).toMatchObject([
      { ...claimed[0], op: plan.op, done: { card: 'card_1' } },
    ]);
    await store.forgetIntents(1_000);
    expect((await store.notedIntents(wanted)).size).toBe(1);
    await store.forgetIntents(1_001);
    expect((await store.notedIntents(wanted)).size).toBe(0);
  });
}

function itemOf(row: number, intent: string): ItemRecord {
  return {
    t: 'ITEM',
    row,
    attempt: 1,
    operation: 'cards.create',
    key: undefined,
    method: 'POST',
    path: '/cards',
    body: undefined,
    input: {},
    intent,
  };
}
