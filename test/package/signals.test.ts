import { describe, expect, it } from 'vitest';
import { CARD, json, type Served, serve, WALLET } from '../client/served.ts';
import { ended, home } from './built.ts';

/** A service that never answers one method, and the moment it was asked to; the other questions it answers. */
async function silent(method: 'GET' | 'POST'): Promise<Served & { readonly asked: Promise<void> }> {
  const { promise, resolve } = deferred();
  const service = await serve((seen, response) => {
    if (seen.method === method) resolve();
    else json(response, 200, seen.url.endsWith('/wallet') ? WALLET : CARD);
  });
  return { ...service, asked: promise };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>(done => {
    resolve = done;
  });
  return { promise, resolve };
}

describe('a signal during a request', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends it with %i, a message and no stack', async (name, code) => {
    await using place = await home();
    await using service = await silent('GET');
    const child = place.start(['cards', 'list', '--json'], { baseUrl: service.baseUrl });
    const end = ended(child);
    await service.asked;
    child.kill(name);
    const { out, err, ...how } = await end;
    expect({ out, ...how }).toEqual({ out: '', code, signal: null });
    expect(JSON.parse(err)).toMatchObject({ error: { exit_code: code } });
    expect(err).not.toMatch(/\n\s+at /);
  });

  it('cuts a write off at the second one: exit 11, and the journal knows of it', async () => {
    await using place = await home();
    await using service = await silent('POST');
    const child = place.start(['cards', 'fund', 'card_1', '--amount', '5', '--json'], { baseUrl: service.baseUrl });
    const end = ended(child);
    await service.asked;
    // Two different ones: the system may make one of two equal signals.
    child.kill('SIGINT');
    child.kill('SIGTERM');
    const { code, signal, out, err } = await end;
    expect({ code, signal, out }).toEqual({ code: 11, signal: null, out: '' });
    expect(err).not.toMatch(/\n\s+at /);
    const { error } = JSON.parse(err.trimEnd().split('\n').at(-1) ?? '');
    expect(error).toMatchObject({ kind: 'outcome_unknown', outcome: 'unknown', operation: 'cards.fund' });
    const show = await ended(place.start(['ops', 'show', error.op, '--json'], { baseUrl: service.baseUrl }));
    expect(JSON.parse(show.out)).toMatchObject({ state: 'unknown' });
    expect(show.out).toContain('stopped before the answer');
  });
});
