import { describe, expect, test } from 'vitest';
import { CliError, errorDocument } from '../../src/core/errors.ts';
import { errorLine, errorText } from '../../src/terminal/error-text.ts';

const POOR = new CliError('insufficient_funds', {
  message: 'the wallet is too low: $5,000.00 asked, $1,204.10 there, $3,795.90 short',
  notes: ['card_7 is unchanged at $120.00.'],
  hint: 'cardwright cards fund card_7 --amount 1204.10',
  outcome: 'refused',
  operation: 'cards.fund',
  httpStatus: 400,
  service: { error: 'insufficient_funds', message: 'Not enough funds', code: 400, request_id: 'req_91' },
});

describe('in words', () => {
  test("the service's sentence stands beside ours, once, and cannot act", () => {
    const service = { error: 'invalid\x1b[2J', message: 'label too long\n\u202eerror: fine', request_id: 'req_1' };
    const refused = new CliError('refused', { message: 'the label was refused', httpStatus: 422, service });
    expect(errorText(refused)).toBe(
      'error: the label was refused\n  the service says: label too long\\n\\u{202e}error: fine\ninvalid\\x1b[2J (422), request req_1\n',
    );
    const said = new CliError('refused', { message: `refused: ${service.message}`, service });
    expect(errorText(said)).not.toContain('the service says');
  });
});

test('the JSON line is one line, the same document, and safe on a terminal', () => {
  const error = POOR.with({ message: 'a\nb\u202e\x9b' });
  const line = errorLine(error);
  expect(JSON.parse(line)).toEqual(errorDocument(error));
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(line).toContain('\\u202e\\u009b');
});
