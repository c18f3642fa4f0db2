/** What an exit code or an error means. */
import { command } from '../cli/parsing/command.ts';
import { argument, takes, tells } from '../cli/parsing/flag.ts';
import { quote } from '../cli/parsing/values.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { REFUSALS, type Refusal, type RefusalName } from '../contract/refusals.ts';
import { ERROR_KINDS, type ErrorKind, usage } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';

/** The first thing to do. Complete by type: a new kind does not compile without advice. */
const NEXT: Readonly<Record<ErrorKind, string>> = {
  internal: 'Run it again with --debug and report what it says; cardwright doctor checks the environment.',
  usage: 'Read the message: it names the limit or the nearest word. cardwright <command> --help shows examples.',
  not_confirmed: 'Answer the question on a terminal, or say --yes where that is meant.',
  not_authenticated: 'cardwright whoami shows which key was used; cardwright login saves another one.',
  not_found: 'List what there is: cardwright cards list, cardwright bins list, cardwright webhooks list.',
  refused: 'Look at the card first: cardwright cards get <card>. The same command will be refused again.',
  rate_limited: 'Wait, then run the same command again.',
  wait_expired: 'Look at the last state in the message; wait longer with --wait-timeout.',
  partly_failed: 'cardwright ops show <op> lists the rows that failed; correct them and run those alone.',
  insufficient_funds: 'cardwright wallet shows what is there, cardwright wallet addresses where to pay in.',
  outcome_unknown: 'Do not run it again. cardwright ops resume <op> finds out, with the same key.',
  unreachable: 'cardwright doctor looks at network, proxy and TLS; then run the same command again.',
  contract_mismatch: 'cardwright contract check compares the routes; an override is named with --contract.',
  guarded: 'The message names the guard. Nothing was sent, so nothing has to be undone.',
  check_failed: 'The message names what did not hold; cardwright doctor looks at everything else.',
  differs: 'Read what differs. cardwright fleet apply carries it out, after somebody has looked.',
  pending_approval: 'cardwright ops approve <op> by a person at a terminal; then cardwright ops resume <op>.',
  interrupted: 'cardwright ops list shows whether something was under way; cardwright ops resume <op> goes on.',
  terminated: 'cardwright ops list shows whether something was under way; cardwright ops resume <op> goes on.',
};

/** Everything a word stands for; empty when it is none of these. */
export function meaningsOf(word: string): readonly Meaning[] {
  if (word === '0') return [{ is: 'exit code', ...DONE }];
  const all = kinds();
  if (/^\d{1,3}$/.test(word)) {
    return all.filter(({ exit }) => exit === Number(word)).map(meaning => ({ is: 'exit code', ...meaning }));
  }
  const named = identifier(word);
  // Some words of the service are kinds too: what they mean is said once.
  const [operations = []] = named.map(each => each.operations);
  const kind = all.filter(each => each.kind === word).map(each => ({ is: 'error kind', ...each, operations }));
  return kind.length > 0 ? kind : named;
}

type Meaning = { readonly is: string } & typeof DONE;

const DONE = {
  exit: 0,
  kind: 'done',
  means: 'Done; also an empty list.',
  retryable: false,
  next: 'Nothing.',
  identifiers: [] as readonly string[],
  operations: [] as readonly string[],
};

/** Every way a command can fail. */
function kinds(): readonly (typeof DONE)[] {
  return (Object.keys(ERROR_KINDS) as ErrorKind[]).map(kind => {
    const { exit, means, ...more } = ERROR_KINDS[kind];
    const identifiers = Object.keys(REFUSALS).filter(name => REFUSALS[name as RefusalName].kind === kind);
    return { ...DONE, exit, kind, means, retryable: 'retryable' in more, next: NEXT[kind], identifiers };
  });
}

function identifier(word: string): readonly Meaning[] {
  const rows = Object.entries(REFUSALS) as [RefusalName, Refusal][];
  const found = rows.find(([name, { also }]) => name === word || also?.includes(word));
  if (found === undefined) return [];
  const [name, { kind, when, status }] = found;
  const operations = Object.entries(OPERATIONS).flatMap(([operation, row]) =>
    'fails' in row && (row.fails as readonly string[]).includes(name) ? [operation] : [],
  );
  const general = kinds().find(each => each.kind === kind) ?? DONE;
  const means = `The service answers ${name} (HTTP ${status}): ${when}.`;
  return [{ is: 'identifier of the service', ...general, means, identifiers: [name], operations }];
}

const MEANING = {
  is: tells.text('exit code, error kind or identifier of the service.'),
  exit: tells.count('Exit code.'),
  kind: tells.text('Kind of failure.'),
  means: tells.text('What it means.'),
  retryable: tells.yes('Whether the same command may be run again without looking first.'),
  next: tells.text('What to do next.'),
  identifiers: tells.texts('Identifiers of the service that come to it.'),
  operations: tells.texts('Operations that answer with the identifier.'),
} as const;

export const explain = command({
  path: 'explain',
  summary: 'Explain an exit code or an error, and say what to do next',
  about:
    'Offline. What is known of the service is in contract show, by section or assumption; what became of an operation in ops show.',
  answers: { list: MEANING },
  args: { what: argument(takes.text('Exit code, kind of error, or the name that the service gives it.')) },
  examples: {
    'An exit code': 'explain 11',
    'What the service called it': 'explain card_terminated',
  },
  async run(_ctx, { what }) {
    const meanings = meaningsOf(what);
    if (meanings.length > 0) return meanings;
    const meant = didYouMean(what, [...Object.keys(ERROR_KINDS), ...Object.keys(REFUSALS)]);
    throw usage(`${quote(what)} is no exit code and no error.${meant}`, 'cardwright help exit-codes');
  },
  columns: [
    'exit kind means next:2 retryable:3 identifiers:4+ operations:4+',
    { means: { shrink: 'wraps' }, next: { shrink: 'wraps' }, retryable: 'REPEAT' },
  ],
  noun: 'meaning',
  idField: 'kind',
});
