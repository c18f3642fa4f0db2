/** What an exit code, an error, an operation or a request means. */
import type { Context } from '../cli/context.ts';
import { hang, wrap } from '../cli/docs/help.ts';
import { wholeListing } from '../cli/listing.ts';
import { command } from '../cli/parsing/command.ts';
import { argument, takes, tells } from '../cli/parsing/flag.ts';
import { quote } from '../cli/parsing/values.ts';
import type { AssumptionId } from '../contract/basis.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { type Fact, facts } from '../contract/provenance.ts';
import { REFUSALS, type Refusal, type RefusalName } from '../contract/refusals.ts';
import { CliError, ERROR_KINDS, type ErrorKind, usage } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import type { OpDetail } from '../journal/types.ts';
import { FACT_ROW, factsAbout, showFacts } from './contract/contract.ts';
import { OP_DETAIL, showDetail } from './ops/ops.ts';

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

type Explained =
  | { readonly meanings: readonly Meaning[] }
  | { readonly facts: readonly Fact[]; readonly assumption: AssumptionId | undefined }
  | { readonly op: OpDetail };

export const explain = command({
  path: 'explain',
  summary: 'Explain an exit code, an error, a fact, an operation or a request',
  about: [
    'Offline. A section of the documentation of the service (4.1), the number of an assumption where that documentation is silent (A-08), and the name of an operation, a field or an event (cards.create, card.balance, card.frozen) are explained with the facts of the contract, as in contract show.',
    'An operation (op_…) and the id of a request (req_…) are looked up in the journal of this machine. If several operations contain the request, the newest is shown.',
  ],
  answers: { either: [{ list: MEANING }, { list: FACT_ROW }, { one: OP_DETAIL }] },
  reach: 'files',
  ends: { not_found: 'This machine has no such operation or request.' },
  args: {
    what: argument(
      takes.text('Exit code, kind, identifier, section, assumption, name, op or request id.', { names: 'op' }),
    ),
  },
  examples: [
    { does: 'An exit code', run: 'explain 11' },
    { does: 'What the service called it', run: 'explain card_terminated' },
    { does: 'What is assumed, and why', run: 'explain A-08' },
    { does: 'What became of an operation', run: 'explain op_00000000000000000000000001' },
  ],
  async run(ctx, { what }): Promise<Explained> {
    if (what.startsWith('op_')) return { op: await (await ctx.journal.open()).show(what) };
    if (what.startsWith('req_')) return { op: await carrying(ctx, what) };
    const meanings = meaningsOf(what);
    if (meanings.length > 0) return { meanings };
    const all = facts(await ctx.api.overrides());
    const found = factsAbout(all, what);
    if (found !== undefined) return { facts: found.facts, assumption: found.assumption };
    const meant = didYouMean(what, [
      ...Object.keys(ERROR_KINDS),
      ...Object.keys(REFUSALS),
      ...all.map(each => each.name),
    ]);
    throw usage(
      `${quote(what)} is no exit code, error, fact, operation or request.${meant}`,
      'cardwright help exit-codes',
    );
  },
  columns: ['exit kind means next:2', { means: { shrink: 'wraps' }, next: { shrink: 'wraps' } }],
  show(found) {
    if ('op' in found) return showDetail(found.op);
    if ('facts' in found) return showFacts(found.facts, found.assumption);
    const { meanings } = found;
    return {
      listing: wholeListing({ data: meanings, page: { total: meanings.length } }, { noun: 'meaning' }),
      noun: 'meaning',
      idField: 'kind',
      prose: meanings.map(proseOf).join('\n'),
    };
  },
});

const REPEATED = 'it is done once more; under the same --intent it gives the first result';

function proseOf({ is, exit, kind, means, retryable, next, identifiers, operations }: Meaning): string {
  const said = is === 'identifier of the service' ? [] : identifiers;
  const pairs = [
    [
      'Repeat',
      kind === 'done' ? REPEATED : retryable ? 'the same command may be run again' : 'not without looking first',
    ],
    ['Next', next],
    ['Service says', said.join(', ')],
    ['Operations', operations.join(', ')],
  ] as const;
  const lines = pairs.filter(([, value]) => value !== '').map(([label, value]) => hang(`  ${label.padEnd(14)}`, value));
  return wrap(`${kind}, exit ${exit}: ${means}`) + lines.join('');
}

/** The newest operation with a row that carries this request. Throws `not_found`. */
async function carrying(ctx: Context, request: string): Promise<OpDetail> {
  const journal = await ctx.journal.open();
  for (const { op } of await journal.list()) {
    const detail = await journal.show(op);
    if (detail.rowsInDetail.some(({ requestId }) => requestId === request)) return detail;
  }
  throw new CliError('not_found', {
    message: `no operation in the journal of this machine carries ${request}`,
    notes: ['The journal knows what moved money. Of the rest the service knows: name this id to its support.'],
    hint: 'cardwright sandbox requests',
  });
}
