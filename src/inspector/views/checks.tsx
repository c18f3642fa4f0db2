/** The rules of the ledger: whether the money is whole. */
import { RowForm } from '../form.tsx';
import { Rows, type TableOf } from '../list.tsx';
import { Badge, Head, Said, SameCommand } from '../parts.tsx';
import { type Told, useLive } from '../session.ts';

type Invariant = Told<'ledger.check'>['invariants'][number];

export function Invariants() {
  const { marks } = useLive();
  const last = marks?.ledger_ok;
  return (
    <section>
      <Head title="Ledger check" />
      <p>
        {last === null || last === undefined
          ? 'Nobody has checked the ledger of this sandbox yet.'
          : last
            ? 'Every rule held when somebody last looked.'
            : 'A rule did not hold when somebody last looked.'}
      </p>
      <RowForm row="ledger.check" label="Check now" show={answer => <Checked answer={answer} />} />
      <SameCommand row="ledger.check" />
    </section>
  );
}

const stateOf = ({ holds }: Invariant) => (holds === null ? 'not asked' : holds ? 'holds' : 'broken');

const INVARIANTS: TableOf<Invariant> = {
  caption: 'Rules of the ledger',
  keyOf: ({ id }) => id,
  columns: [
    { title: 'Rule', shows: ({ says }) => <Said text={says} /> },
    { title: 'State', shows: invariant => <Badge word={stateOf(invariant)} /> },
    { title: 'Code', shows: ({ id }) => id, from: 'm' },
  ],
  empty: 'Nothing was checked.',
};

function Checked({ answer }: { readonly answer: Readonly<Record<string, unknown>> }) {
  const faults = answer['faults'] as readonly string[];
  return (
    <div>
      <p>{answer['ok'] === true ? 'Every rule holds: the money adds up.' : `${faults.length} rules do not hold:`}</p>
      {faults.map(line => (
        <p class="problem">
          <Said text={line} />
        </p>
      ))}
      <Rows list={INVARIANTS} items={answer['invariants'] as readonly Invariant[]} />
    </div>
  );
}
