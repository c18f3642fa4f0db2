/**
 * The package that asks questions keeps the state of one in an AsyncLocalStorage. From then on Node 20 tells every promise
 * of the process to a hook, for all the files that the process serves: a tenth of their processor time. So it is turned off
 * behind each test that leaves no question open; the next question turns it on again.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, afterEach } from 'vitest';

const { run } = AsyncLocalStorage.prototype;
/** How many questions are open in each. */
const open = new Map<AsyncLocalStorage<unknown>, number>();

AsyncLocalStorage.prototype.run = function noted<R>(
  this: AsyncLocalStorage<unknown>,
  store: unknown,
  callback: (...words: unknown[]) => R,
  ...words: unknown[]
): R {
  const count = (more: number) => open.set(this, (open.get(this) ?? 0) + more);
  const close = () => void count(-1);
  count(1);
  const result = run.call(this, store, callback, ...words) as R;
  if (result instanceof Promise) result.then(close, close);
  return result;
};

afterEach(() => {
  for (const [storage, questions] of open) {
    if (questions > 0) continue;
    storage.disable();
    open.delete(storage);
  }
});

afterAll(() => {
  AsyncLocalStorage.prototype.run = run;
});
