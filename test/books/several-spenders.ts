/** Several other spenders between two checkpoints: what is said of them, held against what they did. */
import type { Finding } from '../../src/books/findings.ts';
import { Account, type Counting, live, Reader, randomOf } from './model.ts';

export interface Spenders {
  readonly partialReversals: boolean;
  readonly counting?: Counting;
}

/** What was said wrongly in one history, empty where nothing was; and how many verdicts stayed open. */
export interface Judged {
  /** Right books that were called wrong. */
  readonly alarms: readonly string[];
  /** Amounts that are given as certain, and others moved another amount on that card. */
  readonly misnamed: readonly string[];
  /** A verdict without a provision that says nothing of money that others moved. */
  readonly unnamed: readonly string[];
  readonly checkpoints: number;
  readonly provisional: number;
}

/** Three checkpoints, others moving money before the last two, and a fourth one when every authorization has closed. */
export function judgeSpenders(seed: number, { partialReversals, counting = {} }: Spenders): Judged {
  const random = randomOf(seed);
  const account = new Account(counting);
  const watch = new Watch(account, seed);
  for (let checkpoint = 1; checkpoint <= 3; checkpoint++) {
    live(account, random, 10 + random(20), { others: checkpoint > 1, partialReversals });
    watch.look(`checkpoint ${checkpoint}`);
  }
  for (const each of account.authorizations.values()) if (each.held > 0) account.reverse(each, each.held);
  watch.look('closed');
  return watch;
}

/** All histories from the first seed on, added up. */
export function judgeMany(histories: number, spenders: Spenders, firstSeed = 1): Judged {
  const all = Array.from({ length: histories }, (_, index) => judgeSpenders(firstSeed + index, spenders));
  const sum = (of: (each: Judged) => number) => all.reduce((total, each) => total + of(each), 0);
  return {
    alarms: all.flatMap(each => each.alarms),
    misnamed: all.flatMap(each => each.misnamed),
    unnamed: all.flatMap(each => each.unnamed),
    checkpoints: sum(each => each.checkpoints),
    provisional: sum(each => each.provisional),
  };
}

class Watch implements Judged {
  readonly alarms: string[] = [];
  readonly misnamed: string[] = [];
  readonly unnamed: string[] = [];
  checkpoints = 0;
  provisional = 0;
  readonly #account: Account;
  readonly #reader: Reader;
  readonly #seed: number;
  /** What others had moved at the last exact checkpoint, a card. */
  #base = new Map<string, number>();

  constructor(account: Account, seed: number) {
    this.#account = account;
    this.#reader = new Reader(account);
    this.#seed = seed;
  }

  look(name: string): void {
    const { findings, checkpoint, verdict } = this.#reader.reconcile();
    const said = findings.map(each => `${each.class} ${each.cents} ${each.candidates.join('|')}`).join(', ');
    const moved = this.#moved();
    const certain = findings.filter(each => this.#isCertain(each));
    const tell = (list: string[]) => void list.push(`seed ${this.#seed}, ${name}, ${verdict}: ${said}`);
    this.checkpoints += 1;
    this.provisional += Number(verdict === 'provisional');
    if (findings.some(each => each.isWrong)) tell(this.alarms);
    if (certain.some(each => moved.get(each.candidates[0] ?? '') !== each.cents)) tell(this.misnamed);
    const isNamed = (card: string) => findings.some(each => isMove(each) && each.candidates.includes(card));
    if (checkpoint.exact === 0) return;
    if ([...moved].some(([card, amount]) => amount !== 0 && !isNamed(card))) tell(this.unnamed);
    this.#base = new Map(this.#account.foreign);
  }

  /** By others since the base, on cards that are there; what came to an ended one is in the wallet again. */
  #moved(): ReadonlyMap<string, number> {
    const { cards, foreign } = this.#account;
    const there = [...foreign].filter(([card]) => cards.get(card)?.status !== 'terminated');
    return new Map(there.map(([card, amount]) => [card, amount - (this.#base.get(card) ?? 0)]));
  }

  #isCertain(found: Finding): boolean {
    const [card = ''] = found.candidates;
    const isOne = found.candidates.length === 1 && this.#account.cards.get(card)?.status !== 'terminated';
    return isMove(found) && isOne && !found.isAbout && !found.isProvisional;
  }
}

function isMove({ class: name }: Finding): boolean {
  return name === 'other_funded' || name === 'other_withdrew' || name === 'other_created';
}
