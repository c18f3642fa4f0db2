/** I14 to I16 as events show them: none missing, none twice, none after the end, and the states they lead to. */
import type { Sql } from '../store/sql.ts';
import { happened, originOf } from './origin.ts';

interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly body: string;
}

interface CardRow {
  readonly id: string;
  readonly status: string;
  readonly below: number;
}

/** What events told of one card, by their numbers; 0 when there was none. */
interface Story {
  frozen: number;
  unfrozen: number;
  created: number;
  terminated: number;
  authorized: number;
}

const PAGE = 2_000;

export async function eventFaults(sql: Sql, account: string): Promise<string[]> {
  const reading = new Reading();
  for (let last = 0; ; ) {
    const rows = await sql.all<EventRow>(
      'select seq, type, body from events where account_id = ? and seq > ? order by seq limit ?',
      account,
      last,
      PAGE,
    );
    for (const row of rows) reading.take(row);
    last = rows.at(-1)?.seq ?? last;
    if (rows.length < PAGE) break;
  }
  const cards = await sql.all<CardRow>(
    `select id, status, case when balance < auto_freeze_at then 1 else 0 end as below
     from cards where account_id = ? order by id`,
    account,
  );
  for (const card of cards) reading.compare(card);
  const faults = reading.faults();
  const origin = await originOf(sql, account);
  for (const [name, count] of await happened(sql, account)) {
    const expected = count - (origin.get(name) ?? 0);
    const found = reading.counts.get(name) ?? 0;
    if (found !== expected) faults.push(`I14 one event for each transition: ${found} ${name} for ${expected}`);
  }
  return [...faults, ...(await lateDecreases(sql, account))];
}

/** Reads the events in their order and keeps what breaks a rule. */
class Reading {
  readonly counts = new Map<string, number>();
  readonly #seen = new Set<string>();
  readonly #stories = new Map<string, Story>();
  readonly #broken = new Map<string, string[]>();
  #last = 0;

  take({ seq, type, body }: EventRow): void {
    if (seq !== this.#last + 1) this.#break('I14 the numbers of events have no gap', `${this.#last + 1}`);
    this.#last = seq;
    this.counts.set(type, (this.counts.get(type) ?? 0) + 1);
    const data = toldBy(body);
    if (data === undefined) {
      this.#break('I14 every event says what it is about', `${seq}`);
      return;
    }
    if (type.startsWith('card.')) this.#takeCard(seq, type, data.id);
    else if (type === 'transaction.authorized' && data.card_id !== undefined) {
      this.#story(data.card_id).authorized = seq;
    }
    if (['card.frozen', 'card.unfrozen', 'card.funded'].includes(type)) return;
    const key = `${type} ${data.id}`;
    if (this.#seen.has(key)) this.#break('I14 one event for each transition', key);
    this.#seen.add(key);
  }

  #takeCard(seq: number, type: string, id: string): void {
    const story = this.#story(id);
    if (story.terminated > 0) this.#break('I16 no event of a card after its end', id);
    const kind = type.slice('card.'.length);
    const isFrozen = story.frozen > story.unfrozen;
    if ((kind === 'frozen' && isFrozen) || (kind === 'unfrozen' && story.unfrozen > story.frozen)) {
      this.#break('I14 freezing and unfreezing take turns', id);
    }
    if (kind === 'frozen' || kind === 'unfrozen' || kind === 'created' || kind === 'terminated') story[kind] = seq;
  }

  /** Holds what is stored of a card against what was told of it. */
  compare({ id, status, below }: CardRow): void {
    const story = this.#stories.get(id);
    if (story === undefined) return;
    if (story.terminated > 0 && status !== 'terminated') this.#break('I16 a terminated card stays terminated', id);
    if (status === 'terminated' || story.terminated > 0) return;
    const toldFrozen = story.frozen > story.unfrozen;
    const isTold = story.frozen + story.unfrozen + story.created > 0;
    if (isTold && toldFrozen !== (status === 'frozen')) {
      this.#break('I14 the status of a card is the one last told', id);
    }
    const isLate = story.unfrozen > 0 && story.authorized > story.unfrozen;
    if (status === 'active' && below === 1 && isLate) this.#break(I15, id);
  }

  faults(): string[] {
    return [...this.#broken].map(([what, culprits]) => `${what}: ${culprits.slice(0, 5).join(', ')}`);
  }

  #story(card: string): Story {
    const known = this.#stories.get(card) ?? { frozen: 0, unfrozen: 0, created: 0, terminated: 0, authorized: 0 };
    this.#stories.set(card, known);
    return known;
  }

  #break(what: string, culprit: string): void {
    this.#broken.set(what, [...(this.#broken.get(what) ?? []), culprit]);
  }
}

const I15 = 'I15 a card that fell below its line is frozen';

/** Active and below the line is right only for who was unfrozen there, or created there and never fell since. */
async function lateDecreases(sql: Sql, account: string): Promise<string[]> {
  const rows = await sql.all<{ id: string; last_at: number }>(
    `select c.id, e.created_at as last_at from cards c
       join (select ledger, max(entry_id) as last from postings where account_id = ? and amount < 0 group by ledger) p
         on p.ledger = 'card:' || c.id
       join entries e on e.account_id = c.account_id and e.id = p.last
     where c.account_id = ? and c.status = 'active' and c.balance < c.auto_freeze_at order by c.id`,
    account,
    account,
  );
  const late: string[] = [];
  for (const { id, last_at } of rows) {
    const freed = await sql.get<{ at: number | null }>(
      "select max(created_at) as at from events where account_id = ? and type = 'card.unfrozen' and body like ?",
      account,
      `%"id":"${id}"%`,
    );
    // At one moment of a clock that stands, either may have come first.
    if (freed?.at == null || freed.at < last_at) late.push(id);
  }
  return late.length === 0 ? [] : [`${I15}: ${late.slice(0, 5).join(', ')}`];
}

/** The object an event tells; undefined for a text that is none of an event. */
function toldBy(body: string): { readonly id: string; readonly card_id?: string } | undefined {
  try {
    const { data } = JSON.parse(body) as { data?: { id?: unknown; card_id?: string } };
    return typeof data?.id === 'string' ? { ...data, id: data.id } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
