import { maybe, tells } from '../../cli/answer-fields.ts';

/** A fact of the contract as data. */
export const FACT_ROW = {
  section: tells.text('Section of the interface.'),
  kind: tells.text('Kind of fact.'),
  name: tells.text('What it is about.'),
  what: tells.text('The fact.'),
  basis: tells.text('Where it is known from.'),
  doc: maybe(tells.text('In words.')),
  stated: maybe(tells.text('Section that states it.')),
  assumed: maybe(tells.text('Assumption that fills what is not shown.')),
  why: maybe(tells.text('What is assumed.')),
  taken: maybe(tells.text('What is taken in its place.')),
  because: maybe(tells.text('The reason.')),
  confidence: maybe(tells.text('How sure it is.')),
  variants: maybe(tells.json('Variants that are read too.')),
  yours: maybe(tells.json('What this profile overrides it with.')),
} as const;
