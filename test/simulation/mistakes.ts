/**
 * Mistakes that are planted, each of which the simulator must find within 2,000 seeds. Those of a `seam` are made around the
 * program, as code behind it would make them, and outlive any rewriting. The others exchange one text of one file; when it
 * moves, they are pointed at its new place.
 */
import type { Process, Seam } from './platform.ts';
import type { Exchange } from './program.ts';

export interface Mistake {
  readonly name: string;
  readonly seam?: Seam;
  readonly exchanges?: readonly Exchange[];
}

/** An answer with another status and word. */
function saying(status: number, error: string): string {
  const body = JSON.stringify({ error, message: `no: ${error}`, code: status, request_id: 'req_said' });
  return `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const isChange = (asked: string) => !asked.startsWith('GET ');

/** Answers to changes that fit are told as a no. */
const tellsNo = (pattern: RegExp, status: number, error: string): Seam => ({
  arrives: (text, asked) => (isChange(asked) && pattern.test(text) ? saying(status, error) : text),
});

/** Readings that were shown to this process before. */
const shown = new WeakMap<Process, Map<string, string>>();

const MONEY = /^cards (?:create|fund|withdraw) /;

export const MISTAKES: readonly Mistake[] = [
  {
    name: 'a new key each time something is sent',
    seam: {
      leaves: (text, { chance }) =>
        text.replace(
          /(x-idempotency-key: \w{8})\w{8}/i,
          (_, head) => `${head}${String(chance.below(1e8)).padStart(8, '0')}`,
        ),
    },
  },
  { name: 'the connection sends a lost request again', seam: { resends: true } },
  {
    name: 'the marker does not reach the service',
    seam: { leaves: text => text.replace('"cardwright"', '"card_right"') },
  },
  { name: 'a plan that is written after the send', seam: { forgets: true } },
  { name: 'an op is acknowledged before its answer is written', seam: { goesOn: true } },
  { name: 'a lock and a lease that are not checked', seam: { seesNobody: true } },
  { name: 'keys are believed to be honoured', seam: { believesKeys: true } },
  { name: 'too many requests is taken for a no', seam: tellsNo(/^HTTP\/1.1 429/, 400, 'invalid_request') },
  {
    name: 'a page of something on the way is taken for a no',
    seam: tellsNo(/^HTTP\/1.1 403[^{]*<html>/, 403, 'forbidden'),
  },
  { name: 'an error of the service is taken for a no', seam: tellsNo(/^HTTP\/1.1 50\d/, 400, 'invalid_request') },
  {
    name: 'a no in a 200 is taken for a no',
    seam: tellsNo(/^HTTP\/1.1 200[\s\S]*(?:failed|declined|false)/, 400, 'invalid_request'),
  },
  {
    name: 'a conflict is taken for a wallet that is too low',
    seam: tellsNo(/^HTTP\/1.1 4(?:09|22)/, 400, 'insufficient_funds'),
  },
  {
    name: 'a look sees what was seen first',
    seam: {
      arrives(text, asked, who) {
        if (isChange(asked)) return text;
        const known = shown.get(who) ?? new Map<string, string>();
        shown.set(who, known);
        if (!known.has(asked)) known.set(asked, text);
        return known.get(asked) ?? text;
      },
    },
  },
  {
    name: 'a look sees an empty list',
    seam: {
      arrives: (text, asked) =>
        /^GET \/v1\/cards\?/.test(asked) && text.startsWith('HTTP/1.1 200')
          ? saying(200, 'x')
              .replace(/\{.*/, '{"data":[]}')
              .replace(/content-length: \d+/, 'content-length: 11')
          : text,
    },
  },
  { name: 'an intent is not kept', seam: { words: line => line.replace(/ --intent \S+/, '') } },
  {
    name: 'a file may be run again and again',
    seam: { words: line => (MONEY.test(line) && line.includes('--file') ? `${line} --again` : line) },
  },
  {
    name: 'resume sends again what no look has found',
    seam: { words: line => (line.startsWith('ops resume') ? `${line} --resend-absent` : line) },
  },
  { name: 'a file is judged by its name', seam: { knowsNames: true } },
];
