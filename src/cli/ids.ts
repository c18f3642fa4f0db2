/** Ids by what they name: those that there are, to choose from, and short ones that a person typed for them. */
import { CARD_STATUSES } from '../contract/card.ts';
import { incompleteList } from '../contract/service.ts';
import { TRANSITIONS } from '../contract/transitions.ts';
import { notSent, usage } from '../core/errors.ts';
import { dollars, toCents } from '../core/money.ts';
import type { Context } from './context.ts';
import type { Command } from './parsing/declaration.ts';
import { quote, SHORT_MARK } from './parsing/values.ts';

/** What `help output` says of reading short ids, and `help safety` of changing by them. */
export const SHORT_IDS_READ =
  'A command accepts an id in a short form: its first characters with … or ... behind them, as a table shows it, also without its prefix; for a card also the last four digits. All pages are read to find it before anything else is sent, and the whole id is printed on standard error. If several ids match, that is exit 2 with a list of them. Files and standard input need whole ids. So do ids that are in no list of the service: of deposits, events, deliveries and fault rules.';
export const SHORT_IDS_CHANGE =
  'A change by a short id asks first; in a script it needs --yes, and so does a reveal. To terminate or reveal a card by its last four digits, a person must answer.';

/** Kinds of ids that can be looked up: what one is, and the command that shows the whole ids. */
const KINDS = {
  card: { noun: 'card', list: 'cardwright cards list --all' },
  bin: { noun: 'BIN', list: 'cardwright bins list' },
  webhook: { noun: 'subscription', list: 'cardwright webhooks list' },
  op: { noun: 'operation', list: 'cardwright ops list' },
  transaction: { noun: 'transaction', list: 'cardwright tx list --all' },
  challenge: { noun: 'challenge', list: 'cardwright 3ds list' },
  pending: { noun: 'authorization or challenge', list: 'cardwright 3ds list' },
} as const;
type Kind = keyof typeof KINDS;

interface KnownId {
  readonly id: string;
  readonly last4?: string;
  /** `visa ending 4242`, `active`, `$20.00`, `"ads"`. */
  readonly facts: readonly string[];
}

interface Looking {
  readonly command: Command;
  readonly context: Context;
  /** Only cards in one of these states. */
  readonly states?: readonly string[] | undefined;
}

/**
 * Every id of the kind, over all pages; of cards from what the command itself reads, the service or the mirror. Throws
 * `contract_mismatch` at the end of a list of cards that may be incomplete.
 */
export async function* knownIds(kind: Kind, looking: Looking): AsyncIterable<KnownId> {
  const { api, journal } = looking.context;
  switch (kind) {
    case 'card':
      return yield* cards(looking);
    case 'bin':
      for (const { id, network, type, acceptance_rate, best_for } of (await api.read('bins.list', {})).data.toSorted(
        (a, b) => (b.acceptance_rate ?? 0) - (a.acceptance_rate ?? 0),
      )) {
        const accepted = acceptance_rate == null ? undefined : `${acceptance_rate}% accepted`;
        yield { id, facts: present(network, type, accepted, best_for?.join(', ')) };
      }
      return;
    case 'webhook':
      for (const { id, url, status } of (await api.read('webhooks.list', {})).data)
        yield { id, facts: present(url, status) };
      return;
    case 'transaction':
      return yield* transactions(looking.context);
    case 'challenge':
      return yield* challenges(looking.context);
    case 'pending':
      yield* challenges(looking.context);
      return yield* transactions(looking.context, 'authorization');
    case 'op':
      for (const { op, command, state } of await (await journal.open()).list())
        yield { id: op, facts: present(command, state) };
  }
}

/** States that the operation starts from; undefined when it asks for none. A terminated card has no details to show. */
export function statesFor(operation: string | undefined): readonly string[] | undefined {
  if (operation === 'cards.details') return ['active', 'frozen'];
  return TRANSITIONS.card.find(({ trigger }) => trigger === operation)?.from;
}

async function* cards({ command, context, states }: Looking): AsyncIterable<KnownId> {
  const isOfMirror = command.reach === 'files' && !command.path.startsWith('audit ');
  using copy = isOfMirror ? await (await context.api.mirror()).read() : undefined;
  const reader = copy?.reader ?? (await context.api.reader());
  let incomplete: string | undefined;
  const onIncomplete = (why: string) => {
    incomplete = why;
  };
  // Asking for one state leaves the others to the service.
  const status = states?.length === 1 ? CARD_STATUSES.find(each => each === states[0]) : undefined;
  for await (const { data } of reader.pages('cards.list', { per_page: 100, status }, { onIncomplete })) {
    for (const { id, last4, network, status: state, balance, label } of data) {
      if (states !== undefined && !states.includes(state)) continue;
      const name = `${network ?? 'card'} ending ${last4}`;
      yield { id, last4, facts: present(name, state, dollars(toCents(balance)), label && JSON.stringify(label)) };
    }
  }
  if (incomplete !== undefined) throw incompleteList('cards.list', `${incomplete}. A short id could mean another card`);
}

async function* transactions(ctx: Context, type?: 'authorization'): AsyncIterable<KnownId> {
  for await (const { data } of (await ctx.api.reader()).pages('transactions.list', { type })) {
    for (const { id, merchant, amount, created_at } of data)
      yield { id, facts: present(created_at, merchant, dollars(toCents(amount))) };
  }
}

async function* challenges(ctx: Context): AsyncIterable<KnownId> {
  for (const { id, merchant, amount, status } of (await ctx.api.read('challenges.list', {})).data) {
    yield { id, facts: present(merchant, amount == null ? undefined : dollars(toCents(amount)), status) };
  }
}

function present(...facts: readonly (string | null | undefined)[]): readonly string[] {
  return facts.filter(fact => fact != null && fact !== '') as string[];
}

// Short ids.

/** What a column of its own prints, with the mark that a copied short id has. */
const LAST_FOUR = /^\d{4}(?:…|\.\.\.)?$/u;
/** The most candidates an error names. */
const MOST_NAMED = 10;

interface Line extends Looking {
  readonly argv: readonly string[];
  readonly input: Input;
}

type Input = Readonly<Record<string, unknown>>;

/** A short id that a person typed. */
interface ShortId {
  readonly key: string;
  readonly kind: Kind;
  readonly word: string;
}

/**
 * The input with whole ids. Throws `usage` where several fit, `not_found` where none does, `not_confirmed` where a change by a
 * short id was declined or nobody could be asked.
 */
export async function withWholeIds(line: Line): Promise<Input> {
  const typed = shortIdsIn(line);
  if (typed.length === 0) return line.input;
  if (isOfSandbox(line.command) && (await line.context.api.identity()).mode !== 'sandbox')
    throw usage('short ids are not looked up in a sandbox that was not chosen: add --sandbox, or write the whole id');
  const resolved = new Map<ShortId, KnownId>();
  for (const kind of new Set(typed.map(each => each.kind))) {
    const known: KnownId[] = [];
    for await (const each of knownIds(kind, line)) known.push(each);
    for (const each of typed) if (each.kind === kind) resolved.set(each, theOne(each, known));
  }
  await agree(line, resolved);
  const whole: Record<string, unknown> = { ...line.input };
  for (const [{ key, word }, { id }] of resolved) {
    const value = whole[key];
    whole[key] = Array.isArray(value) ? [...new Set(value.map(each => (each === word ? id : each)))] : id;
  }
  return whole;
}

/** Those that were typed on the line itself: what a file or a pipe holds is whole. */
function shortIdsIn({ command, argv, input }: Line): readonly ShortId[] {
  const isTyped = (word: string) => argv.some(each => each === word || each.endsWith(`=${word}`));
  return [...command.args, ...command.flags].flatMap(({ key, field }) => {
    const kind = (Object.keys(KINDS) as Kind[]).find(each => each === field.names);
    if (kind === undefined) return [];
    const words = [input[key]].flat().filter(word => typeof word === 'string');
    return words
      .filter(word => isTyped(word) && (SHORT_MARK.test(word) || byDigits({ kind, word })))
      .map(word => ({ key, kind, word }));
  });
}

/** Says what each short id stands for. A change by one is asked about; what cannot be undone, by four digits, always. */
async function agree(line: Line, resolved: ReadonlyMap<ShortId, KnownId>): Promise<void> {
  const { command, context } = line;
  // The sandbox is there to be played with.
  const effect = isOfSandbox(command) ? 'read' : command.effect;
  const meanings = [...resolved].map(([{ word }, found]) => `${word} is ${candidateText(found)}`);
  const say = () => meanings.forEach(meaning => void context.ui.notice(meaning));
  if (effect === 'read' || context.dryRun) return say();
  const isFinal = effect === 'irreversible' || effect === 'reveals-secret';
  const byDigitsAlone = isFinal && [...resolved.keys()].some(byDigits);
  // The question of the command itself names the card; what reveals has none where nobody can be asked.
  const asksItself = effect === 'irreversible' || (effect === 'reveals-secret' && context.ui.canAsk);
  const isAsked = byDigitsAlone || !(context.ui.yes || asksItself);
  if (!isAsked) return say();
  const { cannotConfirm, declined } = await import('../writes/guard.ts');
  if (!context.ui.canAsk) {
    const meant = `${meanings.join('; ')}: ${command.path} by`;
    if (!byDigitsAlone) throw cannotConfirm(`${meant} a short id`);
    throw notSent(
      'not_confirmed',
      `${meant} the last four digits: they are not enough when nobody can be asked, even with --yes; give the whole id`,
    );
  }
  const go = await context.ui.prompts.confirm(`${meanings.join('; ')}. ${command.path}: continue?`, {
    flag: 'the whole id',
  });
  if (!go) throw declined();
}

/** The one that a word stands for. Throws `not_found` where none fits, `usage` where several do. */
function theOne({ kind, word }: ShortId, found: readonly KnownId[]): KnownId {
  const written = word.replace(SHORT_MARK, '');
  const isDigits = byDigits({ kind, word });
  const fitting = found.filter(
    ({ id, last4 }) =>
      (isDigits && last4 === written) ||
      // Also the part behind the prefix.
      (SHORT_MARK.test(word) && [id, id.slice(id.lastIndexOf('_') + 1)].some(part => part.startsWith(written))),
  );
  const [first] = fitting;
  if (first !== undefined && fitting.length === 1) return first;
  const { noun, list } = KINDS[kind];
  if (first === undefined) {
    const begins = `has an id that begins with ${quote(written)}`;
    const wanted = [isDigits && `ends in ${written}`, SHORT_MARK.test(word) && begins].filter(Boolean).join(' or ');
    throw notSent('not_found', `no ${noun} ${wanted}`, list);
  }
  const more = fitting.length > MOST_NAMED ? [`and ${fitting.length - MOST_NAMED} more`] : [];
  throw notSent(
    'usage',
    `${quote(word)} fits ${fitting.length} ${noun}s: ${isDigits ? 'give the id of one' : 'write more characters of the id'}`,
    {
      notes: [...fitting.slice(0, MOST_NAMED).map(candidateText), ...more],
      hint: list,
    },
  );
}

/** An id with what helps to recognise it. */
const candidateText = ({ id, facts }: KnownId) => `${id} (${facts.join(', ')})`;

/** The last four digits: only the service knows them. */
function byDigits({ kind, word }: Pick<ShortId, 'kind' | 'word'>): boolean {
  return kind === 'card' && LAST_FOUR.test(word);
}

/** Speaks to the control surface of a sandbox. */
const isOfSandbox = ({ path }: Command) => path.startsWith('sandbox ');
