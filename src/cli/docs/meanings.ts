/** What an exit code, a kind of failure or an identifier of the service means, and what to do next. Nothing is asked. */
import { OPERATIONS } from '../../contract/operations.ts';
import { REFUSALS, type Refusal, type RefusalName } from '../../contract/refusals.ts';
import { ERROR_KINDS, type ErrorKind } from '../../core/errors.ts';

export interface Meaning {
  /** `exit code`, `error kind` or `identifier of the service`. */
  readonly is: string;
  readonly exit: number;
  readonly kind: string;
  readonly means: string;
  readonly retryable: boolean;
  readonly next: string;
  /** Identifiers of the service that come to this. */
  readonly identifiers: readonly string[];
  /** Operations that answer with an identifier. */
  readonly operations: readonly string[];
}

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
  if (word === '0') return [DONE];
  if (/^\d{1,3}$/.test(word))
    return kinds()
      .filter(({ exit }) => exit === Number(word))
      .map(named('exit code'));
  const kind = kinds()
    .filter(each => each.kind === word)
    .map(named('error kind'));
  return [...kind, ...identifier(word)];
}

/** Every word there is a meaning of, for the nearest one to a mistyped. */
export function wordsWithMeaning(): readonly string[] {
  return [...Object.keys(ERROR_KINDS), ...Object.keys(REFUSALS)];
}

const DONE: Meaning = {
  is: 'exit code',
  exit: 0,
  kind: 'done',
  means: 'Done; also an empty list.',
  retryable: false,
  next: 'Nothing.',
  identifiers: [],
  operations: [],
};

function kinds(): readonly Omit<Meaning, 'is'>[] {
  return (Object.keys(ERROR_KINDS) as ErrorKind[]).map(kind => {
    const { exit, means, ...more } = ERROR_KINDS[kind];
    const identifiers = Object.keys(REFUSALS).filter(name => REFUSALS[name as RefusalName].kind === kind);
    return { exit, kind, means, retryable: 'retryable' in more, next: NEXT[kind], identifiers, operations: [] };
  });
}

function named(is: string): (meaning: Omit<Meaning, 'is'>) => Meaning {
  return meaning => ({ is, ...meaning });
}

function identifier(word: string): readonly Meaning[] {
  const rows = Object.entries(REFUSALS) as [RefusalName, Refusal][];
  const found = rows.find(([name, { also }]) => name === word || also?.includes(word));
  if (found === undefined) return [];
  const [name, { kind, when, status }] = found;
  const operations = Object.entries(OPERATIONS).flatMap(([operation, row]) =>
    'fails' in row && (row.fails as readonly string[]).includes(name) ? [operation] : [],
  );
  const { exit, retryable } = kinds().find(each => each.kind === kind) ?? DONE;
  const means = `The service answers ${name} (HTTP ${status}): ${when}.`;
  return [
    {
      is: 'identifier of the service',
      exit,
      kind,
      means,
      retryable,
      next: NEXT[kind],
      identifiers: [name],
      operations,
    },
  ];
}
