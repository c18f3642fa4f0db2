import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { openJq } from '../../src/terminal/jq-filter.ts';
import { requires } from '../support/programs.ts';

const never = new AbortController().signal;

async function filtered(expression: string, value: unknown, signal = never): Promise<string> {
  await using jq = await openJq(expression, signal);
  return await jq.apply(value);
}

const CARDS = {
  data: [
    { id: 'card_1', last4: '4242', status: 'active', balance: 120, label: 'ads: search', metadata: { team: 'ads' } },
    { id: 'card_2', last4: '0005', status: 'frozen', balance: 16.99, label: '広告 "x"\t\\', metadata: {} },
    { id: 'card_3', last4: '1881', status: 'active', balance: 0.1, label: '', metadata: { team: null } },
  ],
  page: { page: 1, per_page: 25, total: 3, total_pages: 1 },
};

/** Expressions people write; what they yield is the same in jq 1.6 and later. */
const CORPUS = [
  '.',
  '.data[].id',
  '.data | length',
  '.data[0]',
  '[.data[].balance] | add',
  '.data | map(select(.status == "active")) | map(.id)',
  '.data[] | select(.balance < 20) | .id',
  '.data[] | "\\(.id) \\(.balance)"',
  '.data[] | [.id, .last4, .balance] | @tsv',
  '.data[] | [.id, .label] | @csv',
  '.data | sort_by(.balance) | .[].id',
  '.data | group_by(.status) | map({status: .[0].status, count: length})',
  '.data | map({(.id): .balance}) | add',
  '.data[].metadata.team // "none"',
  '.data | max_by(.balance) | .id',
  '.data[] | .label | @json, @base64, @uri, @sh',
  '.data | to_entries | map(.key)',
  '.page.total == (.data | length)',
  '[.data[] | .last4 | tonumber] | sort',
  '.data | any(.balance > 100), all(.balance > 100)',
  '.data[1].label | length, ascii_downcase, explode',
  'reduce .data[] as $card (0; . + $card.balance)',
  '[limit(2; .data[].id)] | join(",")',
  '.data | first, last | .id',
  'def total: map(.balance) | add; .data | total | floor',
  '.data[] | if .balance > 50 then "rich" elif .balance > 1 then "fine" else "poor" end',
  'try (.data.id) catch "no"',
  '.data[].id?, .nothing?.at.all',
  'path(..) | map(tostring) | join("/")',
  '[paths(type == "number")] | length',
  '.data[0] | keys, has("id"), del(.metadata)',
  '.data[2] | to_entries[] | select(.value == "") | .key',
  '-(.data[0].balance)',
  'empty',
  '"a", "", null, true',
  '.data | map(.label) | unique | length',
  '[.data[].id | test("^card_[12]$")]',
  '"2026-11-20T14:03:11Z" | fromdate',
  '[range(0; 5; 2)]',
  '# a comment\n.data[0].id',
];

describe('--jq', () => {
  it.skipIf(requires('jq'))('yields what jq itself does', async () => {
    // One program of all, for a start of either takes a while; each is told apart by a line of its own.
    const all = CORPUS.map(expression => `${JSON.stringify(expression)}, (${expression || '.'}\n)`).join(',\n');
    const theirs = spawnSync('jq', ['-r', all], { input: JSON.stringify(CARDS), encoding: 'utf8' });
    expect(theirs.stderr).toBe('');
    expect(await filtered(all, CARDS)).toBe(theirs.stdout);
  });
  it.each([
    ['.data |', /^--jq: syntax error, unexpected end of file$/],
    ['nonesuch', /^--jq: nonesuch\/0 is not defined$/],
    ['include "x"; .', /module not found: x/],
  ])('says before anything runs that it cannot read %s', async (expression, message) => {
    const failed = await openJq(expression, never).catch(error => error);
    expect(failed).toMatchObject({ kind: 'usage', facts: { message: expect.stringMatching(message) } });
    expect(failed.facts.outcome).toBe('not_sent');
  });

  it('shows nothing of this process: no variable, no file, no stream', async () => {
    const seen = await filtered('$ENV.PATH, env.HOME, ($ENV | has("NODE_ENV")), input_filename', {});
    expect(seen).toBe('/\n/home/web_user\nfalse\ninputString\n');
    expect(await filtered('"quiet" | debug | stderr | empty', {})).toBe('');
  });

  it('ends with the signal, whatever the expression does', async () => {
    const stopping = new AbortController();
    await using jq = await openJq('def forever: forever; forever', stopping.signal);
    const filtering = jq.apply({});
    stopping.abort(new Error('stopped by Ctrl-C'));
    await expect(filtering).rejects.toThrow('stopped by Ctrl-C');
  });
});
