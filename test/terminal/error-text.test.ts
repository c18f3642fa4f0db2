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
  test('the wallet is too low', () => {
    expect(errorText(POOR)).toBe(`error: the wallet is too low: $5,000.00 asked, $1,204.10 there, $3,795.90 short
  card_7 is unchanged at $120.00.
  try: cardwright cards fund card_7 --amount 1204.10
insufficient_funds (400), request req_91
`);
  });

  test('no answer came', () => {
    const error = new CliError('outcome_unknown', {
      message: 'sent, and no answer came in 30 s: the card may exist or not',
      notes: ['Do not run the command again; that could make a second card.'],
      hint: 'cardwright ops resume op_13        asks again with the same key',
      outcome: 'unknown',
    });
    expect(errorText(error)).toBe(`error: sent, and no answer came in 30 s: the card may exist or not
  Do not run the command again; that could make a second card.
  try: cardwright ops resume op_13        asks again with the same key
`);
  });

  test('an unknown command points to help', () => {
    const message = 'unknown command "card". Did you mean "cards"?';
    expect(errorText(new CliError('usage', { message, hint: 'cardwright --help', outcome: 'not_sent' }))).toBe(
      'error: unknown command "card". Did you mean "cards"?\nSee: cardwright --help\n',
    );
  });

  test('details into a pipe', () => {
    const error = new CliError('not_confirmed', {
      message: 'card details are written to a pipe only when asked for by name',
      notes: ['to one command:      cardwright cards exec card_7 -- ./checkout.sh'],
      outcome: 'not_sent',
    });
    expect(errorText(error)).toBe(`error: card details are written to a pipe only when asked for by name
  to one command:      cardwright cards exec card_7 -- ./checkout.sh
No request was sent.
`);
  });

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
