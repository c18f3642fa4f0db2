/**
 * Where a shell looks for its completions and what has to stand there (`completion --install`). bash, zsh and PowerShell
 * are told in a file they read at their start, by a block between two marks; fish looks into a folder by itself.
 */
import { isAbsolute, join } from 'node:path';
import { CliError } from '../../core/errors.ts';
import { shellQuote } from '../../core/shell-quote.ts';
import type { Environment } from '../../platform/host.ts';
import { COMPLETION_FILES, type CompletionShell, completionStub } from './completion-stubs.ts';

/** What becomes of one file. Bytes, because what else stands in a start file is not ours to read. */
export interface PlannedFile {
  readonly path: string;
  readonly action: 'create' | 'change' | 'remove' | 'none';
  /** Ours in it. */
  readonly text: string;
}

export interface CompletionPlaces {
  /** File of the script; undefined where it stands in the block itself. */
  readonly script: string | undefined;
  /** File the shell reads at its start; undefined where it needs none. */
  readonly startFile: string | undefined;
  /** What stands between the marks. */
  readonly lines: string;
}

/** Throws `usage` without a home, and for PowerShell on Windows, where only it knows the place of its start file. */
export function placesFor(shell: CompletionShell, env: Environment, platform: NodeJS.Platform): CompletionPlaces {
  const home = env['HOME'];
  if (home === undefined || !isAbsolute(home) || platform === 'win32') throw byHand(shell);
  // As XDG has it, a relative folder counts as none.
  const xdg = (variable: string, otherwise: string) => {
    const named = env[variable] ?? '';
    return isAbsolute(named) ? named : otherwise;
  };
  const data = xdg('XDG_DATA_HOME', join(home, '.local', 'share'));
  const config = xdg('XDG_CONFIG_HOME', join(home, '.config'));
  switch (shell) {
    case 'bash': {
      const script = join(data, 'bash-completion', 'completions', 'cardwright');
      // A terminal of macOS begins a login shell, which reads the other file.
      const startFile = join(home, platform === 'darwin' ? '.bash_profile' : '.bashrc');
      return { script, startFile, lines: `[ -r ${shellQuote(script)} ] && . ${shellQuote(script)}` };
    }
    case 'zsh': {
      const script = join(data, 'zsh', 'site-functions', COMPLETION_FILES.zsh);
      const lines = [
        `if [[ -r ${shellQuote(script)} ]]; then`,
        '  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }',
        `  source ${shellQuote(script)}`,
        'fi',
      ];
      return { script, startFile: join(env['ZDOTDIR'] || home, '.zshrc'), lines: lines.join('\n') };
    }
    case 'fish':
      return { script: join(config, 'fish', 'completions', COMPLETION_FILES.fish), startFile: undefined, lines: '' };
    case 'powershell':
      return {
        script: undefined,
        startFile: join(config, 'powershell', 'profile.ps1'),
        lines: completionStub('powershell').trimEnd(),
      };
  }
}

const NAME = 'cardwright completion';
const END = `# <<< ${NAME} <<<\n`;
/** What the first mark remembers, so that the file can be what it was. */
const NOTES = { plain: '', cut: ' (the line above had no line end)', made: ' (this file was made for it)' } as const;
const markWith = (note: string) => `# >>> ${NAME}${note} >>>\n`;

/** A block in a file: where it begins and ends, and what its first mark remembers. */
interface Block {
  readonly from: number;
  readonly to: number;
  readonly note: string;
}

/** The file with our block in it, once; where one stands already it is replaced. Throws `guarded` for half a block. */
export function withBlock(before: Buffer | undefined, lines: string, path: string): Buffer {
  const found = before && blockIn(before, path);
  const whole = before ?? Buffer.alloc(0);
  if (found !== undefined) {
    const block = Buffer.from(`${markWith(found.note)}${lines}\n${END}`);
    return Buffer.concat([whole.subarray(0, found.from), block, whole.subarray(found.to)]);
  }
  const isCut = whole.length > 0 && whole.at(-1) !== 0x0a;
  const note = before === undefined ? NOTES.made : isCut ? NOTES.cut : NOTES.plain;
  return Buffer.concat([whole, Buffer.from(`${isCut ? '\n' : ''}${markWith(note)}${lines}\n${END}`)]);
}

/** The file as it was without the block; undefined when it was not there. */
export function withoutBlock(before: Buffer, path: string): Buffer | undefined {
  const found = blockIn(before, path);
  if (found === undefined) return before;
  const rest = before.subarray(found.to);
  // What was written below since then keeps its line of its own.
  const ownsEnd = found.note === NOTES.cut && rest.length === 0;
  const left = Buffer.concat([before.subarray(0, found.from - (ownsEnd ? 1 : 0)), rest]);
  return left.length === 0 && found.note === NOTES.made ? undefined : left;
}

/** Every version of a script of ours says so in its first two lines. */
export function isOurScript(bytes: Buffer): boolean {
  const [first = '', second = ''] = bytes.subarray(0, 400).toString('latin1').split('\n');
  return [first, second].some(line => /^# \w+ completion for cardwright\. Generated;/.test(line));
}

function blockIn(bytes: Buffer, path: string): Block | undefined {
  const found = Object.values(NOTES)
    .map(note => ({ note, from: bytes.indexOf(markWith(note)) }))
    .find(({ from }) => from >= 0);
  if (found === undefined) return undefined;
  const end = bytes.indexOf(END, found.from);
  if (end >= 0) return { ...found, to: end + END.length };
  throw new CliError('guarded', {
    message: `${path} has the first mark of a block of cardwright but not the last; it was not changed`,
    notes: [`The block ends with: ${END.trimEnd()}`],
    outcome: 'not_sent',
  });
}

function byHand(shell: CompletionShell): CliError {
  return new CliError('usage', {
    message:
      shell === 'powershell'
        ? 'only PowerShell knows the place of its profile on this system; add the output of "completion powershell" to $PROFILE'
        : 'HOME is not an absolute path, so the files of the shell cannot be found',
    hint: `cardwright completion ${shell}`,
    outcome: 'not_sent',
  });
}
