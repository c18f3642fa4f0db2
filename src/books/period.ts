/** Days and periods in a time zone. Times are ms UTC; a period holds its first instant and not its last. */
import { DAY } from '../core/durations.ts';
import { usage } from '../core/errors.ts';

export interface Period {
  /** The period that was asked for: `2026-10`, `2026-Q4`, `2026`, `2026-10-03..2026-10-09`. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** Reads times as the wall of a zone shows them. Throws `usage` for a zone that the system does not know. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #zoneName: Intl.DateTimeFormat | undefined;
  readonly #offsetTexts = new Map<number, string>();
  readonly #offsets = new Map<number, number>();
  readonly #dates = new Map<number, string>();

  constructor(zone: string) {
    if (zone === 'UTC') return;
    try {
      this.#format = new Intl.DateTimeFormat('en-CA-u-hc-h23', {
        timeZone: zone,
        dateStyle: 'short',
        timeStyle: 'medium',
      });
      this.#zoneName = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'short' });
    } catch {
      throw usage(`--tz ${zone} is no time zone that this system knows, such as Europe/Berlin or UTC`);
    }
  }

  /** `2026-10-31`. */
  dateAt(ms: number): string {
    const day = Math.floor((ms + this.#offsetAt(ms)) / DAY);
    const known = this.#dates.get(day);
    if (known !== undefined) return known;
    const date = new Date(day * DAY).toISOString().slice(0, 10);
    this.#dates.set(day, date);
    return date;
  }

  /** `23:59:59`. */
  timeAt(ms: number): string {
    const local = ms + this.#offsetAt(ms);
    const seconds = Math.floor((local - Math.floor(local / DAY) * DAY) / 1000);
    const minutes = Math.floor(seconds / 60);
    return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`;
  }

  /** ms UTC of the midnight that begins a day. Where a clock jumps over it, the first instant of the day. */
  startOf(year: number, month: number, day: number): number {
    const wanted = Date.UTC(year, month - 1, day);
    const near = wanted - this.#offsetAt(wanted);
    const found = wanted - this.#offsetAt(near);
    return this.dateAt(found) < new Date(wanted).toISOString().slice(0, 10) ? near : found;
  }

  /** `[-4:EDT]`, `[5.5]`, `[0:GMT]`: hours from GMT as OFX writes them, with the name of the zone where it has one. */
  offsetText(ms: number): string {
    const quarter = Math.floor(ms / 900_000);
    const known = this.#offsetTexts.get(quarter);
    if (known !== undefined) return known;
    const hours = this.#offsetAt(ms) / 3_600_000;
    const name = this.#zoneName?.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
    const text = `[${hours}${/^[A-Z]{3,4}$/.test(name) ? `:${name}` : ''}]`;
    this.#offsetTexts.set(quarter, text);
    return text;
  }

  /** Offsets change at a quarter of an hour at the finest. */
  #offsetAt(ms: number): number {
    if (this.#format === undefined) return 0;
    const quarter = Math.floor(ms / 900_000);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const start = quarter * 900_000;
    const parts = Object.fromEntries(this.#format.formatToParts(start).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const offset = Date.UTC(year, month - 1, day, hour, minute, second) - start;
    this.#offsets.set(quarter, offset);
    return offset;
  }
}

const twoDigits = (value: number) => (value < 10 ? `0${value}` : String(value));

/** Reads `--period`; `now` is ms UTC. Throws `usage` for any other text, and for a period that ends before it begins. */
export function readPeriod(asked: string, clock: WallClock, now: number): Period {
  const today = clock.dateAt(now);
  const name = asked === 'last-month' ? monthBefore(today) : asked === 'this-month' ? today.slice(0, 7) : asked;
  const span = spanOf(name);
  if (span === undefined)
    throw usage(`--period ${name} is no period such as 2026-10, last-month, 2026-Q4, 2026 or 2026-10-01..2026-10-31`);
  const [first, last] = span;
  const from = clock.startOf(...first);
  const to = clock.startOf(...last);
  if (from < to) return { name, from, to };
  throw usage(`--period ${name} ends before it begins`);
}

/** `2026-10` for a day of November. */
function monthBefore(day: string): string {
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))];
  return month === 1 ? `${year - 1}-12` : `${year}-${twoDigits(month - 1)}`;
}

type Day = readonly [year: number, month: number, day: number];

/** First day, and the day after the last. */
function spanOf(name: string): readonly [Day, Day] | undefined {
  const [, year = '', rest = ''] = /^(\d{4})(?:-(\d{2}|Q[1-4]))?$/.exec(name) ?? [];
  if (year !== '') {
    const [month, months] =
      rest === '' ? [1, 12] : rest.startsWith('Q') ? [Number(rest[1]) * 3 - 2, 3] : [Number(rest), 1];
    if (month < 1 || month > 12) return undefined;
    return [
      [Number(year), month, 1],
      [Number(year), month + months, 1],
    ];
  }
  const [from, to] = name.split('..').map(dayOf);
  if (from === undefined || to === undefined || name.split('..').length !== 2) return undefined;
  return [from, [to[0], to[1], to[2] + 1]];
}

function dayOf(text: string): Day | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  const parts: Day = [Number(year), Number(month), Number(day)];
  // 2026-02-30 would become a day of March.
  const at = new Date(Date.UTC(parts[0], parts[1] - 1, parts[2]));
  return year !== undefined && at.toISOString().startsWith(text) ? parts : undefined;
}

/** Whether a period of which nothing is pending may still change: refunds and late settlements come within 35 days. */
export function isPast({ to }: Period, now: number): boolean {
  return now - to >= 35 * DAY;
}
