/** The facts of the contract, and whether the service keeps to them. */

import type { Context } from '../../cli/context.ts';
import { showPlanned } from '../../cli/dry-run.ts';
import { rowsListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { maybe, option, takes, tells } from '../../cli/parsing/flag.ts';
import { ASSUMPTION_IDS, assumption, isAssumptionId } from '../../contract/assumption.ts';
import { type AssumptionId, basisText } from '../../contract/basis.ts';
import type { ReadName } from '../../contract/calls.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { FACT, type Fact, facts } from '../../contract/provenance.ts';
import { CliError, type ErrorKind, usage } from '../../core/errors.ts';
import { cents } from '../../core/money.ts';
import type { Row } from '../../terminal/view.ts';
import { learnedFrom, recordOf } from '../../writes/audit-record.ts';
import { bestBin } from '../bins/bins.ts';

/** Everything of the fact; `what` is what holds now, `without_override` what the contract says. */
function factRow({ override, what, ...fact }: Fact): Readonly<Record<string, unknown>> {
  const { section, kind, name, ...rest } = fact;
  const basis = basisText(fact);
  const shown = { section, kind, name, what: override ?? what, basis: override === undefined ? basis : 'yours' };
  return override === undefined ? { ...shown, ...rest } : { ...shown, override, without_override: what, ...rest };
}

/** The assumption in full, for a person who asked for one. */
function assumptionNotes(id: AssumptionId): readonly string[] {
  const { taken, because, also, confidence } = assumption(id);
  const facts = Object.entries({ because, 'also read': also, confidence });
  return [`${id}  ${taken}`, ...facts.flatMap(([name, says]) => (says === undefined ? [] : [`${name}: ${says}`]))];
}

/** One row a route: `fits`, `wrong` with what is wrong, or `skipped` when no id is there to ask with. */
async function readingRoutes(ctx: Context): Promise<Row[]> {
  const reader = await ctx.api.reader();
  const overrides = (await ctx.api.overrides()).operations;
  const ids: Partial<Record<'card_id' | 'webhook_id', string>> = {};
  const rows: Row[] = [];
  const asked = Object.entries(OPERATIONS).filter(([, { effect }]) => effect === 'read');
  // Lists first: they hold the ids that the single reads need.
  for (const [name, row] of asked.sort(([, one], [, other]) => Number('params' in one) - Number('params' in other))) {
    const [param] = 'params' in row ? (Object.keys(row.params) as (keyof typeof ids)[]) : [];
    const { path } = { ...row, ...(Object.hasOwn(overrides, name) ? overrides[name] : {}) };
    const route = `GET ${path}`;
    if (param !== undefined && ids[param] === undefined) {
      rows.push({ operation: name, result: 'skipped', route, detail: 'there is no id to ask with' });
      continue;
    }
    let answer: unknown;
    try {
      answer = await reader.read(name as ReadName, (param === undefined ? {} : { [param]: ids[param] }) as never);
      rows.push({ operation: name, result: 'fits', detail: '', route });
    } catch (thrown) {
      if (!(thrown instanceof CliError) || ENDING.includes(thrown.kind)) throw thrown;
      rows.push({ operation: name, result: 'wrong', detail: thrown.message, route });
    }
    const [first] = (answer as { data?: readonly { id?: unknown }[] } | undefined)?.data ?? [];
    if (typeof first?.id !== 'string') continue;
    if (name === 'cards.list') ids.card_id = first.id;
    if (name === 'webhooks.list') ids.webhook_id = first.id;
  }
  return rows;
}

/** What the key or the network cannot do is no finding about a route, so it ends the check. */
const ENDING: readonly ErrorKind[] = ['not_authenticated', 'interrupted', 'terminated', 'guarded', 'usage', 'internal'];

export const checkContract = command({
  path: 'contract check',
  effectSays: 'reads only; --probe-idempotency creates, funds, withdraws and terminates a card',
  summary: 'Send every read request and compare the answers with the contract',
  answers: {
    list: {
      operation: tells.text('Operation of the contract.'),
      result: tells.text('fits, wrong or skipped; of a probed key whether it is honoured.'),
      route: tells.text('Method and path that were asked.'),
      detail: tells.text('What is wrong, else empty.'),
    },
  },
  about: [
    'It sends GET requests. A route that needs an id is tried with an id from the lists, and skipped when there is none.',
    '--probe-idempotency also uses one key twice, a minute apart, for create, fund and withdraw, terminates the card it made, and remembers for this key and address whether idempotency keys are honoured. It writes, and refuses a live key. Up to $4.00 count against the limits of the profile.',
    'The result is honoured if the second answer repeats the first and reading shows one effect, and ignored if there are two effects. Anything else, such as a lost or throttled second answer, is unknown; then no request is ever sent twice.',
  ],
  reach: 'service',
  ends: {
    contract_mismatch: 'A route answers otherwise than the contract says.',
    not_confirmed: 'Declined, or nobody could be asked. Nothing was sent.',
    guarded: 'A guard refused it. Nothing was sent.',
    insufficient_funds: 'The wallet is too low for the probe.',
    outcome_unknown: 'A probe was sent, and no trustworthy answer came.',
  },
  flags: {
    probeIdempotency: option(takes.flag('Find out whether idempotency keys are honoured; test keys only.')),
  },
  examples: {
    'Reading routes only': 'contract check',
    'Whether keys are honoured, with a test key': 'contract check --probe-idempotency --yes --json',
  },
  async run(ctx, { probeIdempotency = false }) {
    if (ctx.dryRun && !probeIdempotency)
      throw usage('contract check has no dry run: without --probe-idempotency it only reads');
    if (ctx.dryRun) return { planned: (await probeOf(ctx)).requests };
    const probed = probeIdempotency ? await probe(ctx) : [];
    return { rows: [...(await readingRoutes(ctx)), ...probed] };
  },
  columns: ['operation result route:3 detail:2', { result: { kind: 'word' }, detail: { shrink: 'wraps' } }],
  show(checked) {
    if ('planned' in checked) return showPlanned(checked.planned);
    const { rows } = checked;
    const wrong = rows.filter(({ result }) => result === 'wrong').map(({ operation }) => String(operation));
    const routes = wrong.length === 1 ? '1 route does' : `${wrong.length} routes do`;
    const failure = new CliError('contract_mismatch', {
      message: `${routes} not answer as the contract says: ${wrong.join(', ')}`,
      hint: 'cardwright contract show --assumed',
    });
    return { listing: rowsListing(rows), noun: 'route', idField: 'operation', ...(wrong.length > 0 && { failure }) };
  },
});

/** Throws `not_found` where no BIN takes the card of the probe. */
async function probeOf(ctx: Context) {
  const { id } = await bestBin(ctx, cents(100));
  return (await ctx.journal.open()).probe(id);
}

/** Guards, limits, question and audit lines as for every other write; a dry run goes as far as the plan. */
async function probe(ctx: Context): Promise<Row[]> {
  const { rows, check, run } = await probeOf(ctx);
  await ctx.journal.pipeline.admit({
    audited: { event: 'run', operation: 'cards.create', rows: rows.length },
    operations: [...rows].map(({ operation }) => operation),
    check,
    ask: async () =>
      ctx.ui.yes ? undefined : ctx.ui.ask({ intent: 'Create a $1.00 card, use keys twice on it and terminate it' }),
  });
  if ((await ctx.api.identity()).mode !== 'sandbox')
    ctx.ui.notice(
      'Keys are used again after a minute, and cards are counted when nothing can arrive any more: 4 minutes.',
    );
  // Each of its writes has lines of its own.
  const probed = await run(async ({ operation, input, key }, send) => {
    const { end } = await ctx.journal.recorder.begin(recordOf(operation, input, key));
    const attempt = await send();
    const { class: outcome, error, result } = attempt;
    await end(outcome === 'done' ? 'done' : (error?.facts.outcome ?? 'unknown'), learnedFrom(result));
    return attempt;
  });
  return probed.map(({ operation, capability: { key: result }, text: detail }) => {
    return { operation, result, route: 'key', detail };
  });
}

export const showContract = command({
  path: 'contract show',
  summary: 'Show every fact of the contract: stated, assumed or overridden',
  answers: {
    list: {
      ...FACT,
      basis: tells.text('Where it is known from.'),
      without_override: maybe(tells.text('What the contract says, where a profile overrides it.')),
    },
  },
  about:
    'BASIS is the section of the documentation of the service that states a fact (§4.1), the number of the assumption made where it is silent (A-08; contract show --id A-08 has its reason), or both. A fact that your profile overrides is marked yours and shown as it is sent; the JSON holds both.',
  reach: 'files',
  flags: {
    section: option(takes.text('Only this section of the interface; 4 takes 4.1 to 4.5 along.'), '<n>'),
    assumed: option(takes.flag('Only what rests on an assumption.')),
    id: option(takes.text('Only what rests on this assumption.'), '<A-nn>'),
  },
  examples: {
    'What a card is made of': 'contract show --section 2.1',
    'Everything that is not stated, as JSON': 'contract show --assumed --json',
    'Where the fund operation comes from': 'contract show --id A-08',
  },
  async run(ctx, { section, assumed, id }) {
    const all = facts(await ctx.api.overrides());
    const assumption = id?.toUpperCase();
    if (assumption !== undefined && !isAssumptionId(assumption))
      throw usage(
        `--id ${id} is no assumption; they go from ${ASSUMPTION_IDS[0]} to ${ASSUMPTION_IDS.at(-1)}`,
        'cardwright contract show',
      );
    const part = section?.replace(/^§/, '');
    const within = all.filter(
      fact =>
        part === undefined || fact.section === part || (!part.includes('.') && fact.section.startsWith(`${part}.`)),
    );
    if (within.length === 0)
      throw usage(
        `--section ${section} has no facts; sections: ${[...new Set(all.map(fact => fact.section))].join(' ')}`,
        'cardwright contract show',
      );
    const found = within.filter(
      fact =>
        (assumed !== true || fact.assumed !== undefined) && (assumption === undefined || fact.assumed === assumption),
    );
    return { found: found.map(factRow), about: id === undefined ? undefined : found[0]?.assumed };
  },
  noun: 'fact',
  idField: 'name',
  columns: [
    'section kind:3+ name what basis confidence:4+ taken:5+',
    {
      section: '§',
      name: { shrink: true },
      what: { shrink: true },
      confidence: 'SURE',
      taken: { shrink: true },
    },
  ],
  show: ({ found, about }) => ({
    listing: rowsListing(found),
    notes: about === undefined ? [] : assumptionNotes(about),
  }),
});

export const printOpenApi = command({
  path: 'contract openapi',
  summary: 'Print the contract as an OpenAPI 3.1 document',
  answers: { any: 'An OpenAPI 3.1 document.' },
  about:
    'Prints JSON unless you choose another format. Every node has x-stated (the section of the documentation) or x-assumed (the assumption made instead). Overrides of a profile are not included.',
  examples: {
    'For a file that other tools read': 'contract openapi',
    'What its GET routes do': "contract openapi --jq '.paths[].get.summary? // empty'",
  },
  run: async () => (await import('../../contract/openapi/document.ts')).openApiDocument(),
  noun: 'document',
  show: document => ({ data: document as Row, prose: `${JSON.stringify(document, undefined, 2)}\n` }),
});
