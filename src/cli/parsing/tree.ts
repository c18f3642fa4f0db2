/**
 * The command line as a tree of Commander's, made from the declarations: groups and commands are loaded along the words
 * that are typed, options and arguments come from the fields. Help keeps pages of its own, which `helpInformation` stands for.
 */
import { Command as Commander, CommanderError, Option } from 'commander';
import { GLOBALS } from '../../app/globals.ts';
import { type CliError, usage } from '../../core/errors.ts';
import { didYouMean, nearest } from '../../core/nearest.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { Command, Group, Leaves, Registry } from './declaration.ts';
import { type Flag, flagOf, takes } from './flag.ts';
import { type Parsed, parsedLine } from './parsed.ts';
import { quote } from './values.ts';

/** Where the words of a line lead. */
export type Located = Pick<Node, 'group' | 'declared' | 'words'>;

/** What a line asks for. `start` is a line without a command. */
export type Line =
  | { readonly asks: 'start' }
  | { readonly asks: 'version' }
  | { readonly asks: 'help'; readonly located: Located }
  | { readonly asks: 'command'; readonly parsed: Parsed };

/** Reads a whole line. Throws `usage` (exit 2), with the nearest name where a word or an option is unknown. */
export async function readLine(argv: readonly string[], registry: Registry): Promise<Line> {
  const { read, root, refused } = await parsed(argv, registry);
  const { last = root, unknown, helpWords } = read;
  if (refused !== undefined && !refused.code.startsWith('commander.help')) throw refusal(refused, last);
  if (unknown !== undefined) throw await unknownWord(unknown, last, registry);
  const globals = last.globals();
  if (globals['version'] === true) return { asks: 'version' };
  if (helpWords !== undefined) return readLine([...helpWords, '--help'], registry);
  const { declared } = last;
  if (last === root && globals['help'] !== true) return { asks: 'start' };
  if (declared === undefined || globals['help'] === true) return { asks: 'help', located: last };
  return {
    asks: 'command',
    parsed: parsedLine(declared, { argv, globals, typed: last.opts(), operands: last.args }),
  };
}

/** Has Commander read the words, as far as it does. */
async function parsed(argv: readonly string[], registry: Registry) {
  const read: Reading = { argv, registry };
  const root = Node.root(read);
  try {
    await root.parseAsync([...argv], { from: 'user' });
    return { read, root, refused: undefined };
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    return { read, root, refused: thrown };
  }
}

/** Options of every command, as flags. */
const GLOBAL_FLAGS: readonly Flag[] = GLOBALS.map(({ name, value, means, choices, names, short, typedOnly }) =>
  flagOf(
    name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    {
      field: { ...takes.text(means), ...(choices && { choices }), ...(names && { names }) },
      needed: false,
      placeholder: value === undefined ? '' : `<${value}>`,
      ...(short && { short }),
      ...(typedOnly && { typedOnly }),
    },
  ),
);

/** Global options as far as a line can be read, however wrong it is; the last of two values counts. */
export function globalsAsTyped(argv: readonly string[]): Readonly<Record<string, unknown>> {
  const node = new Commander().exitOverride().configureOutput(SILENT).helpOption(false);
  for (const flag of namedIn(argv, GLOBAL_FLAGS)) node.addOption(new KnownOption(flag));
  const end = argv.indexOf('--');
  try {
    node.parseOptions(end < 0 ? [...argv] : argv.slice(0, end));
  } catch {
    // The last option lacks its value.
  }
  return node.opts();
}

/** Options that a word of the line may name; no others are made, for they take a while. */
const namedIn = (argv: readonly string[], flags: readonly Flag[]) => {
  const words = argv.filter(word => word.startsWith('-'));
  return flags.filter(({ name, short }) =>
    words.some(word => word.startsWith(name) || (short && /^-\w/.test(word) && word.includes(short.slice(1)))),
  );
};

/** An option made from its flag. */
class KnownOption extends Option {
  readonly #key: string;

  constructor({ key, name, short, placeholder, field, conflicts = [] }: Flag) {
    super(`${short === undefined ? '' : `${short}, `}${name} ${placeholder}`.trim(), field.doc);
    this.#key = key;
    this.conflicts([...conflicts]);
    // Otherwise `--no-marker` would be kept as `marker: false`, and `--no-input` as the opposite of `--input`.
    this.negate = false;
  }

  override attributeName(): string {
    return this.#key;
  }
}

const SILENT = { writeOut: () => undefined, writeErr: () => undefined };

/** What is known of a line while Commander reads it. */
interface Reading {
  readonly argv: readonly string[];
  readonly registry: Registry;
  /** The node that the words have led to so far. */
  last?: Node;
  /** A word that is no command here. */
  unknown?: string | undefined;
  /** What `help cards fund` and `-h cards fund` ask about: words that no command of `help` was found for. */
  helpWords?: readonly string[];
}

/** The root, a group, or a command; all three where a command has others below it. Only what the line names is made. */
export class Node extends Commander {
  readonly words: readonly string[];
  /** Undefined at the root. */
  readonly group: Group | undefined;
  /** Its own options. */
  own: readonly Flag[] = [];
  /** Those, then the options of every command. */
  known: readonly Flag[] = [];
  /** The command of these words, if there is one; they may name a group too. */
  declared: Command | undefined;
  readonly #read: Reading;
  /** Words that may follow. */
  below: readonly string[] = [];
  #leaves: Leaves = {};

  constructor(words: readonly string[], group: Group | undefined, read: Reading) {
    super(words.at(-1) ?? 'cardwright');
    this.words = words;
    this.group = group;
    this.#read = read;
    this.exitOverride().configureOutput(SILENT).helpCommand(false).helpOption(false).enablePositionalOptions();
    this.hook('preSubcommand', async (_, below) => (below as Node).load());
    this.on('command:*', (operands: readonly string[]) => {
      read.unknown = operands[0];
    });
  }

  static root(read: Reading): Node {
    const root = new Node([], undefined, read);
    root.below = read.registry.map(({ name }) => name);
    for (const group of read.registry)
      if (read.argv.includes(group.name)) root.addCommand(new Node([group.name], group, read));
    root.#addOptions([]);
    return root;
  }

  /** The part of the tree below it: of a group its commands, of a command its options. */
  async load(): Promise<void> {
    this.#read.last = this;
    if (this.group === undefined) return;
    this.#leaves = await this.group.leaves();
    const here = this.words.join(' ');
    const paths = Object.keys(this.#leaves).filter(path => path.startsWith(`${here} `));
    this.below = [...new Set(paths.map(path => path.split(' ')[this.words.length] ?? ''))];
    for (const word of this.below)
      if (this.#read.argv.includes(word)) this.addCommand(new Node([...this.words, word], this.group, this.#read));
    const command = await this.#leaves[here]?.();
    this.declared = command;
    this.#addOptions(command?.flags ?? []);
    for (const { key, many } of command?.args ?? []) this.argument(many ? `[${key}...]` : `[${key}]`);
    // A program with its words stands behind `--`.
    if (command !== undefined) this.allowExcessArguments(command.rest !== undefined).action(() => undefined);
    if (here === 'help') this.#explains();
  }

  /** What the command of this word does; its options are not made for it. */
  async summaryOf(word: string): Promise<string | undefined> {
    return (await this.#leaves[[...this.words, word].join(' ')]?.())?.summary;
  }

  /** Global options of the line, wherever they stand. Throws `usage` for two values of one. */
  globals(): Readonly<Record<string, unknown>> {
    const nodes: Node[] = [];
    for (let node: Node | null = this; node !== null; node = node.parent as Node | null) nodes.unshift(node);
    const found: Record<string, unknown> = {};
    for (const { key, name } of GLOBAL_FLAGS)
      for (const node of nodes) {
        const value: unknown = node.opts()[key];
        if (value !== undefined) found[key] = single(name, value, found[key]);
      }
    return found;
  }

  /** The pages are ours: see docs/help.ts. */
  override helpInformation(): string {
    return '';
  }

  #addOptions(flags: readonly Flag[]): void {
    this.own = flags;
    this.known = [...flags, ...GLOBAL_FLAGS];
    for (const flag of namedIn(this.#read.argv, this.known)) {
      const { name, placeholder, repeats } = flag;
      const option = new KnownOption(flag);
      if (placeholder !== '')
        option.argParser((text: string, before: unknown) => {
          this.#refuseOption(name, text);
          return repeats ? [...((before as string[] | undefined) ?? []), text] : single(name, text, before);
        });
      this.addOption(option);
    }
  }

  /** An empty shell variable leaves `--label --dry-run`. Throws `usage`; behind `=` any text is meant. */
  #refuseOption(option: string, text: string): void {
    if (!text.startsWith('-') || text === '-' || this.#read.argv.includes(`${option}=${text}`)) return;
    if (text === '--') throw usage(`${option} needs a value`);
    const [head = ''] = text.split('=');
    // `-qo` is one too.
    if (!this.known.some(({ name, short }) => name === head || (short && head.startsWith(short)))) return;
    throw usage(
      `${option} needs a value; ${head} is an option (write ${shellWord(`${option}=${head}`)} if you mean it)`,
      ['cardwright', ...this.words, '--help'].join(' '),
    );
  }

  /** `help cards fund` shows that command; a word like a topic is a mistyped topic. */
  #explains(): void {
    this.argument('[words...]').action(() => {
      const [word] = this.args;
      const isGroup = this.#read.registry.some(({ name }) => name === word);
      const meant = word === undefined || isGroup ? undefined : nearest(word, this.below);
      if (meant === undefined) this.#read.helpWords = this.args;
      else this.#read.unknown = word;
    });
  }
}

/** Another value given later would silently win. Throws `usage`. */
function single(name: string, value: unknown, before: unknown): unknown {
  if (before === undefined || before === value) return value;
  throw usage(`${name} takes one value, but was given ${quote(String(before))} and ${quote(String(value))}`);
}

/** Words for options that are near in meaning, and not in their letters. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['--from', '--since'],
  ['--to', '--until'],
  ['--for', '--wait-timeout'],
  ['--within', '--wait-timeout'],
]);

/** Options that would take a secret: what is typed on a line can be read in the process list. */
const SAFER: ReadonlyMap<string, string> = new Map([
  ['--api-key', 'cardwright login --key-stdin, or CARDWRIGHT_API_KEY'],
  ['--key', 'cardwright login --key-stdin, or CARDWRIGHT_API_KEY'],
  ['--secret', 'cardwright webhooks create --secret-file <file>, or --secret-stdin'],
]);

/** More commands of one name say nothing. */
const MOST_MEANT = 3;

/** The refusal of a word that is no command here, with the nearest one, or those of that name elsewhere. */
async function unknownWord(word: string, { words, below }: Node, registry: Registry): Promise<CliError> {
  const paths = (await Promise.all(registry.map(group => group.leaves()))).flatMap(Object.keys);
  const elsewhere = paths.filter(path => path.endsWith(` ${word}`));
  const isFew = elsewhere.length > 0 && elsewhere.length <= MOST_MEANT;
  const others = isFew ? ` Did you mean ${elsewhere.map(quote).join(' or ')}?` : '';
  const see = ['cardwright', ...words, '--help'].join(' ');
  return usage(`unknown command ${quote(word)}.${didYouMean(word, below) || others}`, see);
}

/** The long name of the option that a message of Commander quotes. */
const longIn = (message: string) => /'(?:-\w, )?(--[\w-]+)/.exec(message)?.[1];

/** What Commander refuses, in our words; of an old word or option the new one, which is shown and never run. */
function refusal({ code, message }: CommanderError, node: Node): CliError {
  const see = ['cardwright', ...node.words, '--help'].join(' ');
  if (code === 'commander.unknownOption') {
    // The option's name alone: a value that follows `=` could be a key.
    const option = /'([^'=]*)/.exec(message)?.[1] ?? '';
    const safer = SAFER.get(option);
    if (safer !== undefined)
      return usage(`no option takes a secret, because other users could see it in the process list. Use ${safer}`);
    const known = node.known.map(({ name }) => name);
    const meant = known.find(name => name === SYNONYMS.get(option)) ?? option;
    return usage(`unknown option ${quote(option)}.${didYouMean(meant, known)}`, see);
  }
  if (code === 'commander.optionMissingArgument') {
    return usage(`${longIn(message) ?? 'the option'} needs a value`, see);
  }
  if (code === 'commander.conflictingOption')
    return usage(message.replace(/^error: /, '').replace(/option '(?:-\w, )?(--[\w-]+)[^']*'/g, '$1'), see);
  if (code === 'commander.excessArguments') {
    const [extra = ''] = node.args.slice(node.declared?.args.length);
    return usage(`${node.words.join(' ')} does not take ${quote(extra)}`, see);
  }
  return usage(message.replace(/^error: /, ''), see);
}

/** A line that is still being typed, as far as it is understood: what Commander refuses is not whole yet. Throws `usage`. */
export async function walk(words: readonly string[], registry: Registry) {
  const { read, root, refused } = await parsed(words, registry);
  const { last: node = root } = read;
  const waiting = refused?.code === 'commander.optionMissingArgument' ? longIn(refused.message) : undefined;
  /** The last word is an option that still waits for its value. */
  const pending = node.known.find(({ name }) => name === waiting);
  /** Options on it by their long names, with the last value of those that take one. */
  const used = new Map<string, string>(pending === undefined ? [] : [[pending.name, '']]);
  for (let each: Node | null = node; each !== null; each = each.parent as Node | null)
    for (const { key, name } of each.known) {
      const value: unknown = each.getOptionValue(key);
      if (value !== undefined) used.set(name, value === true ? '' : String(value));
    }
  const operands = node.args.filter(word => !word.startsWith('-'));
  // Behind `--` only operands can follow.
  return { node, used, operands, pending, ended: words.includes('--') };
}
