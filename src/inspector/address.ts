/** Where the page is: behind `#`, so that no address reaches the server and every view survives a reload. */
import { pageAddress } from '../contract/sandbox/page-views.ts';
import { useLayoutEffect, useState } from './elements.ts';

export interface Address {
  /** The first word: `cards`; empty for the overview. */
  readonly view: string;
  /** What follows it: an id. */
  readonly id: string | undefined;
  readonly filters: Readonly<Record<string, string>>;
}

export function addressIn(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const [, view = '', id] = path.split('/').map(decoded);
  return { view, id: id === '' ? undefined : id, filters: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type Filters = Readonly<Record<string, string>>;

/** The address of a view, of one thing of it by its id, or of those that filters leave; empty filters are left out. */
export function addressOf(view: string, of: string | Filters = {}, more: Filters = {}): string {
  const [id, filters] = typeof of === 'string' ? [`/${encodeURIComponent(of)}`, more] : ['', of];
  const given = Object.entries(filters).filter(([, value]) => value !== '');
  return `#/${view}${id}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
}

/** Another filter of the same view, without a step of the history. */
export function refine(address: string): void {
  history.replaceState(history.state, '', address);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useAddress(): Address {
  const [place, setPlace] = useState(addressIn(location.hash));
  useLayoutEffect(() => {
    const listener = () => setPlace(addressIn(location.hash));
    window.addEventListener('hashchange', listener);
    return () => window.removeEventListener('hashchange', listener);
  }, []);
  return place;
}

/** The view of an id: those of the sandbox say what they are (A-130). */
export function addressOfId(id: string): string | undefined {
  const place = /^[a-z]+_\w+$/.test(id) ? pageAddress(id) : undefined;
  return place === undefined ? undefined : `#${place}`;
}
