/** Values of JSON, and copies of objects. */

/** Values by their names, as an object of JSON has them. */
export type Values = Readonly<Record<string, unknown>>;

/** Whether a value of JSON is an object: not an array, not null. */
export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined for what is none. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What is given of an object. */
export function withoutUndefined(object: object): Values {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** A copy with one property changed. Getters stay getters: Node's own streams are opened only when they are needed. */
export function replaced<T extends object, K extends keyof T>(original: T, name: K, value: T[K]): T {
  const parts = { ...Object.getOwnPropertyDescriptors(original), [name]: { value, enumerable: true } };
  return Object.defineProperties({}, parts) as T;
}

/** Adds an item to the list of its key. */
export function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [item]);
  else known.push(item);
}
