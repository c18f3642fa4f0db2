/** The sandbox itself: snapshots kept and put back, starting over, and whether its money is whole. */
import { RowForm } from '../form.tsx';
import { List, type ListOf, Rows, type TableOf } from '../list.tsx';
import { counted, Head, Part, Problem, SameCommand, show } from '../parts.tsx';
import type { Reply, Told } from '../session.ts';
import type { Input } from '../tables.ts';

const SNAPSHOTS: ListOf<Told<'snapshots'>> = {
  row: 'snapshots',
  caption: 'Snapshots by name',
  fields: [
    show.text('Name', ({ name, whole }) => (whole ? name : `${name} (damaged)`)),
    show.number('Cards', item => item.cards, 'm'),
    show.number('Transactions', item => item.transactions, 'm'),
    show.number('Bytes', item => item.bytes, 'l'),
    show.text('Data set', ({ data_set: of, seed }) => of && `${of}, seed ${seed}`, 'l'),
    show.text('Clock', item => item.clock, 'l'),
    show.time('Made', item => item.made_at),
  ],
  empty: 'No snapshot. Save one before a test, and put it back afterwards.',
};

export function Snapshots() {
  return (
    <section>
      <Head title="Snapshots" />
      <List list={SNAPSHOTS} view="snapshots" />
      <div class="columns">
        <Part title="Save" isPanel>
          <RowForm row="snapshots.save" label="Save" />
        </Part>
        <PutBack />
      </div>
    </section>
  );
}

const SAVED_FIRST = 'before-restore';

/** What is there now is kept, unless that is the very snapshot which is put back. */
const saveFirst = ({ name }: Input) =>
  name === SAVED_FIRST ? undefined : ({ row: 'snapshots.save', input: { name: SAVED_FIRST } } as const);

/** Both replace everything: the name is typed, and what is there now is saved first. */
const PutBack = () => (
  <Part title="Replace everything" isPanel>
    <p class="quiet">{`What is there now is saved first, as ${SAVED_FIRST}; the command saves nothing.`}</p>
    <RowForm row="snapshots.restore" label="Restore" first={saveFirst} />
    <RowForm
      row="reset"
      folded="Start over; a clock that was moved or set stays as it is"
      without={['cards', 'transactions']}
      label="Reset"
      first={saveFirst}
    />
  </Part>
);

type Checked = Reply<'ledger.check'>;

const RULES: TableOf<Checked['invariants'][number]> = {
  caption: 'Rules of the ledger',
  fields: [
    show.text('Rule', rule => rule.says),
    show.badge('State', ({ holds }) => (holds === null ? 'not asked' : holds ? 'holds' : 'broken')),
    show.text('Code', rule => rule.id, 'm'),
  ],
  empty: 'Nothing was checked.',
};

export function Invariants() {
  return (
    <section>
      <Head title="Ledger check" />
      <p>Adds up every entry of the ledger and compares the sums with the cards, the holds and the wallet.</p>
      <RowForm
        row="ledger.check"
        label="Check now"
        show={answer => {
          const { ok, faults, invariants } = answer as unknown as Checked;
          return (
            <>
              <p>{ok ? 'Every rule holds: the money adds up.' : `${counted(faults.length, 'rule')} broken:`}</p>
              {faults.map(line => (
                <Problem text={line} />
              ))}
              <Rows list={RULES} items={invariants} />
            </>
          );
        }}
      />
      <SameCommand row="ledger.check" />
    </section>
  );
}
