/** `sandbox open`: a private file leads a browser to the page, and only a session that was made counts as opened. */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { served } from '../support/served-sandbox.ts';
import { world } from '../support/world.ts';

/** What `xdg-open` leads to: it keeps what it was given, and redeems the ticket as the page does. */
const BROWSER = `#!${process.execPath}
const { readFileSync, statSync, writeFileSync } = require('node:fs');
const { fileURLToPath } = require('node:url');
const file = fileURLToPath(process.argv[2]);
const [, address] = /url=([^"]+)/.exec(readFileSync(file, 'utf8'));
const { origin, hash } = new URL(address.replaceAll('&amp;', '&'));
const [, ticket] = /#t=([^&]+)/.exec(hash);
const mode = (statSync(file).mode & 0o777).toString(8);
writeFileSync(__dirname + '/seen.json', JSON.stringify({ argv: process.argv.slice(2), mode, hash: hash.replace(ticket, 'TICKET') }));
const asked = require('node:http').request(origin + '/_sandbox/v1/page/session', {
  method: 'POST',
  headers: {
    origin,
    'content-type': 'application/json',
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'same-origin',
  },
});
asked.on('response', answer => answer.resume().on('end', () => writeFileSync(__dirname + '/redeemed', '')));
asked.end(JSON.stringify({ ticket }));
`;

it('opens a browser by a private file that is gone afterwards', async () => {
  await using here = await world();
  const bin = join(here.folder, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'xdg-open'), BROWSER);
  await chmod(join(bin, 'xdg-open'), 0o755);
  await using _server = await served(here, 'sandbox start --json');
  expect(await here.run('sandbox open cards --json', { programFolders: [bin] })).toMatchObject({
    code: 0,
    out: expect.stringContaining('"opened": true'),
  });
  const seen = JSON.parse(await readFile(join(bin, 'seen.json'), 'utf8'));
  expect(seen).toMatchObject({ mode: '600', hash: '#t=TICKET&to=%2Fcards' });
  expect(seen.argv).toEqual([expect.stringMatching(/^file:\/\/\/.*\/inspector-[0-9a-f]{16}\.html$/)]);
  const left = await readdir(here.folder, { recursive: true });
  expect(left.filter(name => name.includes('inspector-'))).toEqual([]);
  expect(JSON.parse((await here.run('sandbox open --end --json')).out)).toEqual({ opened: false, ended: 1 });
});
it('says what to do where there is no browser, no sandbox, or no such view', async () => {
  await using here = await world();
  const none = await here.run('sandbox open');
  expect([none.code, none.err]).toEqual([12, expect.stringContaining('try: cardwright sandbox start --detach')]);
  expect((await here.run('sandbox open nowhere')).code).toBe(2);
  await using _server = await served(here, 'sandbox start --json');
  for (const id of ['card_nowhere', 'txn_nowhere', 'req_nowhere', 'dlv_nowhere'])
    expect([id, (await here.run(`sandbox open ${id} --print`)).code]).toEqual([id, 5]);
  const { code, err } = await here.run('sandbox open');
  expect([code, err]).toEqual([12, expect.stringContaining('try: cardwright sandbox open --print')]);
  const printed = await here.run('sandbox open --print --json');
  expect(JSON.parse(printed.out)).toMatchObject({
    opened: false,
    url: expect.stringMatching(/\/_sandbox\/#t=[\w-]{32}&to=%2F$/),
  });
});
