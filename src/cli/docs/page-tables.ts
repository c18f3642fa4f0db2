/** Rows and commands as the inspector's page needs them; the build writes the result into the page. */
import { EVENTS } from '../../contract/events.ts';
import type { AnyField } from '../../contract/field.ts';
import type { Operation } from '../../contract/operation.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { FAULT_KINDS, isDeliveryKind, smallestAction } from '../../contract/sandbox/faults.ts';
import { pageMay } from '../../contract/sandbox/page.ts';
import type { PageCommand, PageField, PageRow, PageTables } from '../../contract/sandbox/page-views.ts';
import { type Command, commandsOf, type Registry } from '../parsing/declaration.ts';

/** Rows whose command has another operation, or takes a field by another word. */
const OTHERWISE: Readonly<Record<string, Partial<PageCommand>>> = {
  'simulate.challenge-expire': { words: 'sandbox simulate expire', args: ['challenge_id'] },
  'simulate.confirmations': {
    words: 'sandbox simulate confirm',
    args: ['deposit_id'],
    flags: { add: '--blocks' },
  },
  'simulate.answer': { flags: { answer: '--' } },
  'simulate.unlinked-refund': {
    words: 'sandbox simulate refund',
    flags: { card_id: '--card', amount: '--amount', merchant: '--merchant' },
  },
  overview: { words: '--sandbox overview' },
  cards: { words: '--sandbox cards list', flags: { q: '--label', status: '--status', bin: '--bin' } },
  'cards.show': { words: '--sandbox cards get', args: ['card_id'] },
  transactions: {
    words: '--sandbox tx list',
    flags: { card_id: '--card', type: '--type', status: '--where status=', since: '--since', until: '--until' },
  },
  'transactions.show': { words: '--sandbox tx get', args: ['transaction_id'] },
  challenges: { words: '--sandbox 3ds list', flags: { card_id: '--card' } },
  // No command lists them.
  deposits: { words: '' },
  spending: { words: '--sandbox tx summary', flags: { since: '--since' } },
  webhooks: { words: '--sandbox webhooks list' },
  'requests.get': { words: 'sandbox requests', args: ['request_id'] },
  'snapshots.restore': { end: '--yes' },
  reset: { end: '--yes' },
  scenarios: { words: 'help scenarios' },
  'scenarios.check': { words: 'sandbox simulate run', end: '-' },
  'scenarios.play': { words: 'sandbox simulate run', end: '- --yes' },
  'scenarios.show': { words: 'sandbox simulate run', end: '- --yes' },
  'cards.reveal': { words: 'cards details', args: ['card_id'] },
  'challenges.reveal': { words: '3ds list' },
  'dialect.show': { words: 'sandbox status' },
  marks: { words: 'sandbox status' },
  'page.show': { words: 'sandbox open' },
  'page.end': { words: 'sandbox open --end' },
};

/** Everything a page may ask for, with the command that does the same. Throws for a row without one. */
export async function pageTables(registry: Registry, version: string): Promise<PageTables> {
  const sandbox = registry.find(({ name }) => name === 'sandbox');
  const commands = sandbox === undefined ? [] : await commandsOf(sandbox);
  const rows = Object.entries(ADMIN_OPERATIONS as Readonly<Record<string, Operation>>)
    .filter(([name, row]) => pageMay(name, row.leavesNoTrace === true, 'full'))
    .map(([name, row]): [string, PageRow] => {
      const { summary, method, path, params = {}, query = {}, body = {} } = row;
      const fields = Object.entries({ params, query, body }).flatMap(([part, shape]) =>
        Object.entries<AnyField>(shape).map(([field, of]) => ({ name: field, part, ...factsOf(of) }) as PageField),
      );
      return [name, { summary, method, path, fields, command: commandOf(name, fields, commands) }];
    });
  return {
    version,
    rows: Object.fromEntries(rows),
    events: Object.keys(EVENTS),
    operations: Object.keys(OPERATIONS),
    faults: FAULT_KINDS.map(kind => ({ kind, action: smallestAction(kind), ofDeliveries: isDeliveryKind(kind) })),
  };
}

/** Amounts of a row are cents, those of a form USD. */
function factsOf({ kind, doc, must, min, max, maxLength, choices, defaults, item }: AnyField) {
  const unit = kind === 'money' ? 100 : 1;
  return {
    kind,
    doc,
    must,
    min: min === undefined ? undefined : min / unit,
    max: max === undefined ? undefined : max / unit,
    maxLength,
    choices: choices ?? item?.choices,
    defaults,
  };
}

function commandOf(name: string, fields: readonly PageField[], commands: readonly Command[]): PageCommand {
  const other = OTHERWISE[name] ?? {};
  const found = commands.find(({ operation }) => operation === name);
  if (found === undefined && other.words === undefined) throw new Error(`${name}: no command does the same`);
  const own = found === undefined ? {} : wordsOf(found, fields);
  return { words: '', args: [], flags: {}, ...own, ...other };
}

/** Arguments stand for the parameters of the path in their order, or for the field of their name. */
function wordsOf({ path, args, flags, row }: Command, fields: readonly PageField[]): PageCommand {
  const { params = {}, query = {}, body = {} } = row ?? {};
  const inPath = Object.keys(params);
  const named = (name: string) => fields.some(field => field.name === name);
  const own = Object.entries({ ...params, ...query, ...body });
  const given = flags.flatMap(({ key, name, field }): [string, string][] => {
    const [of = key] = own.find(([, each]) => each === field) ?? [];
    return named(of) ? [[of, name]] : [];
  });
  const places = args.flatMap(({ key }, nth) => inPath[nth] ?? (named(key) ? key : []));
  return { words: path, args: places, flags: Object.fromEntries(given) };
}
