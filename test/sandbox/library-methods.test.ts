/** The typed methods of `startSandbox()`: each row of the control surface has one, and it asks what the row says. */
import { expect, it } from 'vitest';
import { ADMIN_OPERATIONS } from '../../src/contract/sandbox/admin.ts';
import { ADMIN_METHODS, OF_STARTED } from '../../src/contract/sandbox/methods.ts';
import { sandboxMethods } from '../../src/sandbox/serving/library.ts';
import type { RunningSandbox } from '../../src/sandbox/serving/library-types.ts';

type Asked = readonly [method: string, path: string, body: object | undefined];
type Method = (input?: object) => Promise<unknown>;

/** A control surface that notes what it is asked. */
function noting() {
  const asked: Asked[] = [];
  const request = async (...words: readonly [string, string, object?]) => {
    asked.push([words[0], words[1], words[2]]);
    return undefined as never;
  };
  const methods = sandboxMethods({ url: '', token: '', request });
  const call = (group: string | undefined, name: string, input?: object) => {
    const holder = (group === undefined ? methods : methods[group]) as Readonly<Record<string, Method>>;
    return holder[name]?.(input);
  };
  return { asked, call, methods };
}

it('every operation has one method, but those of a server for other programs', () => {
  const served = Object.keys(OF_STARTED);
  expect(ADMIN_METHODS.map(({ operation }) => operation)).toEqual(
    Object.keys(ADMIN_OPERATIONS).filter(name => !served.includes(name)),
  );
  const places = ADMIN_METHODS.map(({ group, name }) => `${group ?? ''}.${name}`);
  expect(new Set(places).size).toBe(places.length);
  expect(places).toEqual(expect.arrayContaining(['simulate.forcePost', 'faults.list', '.reset']));
});

it('no method stands in the way of another member of the sandbox', () => {
  const own: Readonly<Record<Exclude<keyof RunningSandbox, symbol>, true>> = {
    ...{ url: true, socketPath: true, key: true, admin: true, advance: true, deliver: true, check: true, stop: true },
  };
  expect(Object.keys(noting().methods).filter(name => Object.hasOwn(own, name))).toEqual([]);
});

it.each<[string | undefined, string, object | undefined, Asked]>([
  ['clock', 'show', undefined, ['GET', '/clock', undefined]],
  ['faults', 'remove', { fault_id: 'a/b c' }, ['DELETE', '/faults/a%2Fb%20c', undefined]],
  ['faults', 'clear', undefined, ['DELETE', '/faults', undefined]],
  [
    ...(['simulate', 'settle', { authorization_id: 'auth_1', amount: 2, final: undefined }] as const),
    ['POST', '/simulate/authorizations/auth_1/settle', { amount: 2 }],
  ],
  ['simulate', 'expire', { authorization_id: 'auth_1' }, ['POST', '/simulate/authorizations/auth_1/expire', undefined]],
  ['deliveries', 'list', { state: 'failed', page: 2 }, ['GET', '/deliveries?state=failed&page=2', undefined]],
  ['requests', 'list', { idempotency_key: 'a&b=1' }, ['GET', '/requests?idempotency_key=a%26b%3D1', undefined]],
  [undefined, 'reset', { seed: 7 }, ['POST', '/reset', { seed: 7 }]],
])('%s.%s(%j) asks by its route', async (group, name, input, wanted) => {
  const { asked, call } = noting();
  await call(group, name, input);
  expect(asked).toEqual([wanted]);
});
