/** Text as words of a POSIX shell, for commands to copy. An id of a service may hold anything a shell acts upon. */

/**
 * The text as one shell word; inside single quotes a POSIX shell expands nothing. fish reads a backslash even there, so
 * that one stands in double quotes, where all of them read it alike.
 */
export function shellQuote(text: string): string {
  // A shell word cannot hold NUL: it would be cut or refused, so it is made visible.
  const parts = text.replaceAll('\0', '\\x00').replace(/[\\']/g, found => (found === "'" ? "'\\''" : `'"\\\\"'`));
  return `'${parts}'`;
}

/** `shellQuote`, where a text that no shell acts upon stays bare; zsh looks up a program behind `=`, fish a job behind `%`. */
export function shellWord(text: string): string {
  return /^[\w.:@/+,-][\w.:@/=+,%-]*$/.test(text) ? text : shellQuote(text);
}

// `the same command with --yes` is said by parts that do not know the words of their command. Where the error is shown, it
// becomes a whole command to copy.

/** Each option with its value, where it takes one: `--max-cards 30`. It takes the place of one that was typed. */
export function sameCommandWith(...options: readonly string[]): string {
  return `the same command with ${options.join(' ')}`;
}

/** For an option that takes a value. */
export function sameCommandWithout(option: string): string {
  return `the same command without ${option}`;
}

const OPTION = '--[a-z][a-z-]*(?: [\\w.,%]+)?';
const PHRASE = new RegExp(`the same command (with|without) (${OPTION}(?: ${OPTION})*)(?=$|[.?;](?: |$))`, 'i');

/** The text with a whole command in place of the phrase; as it was without one. `argv` is the line that was typed. */
export function withTypedWords(text: string, argv: readonly string[]): string {
  return text.replace(PHRASE, (_phrase, how: string, named: string) => {
    const options = named.split(/ (?=--)/);
    const others = options.reduce((words, option) => withoutOption(words, option, how === 'without'), argv);
    const added = how === 'with' ? options.flatMap(option => option.split(' ')) : [];
    const end = others.indexOf('--');
    return typedCommand(others.toSpliced(end < 0 ? others.length : end, 0, ...added));
  });
}

/** Words of a command line as a command to copy. */
export function typedCommand(argv: readonly string[]): string {
  return `cardwright ${argv.map(shellWord).join(' ')}`;
}

/** What stands behind `--` is the line of another program. */
function withoutOption(argv: readonly string[], option: string, takesValue: boolean): readonly string[] {
  const [name = '', value] = option.split(' ');
  const end = argv.indexOf('--');
  const at = argv.findIndex(word => word === name || word.startsWith(`${name}=`));
  if (at < 0 || (end >= 0 && at > end)) return argv;
  const hasValueBehind = (takesValue || value !== undefined) && argv[at] === name;
  return argv.toSpliced(at, hasValueBehind ? 2 : 1);
}
