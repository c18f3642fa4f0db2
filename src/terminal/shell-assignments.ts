/** One object as shell assignments, for `eval "$(… -o env)"`. */
import { shellQuote } from '../core/shell-quote.ts';
import { machineCell, plainText } from './cells.ts';
import { printable, printableJson } from './printable.ts';
import { valueAt } from './rows.ts';
import type { Column, Row } from './view.ts';

/**
 * Names a shell, a loader or a common program acts upon. The service may send fields we do not know; none of
 * them may become one of these variables by being evaluated.
 */
const ACTED_UPON =
  /^(?:PATH|IFS|ENV|HOME|PWD|OLDPWD|SHELL|SHELLOPTS|CDPATH|FPATH|MANPATH|TMPDIR|TERM|LANG|EDITOR|VISUAL|PAGER|PS\d|PROMPT\w*|RPROMPT|HISTFILE|MAIL\w*|OPTIND|UID|EUID|PPID|ZDOTDIR|FCEDIT|LC_\w*|LD_\w*|DYLD_\w*|BASH\w*|ZSH\w*|GIT_\w*|SSH_\w*|NODE_\w*|NPM_\w*|PYTHON\w*|PERL\w*|RUBY\w*|JAVA_\w*|OPENSSL_\w*|SSL_\w*|CURL_\w*|XDG_\w*|CARDWRIGHT_\w*|\w*_PROXY)$/;

/** `spending_limit` and `spendingLimit` give `SPENDING_LIMIT`; other characters become `_`. */
function shellName(field: string): string {
  const name = field
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replace(/[^A-Z0-9_]/g, '_');
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
}

/** Variables of ours, by their own names. */
export function assignments(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${shellQuote(value)}\n`)
    .join('');
}

/**
 * `NAME='value'` a line: the fields that have columns first, then the unknown ones. Lists and objects are JSON
 * text, absent values empty. With `asked` exactly these fields. `leftOut` are those that were not written: the shell acts upon
 * their name, or an earlier field has it.
 */
export function shellAssignments(
  row: Row,
  columns: readonly Column[],
  { asked, terminal }: { readonly asked: readonly string[] | undefined; readonly terminal: boolean },
) {
  const known = new Set(columns.map(column => column.field));
  const own = [...known].filter(field => valueAt(row, field) !== undefined);
  const fields = asked ?? [...own, ...Object.keys(row).filter(field => !known.has(field))];
  const lines = new Map<string, string>();
  const leftOut: string[] = [];
  for (const field of fields) {
    const name = shellName(field);
    if (lines.has(name) || (!known.has(field) && ACTED_UPON.test(name))) {
      leftOut.push(field);
      continue;
    }
    const column = columns.find(each => each.field === field);
    const value = valueAt(row, field);
    const isCell = column !== undefined && typeof value !== 'object';
    const json = () => (typeof value === 'string' ? value : printableJson(plainText(value)));
    const text = isCell ? machineCell(column, value) : json();
    lines.set(name, `${name}=${shellQuote(terminal ? printable(text) : text)}\n`);
  }
  return { text: [...lines.values()].join(''), leftOut };
}
