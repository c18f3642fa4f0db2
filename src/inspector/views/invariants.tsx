/** I1 to I16: whether the money is whole. */
import { RowForm } from '../form.tsx';
import { useLive } from '../live.ts';
import { Badge, Head, Said, SameCommand, Table } from '../parts.tsx';

interface Invariant {
  readonly id: string;
  readonly holds: boolean | null;
  readonly says: string;
}

export function Invariants() {
  const { marks } = useLive();
  const last = marks?.ledger_ok;
  return (
    <section>
      <Head title="Invariants" />
      <p>
        {last === null || last === undefined
          ? 'Nobody has looked at the books of this store yet.'
          : last
            ? 'All of them held when somebody last looked.'
            : 'One of them did not hold when somebody last looked.'}
      </p>
      <RowForm row="ledger.check" label="Check now" show={answer => <Checked answer={answer} />} />
      <SameCommand row="ledger.check" />
    </section>
  );
}

const stateOf = ({ holds }: Invariant) => (holds === null ? 'not asked' : holds ? 'holds' : 'broken');

function Checked({ answer }: { readonly answer: Readonly<Record<string, unknown>> }) {
  const faults = answer['faults'] as readonly string[];
  return (
    <div>
      <p>{answer['ok'] === true ? 'All invariants hold.' : `${faults.length} do not hold:`}</p>
      {faults.map(line => (
        <p class="problem">
          <Said text={line} />
        </p>
      ))}
      <Table
        caption="Invariants"
        cells={[{ title: 'Code' }, { title: 'State' }, { title: 'Says' }]}
        rows={(answer['invariants'] as readonly Invariant[]).map(each => ({
          key: each.id,
          cells: [each.id, <Badge word={stateOf(each)} />, <Said text={each.says} />],
        }))}
      />
    </div>
  );
}
