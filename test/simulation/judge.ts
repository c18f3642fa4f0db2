/**
 * The laws, judged by the books of the service alone: what was meant, what was reported of it, and what happened. A broken law
 * is a line of words.
 */

import type { BookedCard, Effect } from '../support/card-books.ts';
import { type Process, START, type World } from '../support/simulated/world.ts';
import { type Aim, FLOOR, type History, type Step } from './history.ts';
import type { Arrived, Service } from './service.ts';

/** What came of one process. `code` is undefined where it was killed. */
export interface Ran {
  readonly who: Process;
  readonly from: number;
  readonly to: number;
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
}

/** One purchase that somebody means, and what was reported of it. */
export interface Purchase {
  readonly wish: number;
  /** By which command: the rows of a file do what its first one wishes. */
  readonly change: string;
  /** Where it was typed. */
  journal: number;
  /** The rows of the file that it was meant by; empty where it was typed. */
  readonly file: string;
  /** The wish under whose intent it was typed; without one for a file, or where it was typed bare. */
  readonly intent: number | undefined;
  /** What was reported of each process that was to buy it, by itself or by who goes on with its op. */
  readonly attempts: Map<Process, Reported>;
  /** Processes at it that run. */
  living: number;
  /** A process at it has sent something. */
  isBegun: boolean;
  /** Resumes of its op that run. */
  resumed: number;
  /** True time at which it was said to be done. */
  doneAt: number;
}

/** `open`: nothing says what became of it. */
type Reported = 'open' | 'done' | 'no';

/** `no` only where every attempt is. */
function reportedOf({ attempts }: Purchase): Reported {
  const all = [...attempts.values()];
  if (all.includes('done')) return 'done';
  return all.length > 0 && all.every(each => each === 'no') ? 'no' : 'open';
}

/** What a person types. */
interface Meaning {
  readonly wishes: readonly number[];
  readonly change: string;
  readonly journal: number;
  readonly isFile: boolean;
  readonly isAgain: boolean;
  /** Under the intent of that other wish. */
  readonly named: number | undefined;
}

/** Exit codes that promise that nothing happened. */
const NOTHING = new Set([2, 3, 4, 5, 6, 7, 10, 12, 14, 17]);
const DAY = 24 * 3_600_000;
/** How old what somebody has read may be, ms. */
const BEHIND = 13_000;

export class Judge {
  readonly broken: string[] = [];
  readonly #history: History;
  readonly #world: World;
  readonly #service: Service;
  readonly #purchases: Purchase[] = [];
  /** What each process was to buy. */
  readonly #meant = new Map<Process, readonly Purchase[]>();
  /** How often a person has let a wish be sent again. */
  readonly #excused = new Map<number, number>();
  /** How often an op with that wish was approved. */
  readonly #approved = new Map<number, number>();

  /** Each before it is run. */
  readonly aims: Aim[] = [];
  /** What runs that have an aim have reported. */
  readonly #aimed: { readonly when: string; readonly ran: Ran }[] = [];
  /** A person has let something be sent again that was not found. */
  #isResent = false;
  /** True times at which a process that bought something has ended. */
  readonly #ends = new Set<number>();

  constructor(history: History, world: World, service: Service) {
    this.#history = history;
    this.#world = world;
    this.#service = service;
  }

  /** A law is broken; each is said once, whenever that is seen. */
  break(what: string): void {
    const law = (said: string) => said.slice(said.indexOf(':'));
    if (!this.broken.some(said => law(said) === law(what))) this.broken.push(what);
  }

  // What is meant, and what is reported

  /**
   * Whoever goes on with what nothing was reported of means the purchase he meant before. So does who runs the same file again
   * within a day, however it ended.
   */
  mean({ wishes, change, journal, isFile, isAgain, named }: Meaning): readonly Purchase[] {
    const file = isFile ? wishes.toSorted().join() : '';
    const meant: Purchase[] = [];
    for (const wish of wishes) {
      const { intent: hasIntent = false, named: shared = wish } = this.#history.wishes[wish] ?? {};
      const intent = isFile ? undefined : (named ?? (hasIntent ? shared : undefined));
      const known = this.#purchases.filter(
        each => each.wish === wish && each.change === change && each.journal === journal && !meant.includes(each),
      );
      const isOfFile = (each: Purchase) => isFile && each.file === file && this.#world.now - each.doneAt < DAY;
      // Whoever types a command beside its resume may come before the end of that or behind it; a file is the same file.
      // What left nothing is not known to another file, or to a command.
      const isSame = (each: Purchase) =>
        (each.living === 0 || (isFile && each.file === file)) &&
        !(isFile && each.intent !== undefined) &&
        ((reportedOf(each) === 'open' &&
          (each.resumed === 0 || (isFile && each.file === file)) &&
          (each.isBegun || each.file === file)) ||
          (reportedOf(each) === 'done' && isOfFile(each)));
      const same =
        intent !== undefined ? known.find(each => each.intent === intent) : isAgain ? undefined : known.find(isSame);
      const purchase = same ?? { ...FRESH, attempts: new Map(), wish, change, journal, file, intent };
      if (same === undefined) this.#purchases.push(purchase);
      meant.push(purchase);
    }
    return meant;
  }

  /** A process begins that is to buy them. */
  begins(who: Process, meant: readonly Purchase[]): void {
    this.#meant.set(who, meant);
    for (const purchase of meant) {
      purchase.living += 1;
      purchase.attempts.set(who, 'open');
    }
  }

  /** A process that was to buy them has ended. */
  bought({ name, act }: Step, ran: Ran, isFile: boolean): void {
    const when = `step ${name}`;
    for (const purchase of this.#boughtBy(ran.who)) {
      purchase.living -= 1;
      purchase.isBegun ||= ran.who.writes > 0;
    }
    // A guard says how to go on with the op of somebody else, of which it reports nothing; a page is of the op it names.
    const isGuard = ran.code === 14 || ran.err.includes('"exit_code":14') || hintOf(ran) !== undefined;
    const owner = this.#ownerOf(isGuard ? pageOf(ran).op : opOf(ran)) ?? ran.who;
    this.#joins(ran.who, owner);
    const meant = this.#boughtBy(ran.who);
    this.#hear(ran, meant, new Set([ran.who, owner]));
    if (!isFile) this.#numbers(ran, meant[0]?.wish ?? 0);
    this.#counts(when);
    if (this.#isHonest() && ran.code !== undefined)
      this.#calm(when, ran, act.do === 'buy' && act.as === undefined ? meant : []);
    this.#ends.add(ran.to);
  }

  #boughtBy(who: Process): readonly Purchase[] {
    return this.#meant.get(who) ?? [];
  }

  /** Who takes up the op of another process buys what that one was to buy: each of its purchases is one of those. */
  #joins(who: Process, owner: Process): void {
    const [own, owned] = [this.#boughtBy(who), this.#boughtBy(owner)];
    const free = owned.filter(each => !own.includes(each));
    for (const purchase of own.filter(each => !owned.includes(each))) {
      const at = free.findIndex(({ wish }) => wish === purchase.wish);
      const [first] = at === -1 ? [] : free.splice(at, 1);
      if (first === undefined) continue;
      for (const [process, reported] of purchase.attempts) first.attempts.set(process, reported);
      first.living += purchase.living;
      first.resumed += purchase.resumed;
      first.isBegun ||= purchase.isBegun;
      this.#purchases.splice(this.#purchases.indexOf(purchase), 1);
      for (const [process, meant] of this.#meant)
        this.#meant.set(
          process,
          meant.map(each => (each === purchase ? first : each)),
        );
    }
  }

  /** An op is resumed; returns what takes its end. `mayResend`: a person lets what was not found be sent again. */
  resumes(op: string, mayResend: boolean): (when: string, ran: Ran) => void {
    const owner = this.#ownerOf(op);
    this.#isResent ||= mayResend;
    if (owner === undefined) return when => this.#counts(when);
    const before = this.#boughtBy(owner);
    for (const { wish } of mayResend ? before : [])
      if (!this.#isShown(wish)) this.#excused.set(wish, (this.#excused.get(wish) ?? 0) + 1);
    // Rows that were not sent are sent now.
    const isAnew = before.map(({ attempts }) => attempts.get(owner) === 'no');
    for (const { attempts } of before.filter((_, n) => isAnew[n])) attempts.set(owner, 'open');
    for (const purchase of before) purchase.resumed += 1;
    return (when, ran) => {
      const known = this.#boughtBy(owner);
      for (const purchase of known) {
        purchase.resumed -= 1;
        purchase.isBegun ||= ran.who.writes > 0;
      }
      const about = new Set([owner]);
      if (ran.code !== undefined && NOTHING.has(ran.code))
        for (const each of known.filter((_, n) => isAnew[n])) report(each, 'no', about, this.#world.now);
      if (Array.isArray(jsonOf(ran.out)['data'])) this.#hear({ ...ran, code: undefined, err: '' }, known, about);
      this.#counts(when);
    };
  }

  /** All that was meant has happened, and every reading shows it: nobody may be led to send it again. */
  #isShown(wish: number): boolean {
    const { behind, metadata, others, failing } = this.#history.service;
    // What is spent on a card moves no wallet.
    const isSteady = failing === undefined && others.every(({ card }) => card > 0);
    const isPlain = Object.values(behind ?? {}).every(ms => ms === 0) && isSteady;
    const meant = this.#purchases.filter(each => each.wish === wish).length;
    return isPlain && metadata === 'everywhere' && this.#effectsOf(wish).length >= meant;
  }

  isApproved(op: string): void {
    const owner = this.#ownerOf(op);
    for (const { wish, attempts } of (owner && this.#meant.get(owner)) ?? []) {
      this.#approved.set(wish, (this.#approved.get(wish) ?? 0) + 1);
      if (owner && attempts.get(owner) === 'no') attempts.set(owner, 'open');
    }
  }

  /** A journal is copied, and who typed into the one goes on with the other. */
  isMoved(from: number, to: number): void {
    for (const purchase of this.#purchases) if (purchase.journal === from) purchase.journal = to;
  }

  /** The process that was to buy something and drew the name of that op. */
  #ownerOf(op: string | undefined): Process | undefined {
    if (op === undefined) return undefined;
    return [...this.#meant.keys()].find(({ drawn }) => drawn.some(bytes => `op_${charactersOf(bytes)}` === op));
  }

  /** What a process reports of these purchases, of attempts of `about`. */
  #hear(ran: Ran, meant: readonly Purchase[], about: ReadonlySet<Process>): void {
    const rows = listOf(ran.out) as { readonly outcome?: unknown; readonly amount?: unknown }[];
    const { outcome = '' } = errorOf(ran);
    // The last thing that a process does is to acknowledge what it has printed: behind that it may die, and nobody can know.
    const isLast = ran.code === undefined && ran.who.started.fate?.when === 'after' && about.has(ran.who);
    const isPrinted = isLast && rows.length === 0 && ran.out !== '';
    const isNo = ran.code !== undefined && NOTHING.has(ran.code);
    const whole = ran.code === 0 || isPrinted ? 'done' : isNo ? 'no' : (REPORTED[outcome] ?? 'open');
    const left = [...meant];
    for (const { amount, outcome: reported } of rows) {
      const at = left.findIndex(({ wish }) => typeof amount === 'number' && Math.round(amount * 100) % 100 === wish);
      const [purchase] = at === -1 ? [] : left.splice(at, 1);
      if (purchase !== undefined) report(purchase, REPORTED[String(reported)] ?? 'open', about, this.#world.now);
    }
    const others = rows.length > 0 && whole === 'done' ? 'open' : whole;
    for (const purchase of left) report(purchase, others, about, this.#world.now);
  }

  // Aims

  /** Exit 0 says that every card was there at some time. */
  aimed({ name }: Step, { how, dollars }: Aim, ran: Ran): void {
    const when = `step ${name}`;
    this.#aimed.push({ when, ran });
    const { cards, effects } = this.#service.books;
    const { steps, service } = this.#history;
    const isFirst = name === 1 && steps.every(({ beside }) => !beside);
    const isUp = how === 'fund' || how === 'fleet';
    const aim = 100 * (how === 'fleet' ? FLOOR : dollars);
    const wasThere = (id: string) => {
      const card = cards.get(id) as BookedCard;
      const were = card.before.filter(({ until }) => until >= START + ran.from - BEHIND);
      return [card, ...were].some(({ cents }) => (isUp ? cents >= aim : cents <= aim));
    };
    const ids = how === 'fleet' ? ['card_2'] : ['card_1', 'card_2'];
    if (ran.code === 0 && service.others.length === 0 && !ids.every(wasThere))
      this.break(`aim: ${how} ends with 0 in ${when}, and a card was never there`);
    if (ran.code === 0 && how === 'fleet' && !effects.some(({ label }) => label === 'fleet'))
      this.break(`aim: fleet ends with 0 in ${when}, and its card was not made`);
    const isCalm = isFirst && this.#isHonest() && !service.ignoresFilters;
    if (isCalm && ran.code !== undefined && ran.code !== 0) this.break(`calm: ${how} ends with ${ran.code} in ${when}`);
  }

  /** However often it is run and gone on with: no card passes what was aimed at, and a fleet has one card of a name. */
  #passes(): void {
    const { cards, effects } = this.#service.books;
    const aimOf = (...hows: readonly Aim['how'][]) =>
      this.aims.flatMap(({ how, dollars }) => (hows.includes(how) ? [dollars * 100] : []));
    const [most, least] = [Math.max(...aimOf('fund', 'fleet')), Math.min(...aimOf('withdraw', 'policy'))];
    const moved = new Set(this.#history.service.others.map(({ cents }) => cents));
    for (const { id, before, cents } of this.#isResent || this.aims.length === 0 ? [] : cards.values()) {
      const were = [...before.map(past => past.cents), cents];
      for (const [n, now] of were.entries()) {
        const change = now - (were[n - 1] ?? now);
        if (change > 0 && !moved.has(change) && now > most)
          this.break(`aim: ${id} was brought to ${now}, and ${most} cents were the aim`);
        if (change < 0 && !moved.has(change) && now < least)
          this.break(`aim: ${id} was brought to ${now}, and ${least} cents were the aim`);
      }
    }
    const made = effects.filter(({ label }) => label === 'fleet').length;
    if (made > 1 && !this.#isResent) this.break(`aim: the card of a fleet was made ${made} times`);
  }

  /** A row that is done has happened, and one of which it is said that it was not has not. */
  #rows({ when, ran }: { readonly when: string; readonly ran: Ran }): void {
    const { effects } = this.#service;
    const own = effects.filter(({ request }) => request.who === ran.who);
    if (ran.code !== undefined && NOTHING.has(ran.code) && own.length > 0)
      this.break(`aim: ${when} ends with ${ran.code}, and it has done ${own.length}`);
    for (const row of listOf(ran.out)) {
      const { outcome, card_id: card, amount } = row as { outcome: string; card_id: string | null; amount: number };
      const isIt = (effect: Effect<Arrived>) => effect.card === card && effect.cents === Math.round(amount * 100);
      if (REPORTED[outcome] === 'done' && !effects.some(isIt))
        this.break(`aim: ${when} says done of ${card}, and it was not`);
      if (REPORTED[outcome] === 'no' && own.some(isIt))
        this.break(`aim: ${when} says ${outcome} of ${card}, and it was done`);
    }
  }

  // The laws

  #effectsOf(wish: number, { effects }: Pick<Service, 'effects'> = this.#service): readonly Effect<Arrived>[] {
    return effects.filter(({ operation, cents }) => isMoney(operation) && cents % 100 === wish);
  }

  /** Never more than was meant, and what was said to be done has happened. */
  #counts(when: string): void {
    for (const [wish, { change }] of this.#history.wishes.entries()) {
      const all = this.#effectsOf(wish);
      // What was done before the sandbox was set back is gone, and may be done anew.
      const effects = this.#effectsOf(wish, this.#service.books).length;
      const own = this.#purchases.filter(each => each.wish === wish);
      const done = own.filter(each => reportedOf(each) === 'done').length;
      const most = own.filter(each => reportedOf(each) !== 'no').length + (this.#excused.get(wish) ?? 0);
      // Two journals that do not know of each other cannot tell their equal transfers of one card apart: each sees that it moved.
      // Nor can they tell equal cards that show no marker, where an answer to one names the card of the other.
      const isAlike = change !== 'create' || this.#history.service.metadata !== 'everywhere';
      const isMixed = isAlike && new Set(own.map(({ journal }) => journal)).size > 1;
      if (all.length < done && !isMixed)
        this.break(`${when}: wish ${wish} was said to be done ${done} times, and happened ${all.length} times`);
      const refused = own.length - most;
      const no = refused > 0 ? `; ${refused} were said not to have happened` : '';
      if (effects > most)
        this.break(`${when}: wish ${wish} happened ${effects} times, and was meant ${most} times${no}`);
    }
    for (const [who, meant] of this.#meant) this.#refusals(when, who, meant);
  }

  /** What was said not to have been done by a process was done by none of its requests. */
  #refusals(when: string, who: Process, meant: readonly Purchase[]): void {
    const effects = this.#service.books.effects.filter(({ request }) => request.who === who);
    for (const wish of new Set(meant.map(each => each.wish))) {
      const most = meant.filter(each => each.wish === wish && each.attempts.get(who) !== 'no').length;
      const own = this.#effectsOf(wish, { effects }).length;
      if (own > most && most < meant.filter(each => each.wish === wish).length)
        this.break(`${when}: wish ${wish} was done ${own} times by a process of which it was said that it had not`);
    }
  }

  /** Balances and ids that exit 0 prints are those of the books, as they were while it ran or a little before. */
  #numbers(ran: Ran, wish: number): void {
    const { resetAt, books } = this.#service;
    const { change, card: n, intent } = this.#history.wishes[wish] ?? {};
    // An intent tells what was done before the sandbox was set back.
    const isReset = resetAt >= ran.from || (intent === true && resetAt > 0);
    if (ran.code !== 0 || isReset) return;
    const printed = jsonOf(ran.out);
    const id = change === 'create' ? String(printed['id']) : `card_${n}`;
    const card = books.cards.get(id);
    if (change === 'create' && card?.label !== `wish-${wish}`)
      this.break(`numbers: ${id} is printed as the card of wish ${wish}`);
    else if (card !== undefined) this.#balances(ran, printed, change === 'create' ? 'balance' : 'card_balance', card);
  }

  #balances(ran: Ran, printed: Readonly<Record<string, unknown>>, name: string, card: BookedCard): void {
    const since = START + ran.from - BEHIND;
    type Were = readonly { readonly until: number; readonly cents: number }[];
    const check = (of: string, were: Were, now: number) => {
      const shown = printed[of];
      const wasSo = (amount: number) =>
        now === amount || were.some(({ until, cents }) => until >= since && cents === amount);
      if (typeof shown === 'number' && !wasSo(Math.round(shown * 100)))
        this.break(`numbers: ${of} ${shown} was never so`);
    };
    check(name, card.before, card.cents);
    const { books } = this.#service;
    check('wallet_balance', books.wallets, books.walletCents);
  }

  /** A state that exit 0 tells of was so, and no is no. */
  state(ran: Ran, change: 'freeze' | 'unfreeze' | 'terminate', id: string): void {
    const card = this.#service.books.cards.get(id);
    if (card === undefined || ran.code === undefined || this.#service.resetAt >= ran.from) return;
    const wanted = { freeze: 'frozen', unfreeze: 'active', terminate: 'terminated' }[change];
    const were = card.before.filter(({ until }) => until >= START + ran.from - BEHIND);
    const wasSo = [card, ...were].some(({ status }) => status === wanted);
    if (ran.code === 0 && !wasSo) this.break(`state: ${change} ends with 0, and ${id} was not ${wanted}`);
    const isOwn = this.#service.effects.some(({ request }) => request.who === ran.who);
    if (NOTHING.has(ran.code) && isOwn) this.break(`state: ${change} ends with ${ran.code}, and it has changed ${id}`);
  }

  /** With an honest service and nobody in the way nothing is unknown, and all that is meant for the first time happens. */
  #calm(when: string, ran: Ran, begun: readonly Purchase[]): void {
    const { cap, held, service, machines, shared, steps, wishes } = this.#history;
    // Where another journal has moved the wallet it is no evidence; and without metadata equal cards of one moment are nobody's.
    const isTold = service.metadata === 'everywhere' || steps.every(({ beside }) => !beside);
    // Nobody types within the very ms in which a command ends.
    const isAlone = (machines.length === 1 || shared === true) && isTold && !this.#ends.has(ran.from);
    if (ran.code === 11 && isAlone) this.break(`calm: ${when} says "unknown" of an honest service`);
    // Two wishes have one intent: the second is another change.
    const isTaken = ran.code === 2 && wishes.some(({ named }) => named !== undefined);
    const mayFail = cap > 0 || held || isTaken || service.walletCents < 100_000;
    // A file that was done before is refused, whatever it means.
    const isFirst = ({ wish: of, doneAt, attempts }: Purchase) =>
      this.#purchases.filter(({ wish }) => wish === of).length === 1 && attempts.size === 1 && !(doneAt <= ran.from);
    // Whoever resumes it beside may verify it first.
    const isDone = ran.code === 0 || errorOf(ran).outcome === 'done';
    if (!isDone && (ran.code !== 11 || isAlone) && !mayFail && begun.length > 0 && begun.every(isFirst))
      this.break(`calm: ${when} ends with ${ran.code}`);
  }

  #isHonest(): boolean {
    const { lies, steps, service, lostCommits = [] } = this.#history;
    // By a clock that was set back, what was done before comes later: it is no evidence then.
    // A card that is terminated beside gives its money back.
    const isInTheWay = ({ fate, act }: Step) =>
      fate ||
      act.do === 'reset' ||
      (act.do === 'clock' && act.ms < 0) ||
      (act.do === 'state' && act.change === 'terminate');
    return (
      lies.length + service.others.length + lostCommits.length === 0 &&
      !steps.some(isInTheWay) &&
      Object.values(service.behind ?? {}).every(ms => ms === 0)
    );
  }

  inTheEnd(homes: readonly string[]): void {
    this.#counts('in the end');
    this.#caps(homes);
    this.#approvals();
    this.#passes();
    for (const each of this.#aimed) this.#rows(each);
  }

  /** What left the wallet on a day is never more than its cap. */
  #caps(homes: readonly string[]): void {
    const { cap, shared, steps } = this.#history;
    // With its journal a machine forgets what it has spent.
    if (cap === 0 || (!shared && steps.some(({ act }) => act.do === 'copy'))) return;
    const { effects: all, books } = this.#service;
    // What was done before the sandbox was set back may be done anew.
    const lives = [all.slice(0, all.length - books.effects.length), books.effects];
    for (const [home, effects] of homes.flatMap(each => lives.map(life => [each, life] as const))) {
      const days = new Map<number, number>();
      for (const effect of effects) {
        const { operation, cents, request, at } = effect;
        if ((!shared && request.who.started.home !== home) || this.#isBare(effect)) continue;
        if (operation !== 'create' && operation !== 'fund') continue;
        const day = Math.floor(at / DAY);
        days.set(day, (days.get(day) ?? 0) + cents);
      }
      for (const spent of days.values())
        if (spent > cap) this.break(`cap: ${spent} of ${cap} cents were spent on one day`);
    }
  }

  /** What is held is done no more often than it was approved. */
  #approvals(): void {
    // What was done before the sandbox was set back may be done anew, under its approval.
    if (!this.#history.held || this.#service.resetAt > 0) return;
    for (const [wish, { change }] of this.#history.wishes.entries()) {
      const done = this.#effectsOf(wish).filter(effect => !this.#isBare(effect)).length;
      const approved = this.#approved.get(wish) ?? 0;
      if (change !== 'withdraw' && done > approved)
        this.break(`approval: wish ${wish} happened ${done} times, and was approved ${approved} times`);
    }
  }

  /** A program that uses the library reads the limits of the real machine, which has none: they bind nobody who resumes its op. */
  #isBare({ cents }: Effect<Arrived>): boolean {
    const isOf = ({ act }: Step) => act.do === 'buy' && act.how === 'library' && act.wishes.includes(cents % 100);
    return this.#history.shared !== true && this.#history.steps.some(isOf);
  }
}

const FRESH = { living: 0, isBegun: false, resumed: 0, doneAt: Number.POSITIVE_INFINITY };

/** An attempt at a purchase is reported of. `no` is not the last word where its op is being resumed. */
function report(purchase: Purchase, reported: Reported, about: ReadonlySet<Process>, now: number): void {
  for (const who of about) {
    const before = purchase.attempts.get(who);
    if (before === undefined || before === 'done' || (reported === 'no' && purchase.resumed > 0)) continue;
    if (reported !== 'open') purchase.attempts.set(who, reported);
  }
  if (reported === 'done') purchase.doneAt = Math.min(purchase.doneAt, now);
}

/** The characters of the name of an op: five bits each, counted from the last byte. */
function charactersOf(bytes: Uint8Array): string {
  const bits = Array.from(bytes, byte => byte.toString(2).padStart(8, '0')).join('');
  return (bits.slice(-130).match(/.{5}/g) ?? []).map(five => CHARACTERS[Number.parseInt(five, 2)]).join('');
}
const CHARACTERS = '0123456789abcdefghjkmnpqrstvwxyz';

const REPORTED: Readonly<Record<string, Reported>> = {
  done: 'done',
  refused: 'no',
  not_sent: 'no',
  unknown: 'open',
};

const isMoney = (change: string) => change === 'create' || change === 'fund' || change === 'withdraw';

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The rows of an answer. */
export function listOf(text: string): readonly unknown[] {
  const { data } = jsonOf(text);
  return Array.isArray(data) ? data : [];
}

function errorOf({ err }: Ran): { readonly op?: string; readonly outcome?: string } {
  return (jsonOf(err.trim().split('\n').at(-1) ?? '')['error'] ?? {}) as { op?: string; outcome?: string };
}

const pageOf = ({ out }: Ran) => (jsonOf(out)['page'] ?? {}) as { readonly op?: string };

/** The op that an error or a page names. */
export function opOf(ran: Ran): string | undefined {
  return errorOf(ran).op ?? pageOf(ran).op;
}

/** The op that a guard says to go on with. */
export function hintOf({ code, err }: Ran): string | undefined {
  return code === 14 || code === 2 ? /ops (?:resume|show) (op_\w+)/.exec(err)?.[1] : undefined;
}
