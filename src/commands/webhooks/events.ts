import { tells } from '../../cli/answer-fields.ts';
import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { basisText } from '../../contract/basis.ts';
import { EVENTS } from '../../contract/events.ts';
import { NAMED_SHAPES } from '../../contract/named-shapes.ts';

/** The catalogue of events, from the contract. Nothing is sent. */
export const listEvents = command({
  path: 'webhooks events',
  summary: 'List the events of the service, and what they carry (offline)',
  answers: {
    list: {
      name: tells.text('Event.'),
      meaning: tells.text('When it is sent.'),
      object: tells.text('What it is about.'),
      basis: tells.text('Where it is known from.'),
    },
  },
  examples: [
    { does: 'All of them', run: 'webhooks events' },
    { does: 'Names for a script', run: 'webhooks events -o id' },
  ],
  async run() {
    const data = Object.entries(EVENTS).map(([name, { meaning, data: shape, basis }]) => {
      const named = NAMED_SHAPES.find(each => each.shape === shape && each.use === 'answer');
      return { name, meaning, object: named?.name ?? null, basis: basisText(basis) };
    });
    return wholeListing({ data, page: {} }, { noun: 'event' });
  },
  show: listing => ({
    listing,
    noun: 'event',
    idField: 'name',
    columns: [
      { field: 'name', title: 'EVENT', kind: 'id', priority: 1 },
      { field: 'object', title: 'CARRIES', kind: 'word', priority: 2 },
      { field: 'meaning', title: 'MEANING', kind: 'text', priority: 3, shrink: 'wraps' },
      { field: 'basis', title: 'KNOWN FROM', kind: 'text', priority: 4, wideOnly: true },
    ],
  }),
});
