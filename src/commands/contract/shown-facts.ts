/** Facts of the contract found and shown, for `contract show` and `explain`. */
import type { Shown } from '../../cli/shown.ts';
import { assumption, isAssumptionId } from '../../contract/assumption.ts';
import { type AssumptionId, basisText } from '../../contract/basis.ts';
import type { Fact } from '../../contract/provenance.ts';
import type { Column } from '../../terminal/view.ts';

const COLUMNS: readonly Column[] = [
  { field: 'section', title: '§', kind: 'word', priority: 1 },
  { field: 'kind', title: 'KIND', kind: 'word', priority: 3, wideOnly: true },
  { field: 'name', title: 'NAME', kind: 'text', priority: 1, shrink: true },
  { field: 'what', title: 'WHAT', kind: 'text', priority: 1, shrink: true },
  { field: 'basis', title: 'BASIS', kind: 'word', priority: 1 },
  { field: 'confidence', title: 'SURE', kind: 'word', priority: 4, wideOnly: true },
  { field: 'taken', title: 'TAKEN', kind: 'text', priority: 5, wideOnly: true, shrink: true },
];

/** Facts of a section; 4 takes 4.1 to 4.5 along. */
export function factsOfSection(all: readonly Fact[], section: string): readonly Fact[] {
  const part = section.replace(/^§/, '');
  return all.filter(fact => fact.section === part || (!part.includes('.') && fact.section.startsWith(`${part}.`)));
}

export interface FactsAbout {
  readonly facts: readonly Fact[];
  /** The assumption that was asked for. */
  readonly assumption: AssumptionId | undefined;
}

/** Facts an assumption, a section or a name stands for, `A-08`, `4.1`, `§4`, `cards.create`; undefined for none. */
export function factsAbout(all: readonly Fact[], word: string): FactsAbout | undefined {
  const id = word.toUpperCase();
  if (isAssumptionId(id)) return { facts: all.filter(({ assumed }) => assumed === id), assumption: id };
  const ofSection = /^§?\d+(\.\d+)?$/.test(word) ? factsOfSection(all, word) : [];
  const named = all.filter(({ name }) => name === word || name.startsWith(`${word} `));
  const found = [...ofSection, ...named];
  return found.length === 0 ? undefined : { facts: found, assumption: undefined };
}

/** Facts as a list; with an assumption, that one in full below it. */
export function showFacts(found: readonly Fact[], about: AssumptionId | undefined): Shown {
  async function* batches() {
    yield found.map(factRow);
  }
  return {
    listing: { batches: batches(), page: () => ({ total: found.length }), footer: () => countText(found) },
    noun: 'fact',
    idField: 'name',
    columns: COLUMNS,
    notes: about === undefined ? [] : assumptionNotes(about),
  };
}

/** Everything of the fact; `what` is what holds now, `without_override` what the contract says. */
function factRow({ override, what, ...fact }: Fact): Readonly<Record<string, unknown>> {
  const { section, kind, name, ...rest } = fact;
  const basis = basisText(fact);
  const shown = { section, kind, name, what: override ?? what, basis: override === undefined ? basis : 'yours' };
  return override === undefined ? { ...shown, ...rest } : { ...shown, override, without_override: what, ...rest };
}

/** The assumption in full, for a person who asked for one. */
function assumptionNotes(id: AssumptionId): readonly string[] {
  const { taken, because, also: variants, confidence } = assumption(id);
  const words = { H: 'high', M: 'medium', L: 'low: expect to be wrong' }[confidence ?? ''];
  return [
    `${id}  ${taken}`,
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
