import { command } from '../../cli/command.ts';
import { OURS, option } from '../../cli/flag.ts';
import { ASSUMPTION_IDS, isAssumptionId } from '../../contract/assumption.ts';
import { basisText } from '../../contract/basis.ts';
import { flag, text } from '../../contract/field.ts';
import { type Fact, facts } from '../../contract/provenance.ts';
import { CliError } from '../../errors.ts';
import type { Column } from '../../terminal/view.ts';
import { FACT_ROW } from './fact-row.ts';

const COLUMNS: readonly Column[] = [
  { field: 'section', title: '§', kind: 'word', priority: 1 },
  { field: 'kind', title: 'KIND', kind: 'word', priority: 3, wideOnly: true },
  { field: 'name', title: 'NAME', kind: 'text', priority: 1, shrink: true },
  { field: 'what', title: 'WHAT', kind: 'text', priority: 1, shrink: true },
  { field: 'basis', title: 'BASIS', kind: 'word', priority: 1 },
  { field: 'confidence', title: 'SURE', kind: 'word', priority: 4, wideOnly: true },
  { field: 'taken', title: 'TAKEN', kind: 'text', priority: 5, wideOnly: true, shrink: true },
];

interface Wish {
  readonly section?: string | undefined;
  readonly assumed?: boolean | undefined;
  readonly id?: string | undefined;
}

/** Shows every fact of the service and where it is known from, with what this profile overrides. */
export const showContract = command({
  path: 'contract show',
  summary: 'Show what the interface states, what is assumed, and what you override',
  answers: { list: FACT_ROW },
  about: [
    'BASIS is the section that states a fact (§4.1), the assumption that fills what the interface does not show (A-08), or both. A fact that your profile overrides is marked yours and shown as it is sent; the JSON holds both.',
  ],
  reach: 'files',
  flags: {
    section: option(text({ doc: 'Only this section of the interface; 4 takes 4.1 to 4.5 along.', basis: OURS }), '<n>'),
    assumed: option(flag({ doc: 'Only what rests on an assumption.', basis: OURS })),
    id: option(text({ doc: 'Only what rests on this assumption.', basis: OURS }), '<A-nn>'),
  },
  examples: [
    { does: 'What a card is made of', run: 'contract show --section 2.1' },
    { does: 'Everything that is not stated, as JSON', run: 'contract show --assumed --json' },
    { does: 'Where the fund operation comes from', run: 'contract show --id A-08' },
  ],
  async run(ctx, wish) {
    const all = facts(await ctx.overrides());
    return { found: all.filter(wanted(all, wish)), about: wish.id };
  },
  show({ found, about }) {
    async function* batches() {
      yield found.map(factRow);
    }
    return {
      listing: { batches: batches(), page: () => ({ total: found.length }), footer: () => countText(found) },
      noun: 'fact',
      idField: 'name',
      columns: COLUMNS,
      notes: about === undefined ? [] : assumptionNotes(found),
    };
  },
});

/** Everything of the fact; `what` is what holds now, `without_override` what the contract says. */
function factRow({ override, what, ...fact }: Fact): Readonly<Record<string, unknown>> {
  const { section, kind, name, ...rest } = fact;
  const basis = basisText(fact);
  const shown = { section, kind, name, what: override ?? what, basis: override === undefined ? basis : 'yours' };
  return override === undefined ? { ...shown, ...rest } : { ...shown, override, without_override: what, ...rest };
}

/** Throws `usage` for a section or an assumption that does not exist. */
function wanted(all: readonly Fact[], { section, assumed, id }: Wish): (fact: Fact) => boolean {
  const assumption = id?.toUpperCase();
  if (assumption !== undefined && !isAssumptionId(assumption)) {
    throw usage(`--id ${id} is no assumption; they go from ${ASSUMPTION_IDS[0]} to ${ASSUMPTION_IDS.at(-1)}`);
  }
  const part = section?.replace(/^§/, '');
  const within = (fact: Fact) =>
    part === undefined || fact.section === part || (!part.includes('.') && fact.section.startsWith(`${part}.`));
  if (!all.some(within)) {
    throw usage(
      `--section ${section} has no facts; sections: ${[...new Set(all.map(fact => fact.section))].join(' ')}`,
    );
  }
  return fact =>
    within(fact) &&
    (assumed !== true || fact.assumed !== undefined) &&
    (assumption === undefined || fact.assumed === assumption);
}

/** The assumption in full, for a person who asked for one. */
function assumptionNotes([fact]: readonly Fact[]): readonly string[] {
  if (fact?.assumed === undefined) return [];
  const { assumed, taken, because, variants, confidence } = fact;
  const words = { H: 'high', M: 'medium', L: 'low: expect to be wrong' }[confidence ?? ''];
  return [
    `${assumed}  ${taken}`,
    ...(because === undefined ? [] : [`because: ${because}`]),
    ...(variants === undefined ? [] : [`also read: ${variants}`]),
    ...(words === undefined ? [] : [`confidence: ${words}`]),
  ];
}

function countText(found: readonly Fact[]): string {
  const count = (test: (fact: Fact) => boolean) => found.filter(test).length;
  const yours = count(({ override }) => override !== undefined);
  const parts = [
    `${count(({ stated }) => stated !== undefined)} stated`,
    `${count(({ assumed }) => assumed !== undefined)} with an assumption`,
    ...(yours === 0 ? [] : [`${yours} yours`]),
  ];
  return `${found.length} fact${found.length === 1 ? '' : 's'}: ${parts.join(', ')}.`;
}

function usage(message: string): CliError {
  return new CliError('usage', { message, hint: 'cardwright contract show', outcome: 'not_sent' });
}
