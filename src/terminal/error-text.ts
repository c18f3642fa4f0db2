/** A failure in words and as one JSON line; both go to stderr. */
import { type CliError, type ErrorKind, errorDocument } from '../core/errors.ts';
import type { OutputStream } from '../platform/host.ts';
import { fitted } from './fold.ts';
import { printable, printableJson } from './printable.ts';
import { type ColourQuestion, colourLevel, painter, screenWidth } from './screen.ts';

/** Kinds that stop a command before its request, where a person wants to read that nothing went out. */
const STOPPED_BEFORE: ReadonlySet<ErrorKind> = new Set(['not_confirmed', 'guarded', 'pending_approval']);

/** Said where a command changes something of this machine, and asks no service. */
export const UNCHANGED = 'Nothing was changed.';

function serviceLine({ facts }: CliError): string | undefined {
  const { service, httpStatus } = facts;
  if (service === undefined) return undefined;
  const status = service.code ?? httpStatus;
  const name = service.error ?? 'service answer';
  const request = service.request_id === undefined ? '' : `, request ${service.request_id}`;
  return `${name}${status === undefined ? '' : ` (${status})`}${request}`;
}

/** The service's own sentence, unless ours already says all of it. */
function serviceSentence({ kind, facts }: CliError): string | undefined {
  const sentence = facts.service?.message;
  if (sentence === undefined || sentence === '' || kind === 'insufficient_funds') return undefined;
  return facts.message.includes(sentence) ? undefined : `  the service says: ${sentence}`;
}

/**
 * What a person reads: what failed, notes, the next command, then the service's identifier and request id
 * verbatim. Ends with a newline. Control text of the service is visible, never acting.
 */
export function errorText(error: CliError): string {
  const { message, notes = [], hint, outcome } = error.facts;
  const advice = notes.length > 0 || hint !== undefined;
  const lines = [
    `error: ${message}`,
    ...notes.map(note => `  ${note}`),
    serviceSentence(error),
    hint === undefined ? undefined : hint.endsWith('--help') ? `See: ${hint}` : `  try: ${hint}`,
    serviceLine(error),
    outcome === 'not_sent' && advice && STOPPED_BEFORE.has(error.kind) && !notes.includes(UNCHANGED)
      ? 'No change was sent.'
      : undefined,
  ];
  return lines
    .filter(line => line !== undefined)
    .map(line => `${printable(line)}\n`)
    .join('');
}

const HEAD = 'error:';

/** Text of an error as its stream shows it: in the width of a terminal, in colour where that is wanted. */
export async function errorOnScreen(text: string, where: ColourQuestion & { readonly stream: OutputStream }) {
  const { env, stream } = where;
  const cells = stream.isTerminal ? screenWidth(env, stream) : Number.POSITIVE_INFINITY;
  const { red } = await painter(colourLevel(where));
  return text
    .split('\n')
    .flatMap(line => fitted(line, cells))
    .map(line => (line.startsWith(HEAD) ? red(HEAD) + line.slice(HEAD.length) : line))
    .join('\n');
}

/** The JSON error as one line, safe on a terminal as well; it parses to `errorDocument(error)`. */
export function errorLine(error: CliError): string {
  return `${printableJson(JSON.stringify(errorDocument(error)))}\n`;
}
