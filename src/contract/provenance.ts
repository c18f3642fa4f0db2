/** Every fact of the contract with where it is known from: what `contract show` lists. */

import { withoutUndefined } from '../core/objects.ts';
import { ASSUMPTION_IDS, assumption } from './assumption.ts';
import { assumed, type Basis, type Section, stated } from './basis.ts';
import { COMBINED_EXPIRY } from './card.ts';
import { ENVELOPES, FIXED_HEADERS, HEADERS } from './envelopes.ts';
import { EVENTS } from './events.ts';
import type { AnyField, ValueOf } from './field.ts';
import { LIMITS, type Limit } from './limits.ts';
import { NAMED_SHAPES, namedShape } from './named-shapes.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { fieldKey, type OperationOverride, type Overrides } from './overrides.ts';
import { maybe, tells } from './own-field.ts';
import { REFUSALS } from './refusals.ts';
import { TRANSITIONS } from './transitions.ts';
import { limitText } from './violation.ts';

/** A fact of the contract as data. */
export const FACT = {
  section: tells.text('Section of the interface, also where it only says that it is not shown.'),
  kind: tells.text('Kind of fact.'),
  name: tells.text('What it is about: card.balance, cards.freeze, cards.create amount.'),
  what: tells.text('The fact.'),
  doc: maybe(tells.text('In words.')),
  stated: maybe(tells.text('Section that states it.')),
  assumed: maybe(tells.text('Assumption that fills what is not shown.')),
  why: maybe(tells.text('What is assumed.')),
  taken: maybe(tells.text('What is taken in its place.')),
  because: maybe(tells.text('The reason.')),
  confidence: maybe(tells.text('How sure it is.')),
  variants: maybe(tells.text('Variants that are read too.')),
  override: maybe(tells.text('What holds in place of it by an override of the profile.')),
} as const;
export type Fact = ValueOf<typeof FACT> & Basis & { readonly section: Section };

/** Every fact in the order of the interface's sections; pure data, nothing is read or sent. */
export function facts(overrides: Overrides): readonly Fact[] {
  return [
    ...resourceFields(overrides),
    ...operations(overrides),
    ...transitions(),
    ...envelopes(),
    ...headers(overrides),
    ...Object.entries(EVENTS).map(([name, { meaning, data, basis }]) =>
      fact({ section: '6', kind: 'event', name, what: `carries a ${namedShape(data)?.title}`, doc: meaning }, basis),
    ),
    ...Object.entries(REFUSALS).map(([name, { status, when, basis }]) =>
      fact({ section: '7', kind: 'error', name, what: `${status}, ${when}` }, basis),
    ),
    ...Object.entries(LIMITS).map(([name, limit]) =>
      fact({ section: '8', kind: 'limit', name, what: rangeText(limit), doc: limit.about }, limit.basis),
    ),
    ...rules(),
  ].sort((a, b) => sectionOrder(a.section, b.section));
}

/** Order of sections: 2.7 before 3, 4.5 before 5. */
const { compare: sectionOrder } = new Intl.Collator('en', { numeric: true });

type About = Pick<Fact, 'kind' | 'name' | 'what'> & { readonly section: Section; readonly doc?: string | undefined };

function fact(about: About, basis: Basis, override?: string): Fact {
  const row = basis.assumed === undefined ? undefined : assumption(basis.assumed);
  const why = row && `${row.topic}: ${row.point}`;
  const { taken, because, also: variants, confidence } = row ?? {};
  const said = { ...about, ...basis, why, taken, because, variants, confidence, override };
  return withoutUndefined(said) as unknown as Fact;
}

const KIND_WORDS: Partial<Record<AnyField['kind'], string>> = {
  sealed: 'text',
  flag: 'true or false',
  choice: 'word',
  map: 'keys and values',
};

/** `money, from 1.00 to 5000.00 USD, required`; the name on the wire where it is another. */
function fieldText(field: AnyField, asked: boolean): string {
  const { kind, item, choices } = field;
  const word = kind === 'list' ? `list of ${item?.kind ?? 'values'}` : (KIND_WORDS[kind] ?? kind);
  const parts = [
    choices ? limitText(field) : [word, limitText(field)].filter(Boolean).join(', '),
    field.wire && `named ${field.wire}`,
    field.nullable && 'or null',
    asked && field.must && 'required',
    field.defaults !== undefined && `default ${field.defaults}`,
    field.secret && 'secret',
  ];
  return parts.filter(Boolean).join(', ');
}

/** A field as a fact; `asked` is one that a caller hands in. */
function fieldFact(section: Section, name: string, field: AnyField, asked: boolean, override?: string): Fact {
  return fact({ section, kind: 'field', name, what: fieldText(field, asked), doc: field.doc }, field.basis, override);
}

function resourceFields({ fields }: Overrides): Fact[] {
  const resources = NAMED_SHAPES.filter(({ name }) => name !== undefined);
  const rows = resources.flatMap(({ name: resource, section, shape }) =>
    Object.entries(shape).map(([slot, field]) => {
      const name = `${resource}.${slot}`;
      return fieldFact(section, name, field, false, fields[name]);
    }),
  );
  const expiry: About = {
    section: '4',
    kind: 'field',
    name: 'details.expiry',
    what: 'month and year in one text, where they come so',
    doc: `Read under ${COMBINED_EXPIRY.join(', ')}.`,
  };
  return [...rows, fact(expiry, assumed('A-30'), fields['details.expiry'])];
}

function operations({ operations: overrides, fields }: Overrides): Fact[] {
  const rows = Object.entries(OPERATIONS) as [string, Operation][];
  return rows.flatMap(([name, row]) => {
    const section = row.section as Section;
    const what = `${row.method} ${row.path}`;
    const own = overrides[name];
    return [
      fact({ section, kind: 'operation', name, what, doc: row.summary }, row.basis, own && routeText(row, own)),
      fact({ section, kind: 'operation', name: `${name} answer`, what: answerText(row) }, row.returns.basis),
      ...Object.entries({ ...row.params, ...row.query, ...row.body }).map(([key, field]) => {
        const isSent = Object.hasOwn(row.body ?? {}, key);
        return fieldFact(section, `${name} ${key}`, field, true, isSent ? fields[fieldKey(name, key)] : undefined);
      }),
    ];
  });
}

/** `PATCH /cards/{card_id} with {"status":"frozen"}`. */
function routeText(row: Operation, { method, path, body }: OperationOverride): string {
  const route = `${method ?? row.method} ${path ?? row.path}`;
  return body === undefined ? route : `${route} with ${JSON.stringify(body)}`;
}

function answerText({ returns: { kind, shape, status } }: Operation): string {
  if (kind === 'none') return `${status}, empty`;
  const title = namedShape(shape)?.title ?? 'object';
  const list = `${status}, {data: [${title}]}`;
  return { one: `${status}, ${title}`, list, page: `${status}, {data, meta}`, raw: `${status}` }[kind];
}

function transitions(): Fact[] {
  return Object.entries(TRANSITIONS).flatMap(([machine, rows]) =>
    rows.map(({ from, trigger, condition, to, also, basis }) => {
      const what = `${from.length === 0 ? '' : `${from.join(' or ')}, `}${trigger}${condition ? `: ${condition}` : ''}`;
      return fact({ section: '3', kind: 'transition', name: `${machine} -> ${to}`, what, doc: also }, basis);
    }),
  );
}

function envelopes(): Fact[] {
  const { array, paging, single } = ENVELOPES;
  const about = { section: '4', kind: 'envelope' } as const;
  return [
    fact({ ...about, name: 'list', what: `{${array.name}: [...]}, also ${array.also.join(', ')}` }, array.basis),
    fact(
      { ...about, name: 'page', what: `{${array.name}, ${paging.container}}, also ${paging.also.join(', ')}` },
      paging.basis,
    ),
    fact({ ...about, name: 'object', what: `bare, also under ${single.also.join(', ')}` }, single.basis),
  ];
}

function headers({ headers: overrides }: Overrides): Fact[] {
  return Object.entries({ ...HEADERS, ...FIXED_HEADERS }).map(([key, { name, basis }]) => {
    const section = key.startsWith('webhook_') ? '6' : key.startsWith('rate_') || key === 'retry_after' ? '8' : '5';
    return fact({ section, kind: 'header', name: key, what: name }, basis, overrides[key as keyof typeof HEADERS]);
  });
}

function rangeText({ about, min, max, defaults, unit }: Limit): string {
  const bounds = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  const range = limitText({ kind: unit === 'cents' ? 'money' : 'integer', ...bounds });
  const measured = unit === 'cents' || range === '' ? range : `${range} ${unit}`;
  return [measured || about, defaults !== undefined && `default ${defaults}`].filter(Boolean).join(', ');
}

/** What the service does beside its fields and operations: stated by a section but for what the assumption fills, or left open. */
function rules(): Fact[] {
  return ASSUMPTION_IDS.flatMap(id => {
    const { rule, taken } = assumption(id);
    if (rule === undefined) return [];
    const { section, name, what = taken } = rule;
    return [fact({ section, kind: 'rule', name, what }, rule.stated ? stated(section, id) : assumed(id))];
  });
}
