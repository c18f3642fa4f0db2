/**
 * Holds every hint that a test sees against the real parser: a command to copy must be one, with the words it needs, and
 * another than the one that has just failed.
 */
import { readLine } from '../../src/cli/parsing/tree.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { words } from './words.ts';

const NOW = Date.parse('2026-11-20T14:03:11Z');

/** Commands that an error on standard error tells to run, unwrapped: `See: …`, `try: …` or the hint of a JSON error. */
export function hintsIn(err: string): readonly string[] {
  const told = [...err.matchAll(/^(?:See| {2}try): (cardwright .*)$/gm)].map(([, hint = '']) => hint);
  const asJson = [...err.matchAll(/"hint":("cardwright (?:[^"\\]|\\.)*")/g)].map(([, hint = '""']) => JSON.parse(hint));
  return [...told, ...asJson];
}

/** Throws where a command to copy would be refused before anything is sent. */
export async function copiedHints(argv: readonly string[], err: string): Promise<void> {
  for (const hint of hintsIn(err)) {
    const problem = await problemOf(hint, argv);
    if (problem !== undefined) throw new Error(`${argv.join(' ')}: the hint ${JSON.stringify(hint)} ${problem}`);
  }
}

/** Why a hint does not do when copied; undefined when it does. */
export async function problemOf(hint: string, argv: readonly string[]): Promise<string | undefined> {
  if (/<[a-z]/.test(hint)) return 'has a place to be filled in';
  // What a shell reads its standard input from is no word of the command.
  const copied = words(hint.replace(/^cardwright /, '').replace(/ < [\w.]+$/, ''));
  // Asking again what came of something is what to do when it is not known yet.
  const asksAgain = copied.includes('resume');
  if (!asksAgain && copied.join(' ') === argv.join(' ')) return 'is the command that has just failed';
  try {
    const line = await readLine(copied, REGISTRY);
    if (line.asks !== 'command') return undefined;
    const { parsed } = line;
    const { args, flags } = parsed.missing();
    if (args.length + flags.length > 0) {
      return `lacks ${[...args.map(({ key }) => key), ...flags.map(({ name }) => name)].join(', ')}`;
    }
    await parsed.values({ now: NOW }, async () => 'card_1');
    return undefined;
  } catch (thrown) {
    return `is refused: ${thrown instanceof Error ? thrown.message : thrown}`;
  }
}
