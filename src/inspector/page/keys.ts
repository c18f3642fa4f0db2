/** Keys of the page: letters for the views, rows by `j` and `k`. None of them in a field or with a modifier. */
const OFF = 'keys-off';

/** Letters get in the way of who speaks to a computer: they can be switched off, but for `?`. */
export const keysAreOn = (): boolean => localStorage.getItem(OFF) === null;

export function switchKeys(on: boolean): void {
  if (on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, '1');
}

interface Doing {
  /** Addresses by their letters. */
  readonly letters: ReadonlyMap<string, string>;
  readonly help: () => void;
  readonly close: () => void;
}

export function onKey(event: KeyboardEvent, { letters, help, close }: Doing): void {
  const { key, ctrlKey, altKey, metaKey, target } = event;
  if (!keysAreOn() && key !== '?' && key !== 'Escape') return;
  if (ctrlKey || altKey || metaKey || (target as HTMLElement).closest('input, select, textarea') !== null) return;
  const address = letters.get(key);
  if (address !== undefined) location.hash = address;
  else if (key === '/') focusOn('#search');
  else if (key === 'j' || key === 'k') step(key === 'j' ? 1 : -1);
  else if (key === 'p') focusOn('form[data-form="simulate.authorize"] input');
  else if (key === 'y') document.querySelector<HTMLElement>('[data-command] button')?.click();
  else if (key === '?') help();
  else if (key === 'Escape') close();
  else return;
  event.preventDefault();
}

function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

/** Rows that have an address; the link in one is what Enter opens. */
function step(by: number): void {
  const rows = [...document.querySelectorAll('[data-row]')];
  const links = rows.flatMap(row => row.querySelector<HTMLElement>('a') ?? []);
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}
