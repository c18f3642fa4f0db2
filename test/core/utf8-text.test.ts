import { expect, it } from 'vitest';
import { Utf8Reader } from '../../src/core/text.ts';

/** What is said of bytes that come in pieces of this size. */
function refused(bytes: Buffer, size: number): string {
  const reader = new Utf8Reader('cards.csv');
  try {
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    reader.end();
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return 'read';
}

it.each([
  ['an umlaut', Buffer.from('id,label\n1,Käse\n2,caf\xe9\n3,na\xefve\n', 'latin1'), 2],
  [
    'behind UTF-8',
    Buffer.concat([Buffer.from('id,label\n1,Käse €\n2,caf'), Buffer.from('\xe9\n3,\xef\n', 'latin1')]),
    3,
  ],
  ['a curly quote that begins the text', Buffer.from('\x93id\x94,label\n1,\xe9\n', 'latin1'), 1],
  ['at the end of a line and of the text', Buffer.from('id\n1\n2,caf\xe9', 'latin1'), 3],
])('names the first line that is not UTF-8, wherever pieces end: %s', (_, bytes, line) => {
  for (let size = 2; size <= bytes.length; size += 1)
    expect([size, refused(bytes, size)]).toEqual([
      size,
      `cards.csv is not UTF-8 text (line ${line}); save it as UTF-8 and try again`,
    ]);
});
