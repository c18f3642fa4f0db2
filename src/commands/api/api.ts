import type { Context } from '../../cli/context.ts';
import { pagedListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, lettered, local, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { choice, flag, map, text } from '../../contract/field.ts';
import { matchOperation, revealsSecret } from '../../contract/matching.ts';
import type { RawAnswer } from '../../contract/operation.ts';
import { CliError } from '../../core/errors.ts';
import { RAW_BODY_BYTES } from '../../core/input-limits.ts';
import { printableJson } from '../../terminal/printable.ts';
import type { Listing, Row } from '../../terminal/view.ts';
import { intent, intentNamed, withIntent } from '../cards/intent-flag.ts';
import { idempotencyKey } from '../cards/key-flag.ts';
import { inputOf, isWriteName, secretMember, shownResult } from './operation-input.ts';
import { type RawCall, rawCallFrom } from './raw-call.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const;
const of = (doc: string) => ({ doc, basis: OURS });

/** The way to what no command of ours does, through the same client, guards and journal. */
export const api = command({
  path: 'api',
  summary: 'Send a raw request, with the same guards, journal and retries',
  about: [
    'The path is added to the base address; no other host is contacted. Fields become the JSON body, or the query of a GET. --input is sent byte for byte.',
    'A card that is created carries no marker of the journal unless --marker adds the metadata key cardwright: when its answer is lost, it cannot be looked for, and the outcome is unknown (11).',
    'A change that is an operation of the contract is handled like its own command: confirmed, journaled and retried in the same way. Any other change is treated as moving money: it is journaled, sent once and never repeated. If no trustworthy answer comes, it ends with 11.',
    'With --intent a change that was carried out before is not sent again. Of an unknown operation its answer is not kept, so only the intent is shown.',
    'Card numbers, codes and secrets are removed from every answer. Card details are refused here; use cards details.',
  ],
  operation: 'api.write',
  answers: { any: 'What the service answered; with --paginate {data, page}, with -i {status, headers, body}.' },
  args: {
    method: argument(choice(METHODS, of('HTTP method.'))),
    path: argument(text(of('Path below the base address, /cards for example.'))),
  },
  flags: {
    field: lettered('f', option(map(of('A text field.')), '<key=value>')),
    typed: lettered('F', option(map(of('A JSON field: a number, a list, null.')), '<key:=json>')),
    input: option(local('file', 'File with the JSON body; - for standard input.'), '<file>'),
    paginate: option(flag(of('Merge all pages of a list.'))),
    include: lettered('i', option(flag(of('Also print status and headers.')))),
    intent,
    idempotencyKey,
    marker: option(flag(of('Add the metadata key cardwright to a card that is created, to find it again.'))),
  },
  examples: [
    { does: 'A list as the service answers it', run: 'api GET /cards -f status=active' },
    { does: 'The ids of all pages', run: "api GET /cards --paginate --jq '.data[].id'" },
    { does: 'Status and headers too', run: 'api GET /bins -i' },
    { does: 'A change, shown before it is sent', run: 'api POST /cards/card_1/fund -F amount:=25 --dry-run' },
  ],
  async run(
    ctx,
    { method, path, field = {}, typed = {}, input: file, paginate, include, intent: name, idempotencyKey: key, marker },
  ) {
    const input = file === undefined ? undefined : await bodyText(ctx, file);
    const values = typed as Readonly<Record<string, string>>;
    const asked = rawCallFrom({ method, path, texts: field as typeof values, values, input });
    if (revealsSecret(asked.path, await ctx.overrides())) throw gated();
    if (method !== 'GET') {
      if (paginate) throw usage('--paginate reads a list; it goes with GET');
      const intentName = intentNamed(name);
      return change(ctx, asked, { key, intentName, include: include === true, marker: marker === true });
    }
    if (name !== undefined) throw usage('--intent is for changes; a GET does not need one');
    if (key !== undefined) throw usage('--idempotency-key is for changes; a GET does not need one');
    if (marker) throw usage(MARKER_USE);
    const whole = `${asked.path}${asked.query}`;
    if (!paginate) {
      const answer = await ctx.read('api.read', { method, path: whole });
      return { ...answerOf(ctx, answer, include === true), isRead: true };
    }
    if (include) throw usage('-i shows one answer, but --paginate reads several');
    const pages = (await ctx.reader()).pages('api.pages', { path: whole });
    const listing = pagedListing(pages, { noun: 'row', all: true, sorted: ctx.sorted, progress: ctx.progress });
    return { listing, isRead: true };
  },
  show: (answer: { readonly isRead?: boolean } & ({ readonly body: unknown } | { readonly listing: Listing })) => ({
    noun: 'answer',
    columns: [],
    ...(answer.isRead && { changedNothing: true }),
    ...('listing' in answer
      ? { listing: answer.listing }
      : { data: answer.body as Row, prose: printableJson(`${JSON.stringify(answer.body, undefined, 2) ?? ''}\n`) }),
  }),
});

async function bodyText(ctx: Context, file: string): Promise<string> {
  return file === '-' ? ctx.stdin.readAll(RAW_BODY_BYTES) : ctx.readFile(file);
}

const MARKER_USE = '--marker is for a request that creates a card; no other request can carry it';

interface Wishes {
  readonly key: string | undefined;
  readonly intentName: string | undefined;
  readonly include: boolean;
  readonly marker: boolean;
}

/** Sends the bytes that were given; a marker, which cannot be added to them, makes the body anew. */
async function change(ctx: Context, asked: RawCall, { key, intentName, include, marker }: Wishes) {
  const { method, path, query, body, text } = asked;
  const matched = matchOperation(asked, await ctx.overrides());
  if (matched !== undefined && isWriteName(matched.operation)) {
    const { operation } = matched;
    if (query !== '') throw usage(`${operation} takes no query`);
    if (include) throw usage(`-i shows one answer, and ${operation} may take several; remove it`);
    if (marker && operation !== 'cards.create') throw usage(MARKER_USE);
    const intent = `Send ${method} ${path} (${operation})`;
    const exact = { marker, ...(!marker && { body: text }) };
    const sent = { intent, intentName, key, ...exact };
    const { result, intent: used } = await ctx.write(operation, inputOf(operation, matched), sent);
    return { body: withIntent(shownResult(result), used) };
  }
  if (marker) throw usage(MARKER_USE);
  const secret = secretMember(body);
  if (secret !== undefined) throw usage(`the field ${JSON.stringify(secret)} is a secret and cannot be journaled`);
  const sent = { method, path: `${path}${query}`, ...(text !== undefined && { body: text }) };
  const options = { intent: `Send ${method} ${path}`, intentName, key };
  const { result, intent: used } = await ctx.write('api.write', sent, options);
  // What was answered then is not kept.
  return used?.repeated ? { body: { intent: used } } : answerOf(ctx, result, include);
}

function answerOf(ctx: Context, { status, headers, body, hidden }: RawAnswer, include: boolean): { body: unknown } {
  if (hidden > 0)
    ctx.notice(
      `${hidden === 1 ? 'a secret value was' : `${hidden} secret values were`} removed; use cards details and 3ds list`,
    );
  return { body: include ? { status, headers, body: body ?? null } : body };
}

function gated(): CliError {
  return new CliError('guarded', {
    message: 'card details are not available here: use cards details',
    hint: 'cardwright cards details --help',
    outcome: 'not_sent',
  });
}
