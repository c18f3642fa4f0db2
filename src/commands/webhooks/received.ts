/** How a received event is shown. */
import { type Answers, maybe, orNull, tells } from '../../cli/answer-fields.ts';
import { dollars, toCents } from '../../core/money.ts';
import type { Counts, ReceivedEvent } from '../../events/listener.ts';
import { timeOfDay } from '../../terminal/times.ts';
import type { Column } from '../../terminal/view.ts';

export const RECEIVED_COLUMNS: readonly Column[] = [
  { field: 'id', title: 'EVENT ID', kind: 'id', priority: 1 },
  { field: 'type', title: 'EVENT', kind: 'word', priority: 1 },
  { field: 'data.id', title: 'OBJECT', kind: 'id', priority: 2 },
  { field: 'created_at', title: 'WHEN', kind: 'time', priority: 3 },
  { field: 'out_of_order', title: 'OUT OF ORDER', kind: 'boolean', priority: 4 },
];

/** `14:05:12  card.funded  card_7  active  $25.00  evt_9`; never a code. */
export function eventLine({ id, type, data, received_at, out_of_order: isLate }: ReceivedEvent): string {
  const fields = typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  const amount = [fields['amount'], fields['balance']].find(each => typeof each === 'number');
  const parts = [
    timeOfDay(Date.parse(received_at)),
    type || '(no type)',
    fields['id'],
    fields['merchant'],
    fields['status'],
  ];
  if (typeof amount === 'number' && Number.isSafeInteger(Math.round(amount * 100)))
    parts.push(dollars(toCents(amount)));
  parts.push(id);
  if (isLate) parts.push('out of order: it happened before one above');
  return parts.filter(part => typeof part === 'string' && part !== '').join('  ');
}

/** Codes in an event, to be hidden in logs. */
export function codesIn({ data }: ReceivedEvent): string[] {
  const otp = (data as { readonly otp?: unknown } | null | undefined)?.otp;
  return typeof otp === 'string' && otp !== '' ? [otp] : [];
}

/** `12 events, 3 repeated, 1 out of order in 3m04s.` */
export function footerOf(counts: Readonly<Counts> | undefined, took: string): string {
  if (counts === undefined) return '';
  const { events, duplicates, out_of_order: late, refused } = counts;
  const more = [
    duplicates > 0 && `${duplicates} repeated`,
    late > 0 && `${late} out of order`,
    refused > 0 && `${refused} refused`,
  ];
  return `${[`${events} ${events === 1 ? 'event' : 'events'}`, ...more].filter(Boolean).join(', ')} in ${took}.`;
}

/** An event as it was received. */
export const EVENT_ROW = {
  id: tells.text('The event; the same in every delivery of it.'),
  type: tells.text('Its name.'),
  created_at: maybe(orNull(tells.time('When it happened, as the service says.'))),
  data: maybe(tells.json('The object it is about.')),
  received_at: tells.time("When it came, by this machine's clock."),
  out_of_order: tells.yes('Whether it happened before one that was shown already.'),
} as const;

export const LISTEN_ANSWERS: Answers = {
  either: [
    {
      list: EVENT_ROW,
      page: {
        events: maybe(tells.count('Events that were shown.')),
        duplicates: maybe(tells.count('Deliveries of events shown already.')),
        out_of_order: maybe(tells.count('Events out of order.')),
        refused: maybe(tells.count('Deliveries with a wrong signature.')),
        unwished: maybe(tells.count('Deliveries of other kinds.')),
        forwarded: tells.count('Deliveries that were passed on.'),
        not_forwarded: tells.count('Deliveries that could not be passed on.'),
      },
    },
    { one: { ended: tells.texts('Subscriptions that were ended, with --reap.') } },
  ],
};
