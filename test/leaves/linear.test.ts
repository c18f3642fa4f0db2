/**
 * Foreign text costs what it is long, whatever it is made of (docs/design/security.md, G7, K12). Each piece is repeated
 * to sixty kilobytes: whoever looks at it once is done in milliseconds, a pattern that starts over at each of its
 * characters is not within a minute.
 */
import { expect, test } from 'vitest';
import { csvRecords, readJsonLine } from '../../src/bulk/input.ts';
import { tokenize } from '../../src/cli/completion/complete.ts';
import { parseTimeWord } from '../../src/cli/parsing/values.ts';
import { findRows, readSingle } from '../../src/client/decode.ts';
import { readErrorBody } from '../../src/client/errors.ts';
import { createRedactor } from '../../src/client/redact.ts';
import { readBody } from '../../src/client/request.ts';
import { retryAfterMs } from '../../src/client/wire.ts';
import { explainMismatch, matchSignature } from '../../src/contract/signature/signature.ts';
import { parseAmount } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import { shellWord } from '../../src/core/shell-quote.ts';
import { guardFormula, unguardFormula } from '../../src/core/text.ts';
import { readEvent } from '../../src/events/listener.ts';
import { withoutCommands } from '../../src/terminal/ci-commands.ts';
import { printable, printableJson } from '../../src/terminal/printable.ts';
import { processorMs } from '../support/processor-time.ts';

const LENGTH = 60_000;
/** A machine with much else to do takes three seconds for some. */
const LIMIT_MS = 15_000;

const PIECES = [
  'a',
  ' ',
  '\t\n',
  '"',
  '\\',
  '\\"',
  '[',
  '{"a":',
  '<title',
  '<html><title>',
  '-1',
  '0',
  '4111 ',
  '4111-1111-1111-1111',
  ',',
  '""',
  "'",
  'sk_test_',
  'Bearer ',
  'Bearer\n',
  '"pan" ',
  '"cvv":"',
  '::',
  '##[',
  '=',
  '0,',
  'v1=',
  '\u200d👨',
  '\u001b[',
  'no trustworthy answer came back: ',
] as const;

const secrets = [new Secret('whsec_one'), new Secret('whsec_two')];
const bytesOf = (text: string) => new TextEncoder().encode(text);
const redactor = createRedactor();

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  printable,
  printableJson,
  withoutCommands,
  redacted: text => redactor.text(text),
  'a word of a shell': shellWord,
  'a guarded cell': text => unguardFormula(guardFormula(text)),
  'an amount': text => parseAmount(text, { grouped: true }),
  'a time': text => parseTimeWord(text, 0),
  'a command line': text => tokenize(text.slice(0, 20_000)),
  'a line of NDJSON': text => [readJsonLine(text), readJsonLine(`{"a":"${text}`), readJsonLine(`{"a":${text}`)],
  CSV: text => [...csvRecords(`a,b\n"${text}`)],
  'a body': text => [
    readBody({ headers: {}, bytes: bytesOf(text) }),
    readBody({ headers: { 'content-type': 'text/html' }, bytes: bytesOf(text) }),
  ],
  'an error': text => readErrorBody({ error: text, message: text }),
  'a header': text => retryAfterMs({ 'retry-after': text, date: text }, 'retry-after'),
  'a signature': text => matchSignature(bytesOf('{}'), text, secrets),
  'a payload': text => [explainMismatch(bytesOf(text), '0'.repeat(64), secrets), readEvent(bytesOf(text), {})],
};

test.each(Object.keys(READERS))('%s', reader => {
  const slow = PIECES.filter(piece => {
    const took = processorMs(() => {
      try {
        READERS[reader]?.(piece.repeat(Math.ceil(LENGTH / piece.length)));
      } catch {
        // A refusal is as good as an answer here.
      }
    });
    return took > LIMIT_MS;
  });
  expect(slow).toEqual([]);
});

test('objects and lists of 100,000 members', () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`member_${index}`, index]));
  const took = processorMs(() => {
    readSingle(wide, source => ({ value: source, problems: [], warnings: [] }) as never);
    readErrorBody(wide);
    findRows(wide, {});
    findRows({ ...wide, data: Array.from({ length: 100_000 }, () => ({})) }, {});
  });
  expect(took).toBeLessThan(LIMIT_MS);
});
