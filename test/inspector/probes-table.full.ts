/** The forty probes, each of which a test tries. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const FILES = ['sandbox/page/door.test.ts', 'inspector/browser-probes.full.ts', 'inspector/outside-text.full.ts'];

/** What is tried, in the order of their numbers. */
const PROBES = [
  'the page before any ticket',
  'the page of a sandbox without a port',
  'Host of another name',
  'Host localhost',
  'Host without a port',
  'two Hosts',
  'an absolute target',
  'HTTP/1.0',
  'a name that resolves to 127.0.0.1 loads the page',
  'the same, changed after loading, asks for data',
  'the same redeems a ticket',
  'another origin: fetch with credentials',
  'another origin: fetch with no-cors',
  'another origin: script, style, img, video, preload',
  'another origin: EventSource',
  'another origin: WebSocket',
  'another origin: frame, object, embed',
  'another origin: an opened window',
  'an existing card and an unknown one told apart',
  'another origin writes text/plain',
  'another origin writes JSON with a preflight',
  'another origin sends a beacon',
  'another origin submits a form',
  'the method by a header or the query',
  'a cookie of our name from another port',
  'a ticket twice',
  'a ticket after 60 s',
  'a ticket after ten wrong ones',
  'a ticket in the query',
  'the cookie alone',
  'the half alone',
  'halves of two sessions',
  'a session after its end',
  'a key or the admin token as ticket, cookie or half',
  'a session that may only look on every row that changes or reveals',
  'a session on the service and on closed rows',
  'hostile text in every field',
  'hostile text through copied commands in shells',
  'code and connections that came in some other way',
  'canary secrets in documents, addresses, titles, storages, logs',
];

it('has a test for each of the forty', () => {
  const texts = FILES.map(file => readFileSync(join(import.meta.dirname, '..', file), 'utf8')).join('\n');
  const tried = new Set([...texts.matchAll(/^ *it\('(\d[^']*)'/gm)].flatMap(([, title = '']) => numbersIn(title)));
  expect(PROBES.filter((_, nth) => !tried.has(nth + 1))).toEqual([]);
});

/** The probes that the title of a test names: `17 and 18: …`, `12 to 25, as …`. */
function numbersIn(title: string): readonly number[] {
  const [, first, word, last] = /^(\d+)(?: (and|to) (\d+))?[:,]/.exec(title) ?? [];
  const [from, to] = [Number(first), Number(last ?? first)];
  if (word === 'and') return [from, to];
  return Array.from({ length: to - from + 1 }, (_, nth) => from + nth);
}
