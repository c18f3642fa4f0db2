import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { ASSUMPTION_IDS, isAssumptionId } from '../../contract/assumption.ts';
import { flag, text } from '../../contract/field.ts';
import { type Fact, facts } from '../../contract/provenance.ts';
import { CliError } from '../../core/errors.ts';
import { FACT_ROW } from './fact-row.ts';
import { factsOfSection, showFacts } from './shown-facts.ts';

interface Wish {
  readonly section?: string | undefined;
  readonly assumed?: boolean | undefined;
  readonly id?: string | undefined;
}

/** Shows every fact of the service and where it is known from, with what this profile overrides. */
export const showContract = command({
  path: 'contract show',
  summary: 'Show every fact of the contract: stated, assumed or overridden',
  answers: { list: FACT_ROW },
  about: [
    'BASIS is the section of the documentation of the service that states a fact (§4.1), the number of the assumption made where it is silent (A-08; contract show --id A-08 has its reason), or both. A fact that your profile overrides is marked yours and shown as it is sent; the JSON holds both.',
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
  async run(ctx, options) {
    const all = facts(await ctx.overrides());
    const found = all.filter(wanted(all, options));
    return { found, about: options.id === undefined ? undefined : found[0]?.assumed };
  },
  show({ found, about }) {
    return showFacts(found, about);
  },
});

/** Throws `usage` for a section or an assumption that does not exist. */
function wanted(all: readonly Fact[], { section, assumed, id }: Wish): (fact: Fact) => boolean {
  const assumption = id?.toUpperCase();
  if (assumption !== undefined && !isAssumptionId(assumption)) {
    throw usage(`--id ${id} is no assumption; they go from ${ASSUMPTION_IDS[0]} to ${ASSUMPTION_IDS.at(-1)}`);
  }
  const within = new Set(section === undefined ? all : factsOfSection(all, section));
  if (within.size === 0) {
    throw usage(
      `--section ${section} has no facts; sections: ${[...new Set(all.map(fact => fact.section))].join(' ')}`,
    );
  }
  return fact =>
    within.has(fact) &&
    (assumed !== true || fact.assumed !== undefined) &&
    (assumption === undefined || fact.assumed === assumption);
}

function usage(message: string): CliError {
  return new CliError('usage', { message, hint: 'cardwright contract show', outcome: 'not_sent' });
}
