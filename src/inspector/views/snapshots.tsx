/** Snapshots: kept, compared, put back; and starting over. */
import { addressOf, useAddress } from '../address.ts';
import { RowForm } from '../form.tsx';
import { Asked, type ListOf, Rows, type TableOf } from '../list.tsx';
import { count, Head, Id, moved, Said, SameCommand, Time, Waiting } from '../parts.tsx';
import { callRow, type Told, useRow } from '../session.ts';
import type { Input } from '../tables.ts';

type Snapshot = Told<'snapshots'>;

const DASH = '–';

const SNAPSHOTS: ListOf<Snapshot> = {
  row: 'snapshots',
  caption: 'Snapshots by name',
  keyOf: ({ name }) => name,
  href: ({ name }) => addressOf('snapshots', name),
  columns: [
    {
      title: 'Name',
      shows: ({ name, whole }) => (
        <a href={addressOf('snapshots', name)}>
          <Said text={whole ? name : `${name} (damaged)`} />
        </a>
      ),
    },
    { title: 'Cards', shows: ({ cards }) => (cards === null ? DASH : count(cards)), number: true, from: 'm' },
    {
      title: 'Transactions',
      shows: ({ transactions: of }) => (of === null ? DASH : count(of)),
      number: true,
      from: 'm',
    },
    { title: 'Bytes', shows: ({ bytes }) => (bytes === null ? DASH : count(bytes)), number: true, from: 'l' },
    { title: 'Data set', shows: ({ data_set: of, seed }) => (of === null ? DASH : `${of}, seed ${seed}`), from: 'l' },
    { title: 'Clock', shows: ({ clock }) => clock ?? DASH, from: 'l' },
    { title: 'Made (UTC)', shows: ({ made_at: at }) => <Time iso={at} isInTable />, under: true },
    { title: 'Difference', shows: ({ name }) => <a href={addressOf('snapshots', name)}>Compare with now</a> },
  ],
  empty: 'No snapshot. Save one before a test, and see afterwards what it changed.',
};

export function Snapshots() {
  const { id, filters } = useAddress();
  return (
    <section>
      <Head title="Snapshots" />
      <Asked list={SNAPSHOTS} />
      <SameCommand row="snapshots" />
      {id !== undefined && <Difference name={id} to={filters['to'] ?? ''} />}
      <div class="columns">
        <section class="panel" aria-labelledby="save">
          <h2 id="save">Save</h2>
          <RowForm row="snapshots.save" label="Save" />
        </section>
        <PutBack />
      </div>
    </section>
  );
}

type DifferenceData = Told<'snapshots.diff'>;

/** Asked once: comparing with what is now saves that first, and takes its time. */
function Difference({ name, to }: { readonly name: string; readonly to: string }) {
  const input = { name, to };
  const { data, error } = useRow<DifferenceData>('snapshots.diff', input, true);
  return (
    <section aria-labelledby="difference">
      <h2 id="difference">{`From ${name} to ${to === '' ? 'now' : to}`}</h2>
      {data === undefined ? (
        <Waiting error={error} />
      ) : data.problems.length > 0 ? (
        <p>{`Nothing was compared: ${data.problems.join('; ')}`}</p>
      ) : data.tables.length === 0 ? (
        <p>Nothing differs.</p>
      ) : (
        <DifferenceTables data={data} />
      )}
      <SameCommand row="snapshots.diff" input={input} />
    </section>
  );
}

const TABLES: TableOf<DifferenceData['tables'][number]> = {
  caption: 'Tables that differ',
  keyOf: ({ table }) => table,
  columns: [
    { title: 'Table', shows: ({ table }) => table },
    { title: 'Added', shows: ({ added }) => count(added), number: true },
    { title: 'Removed', shows: ({ removed }) => count(removed), number: true },
    { title: 'Changed', shows: ({ changed }) => count(changed), number: true },
  ],
  empty: 'No table differs.',
};

const ACCOUNTS: TableOf<DifferenceData['accounts'][number]> = {
  caption: 'Accounts of the ledger that differ',
  keyOf: ({ account }) => account,
  columns: [
    { title: 'Account', shows: ({ account }) => <Said text={account} /> },
    { title: 'Difference', shows: ({ delta }) => moved(delta), number: true },
  ],
  empty: 'No account differs.',
};

const FIELDS: TableOf<DifferenceData['cards'][number]['fields'][number] & { readonly card_id: string }> = {
  caption: 'Fields of cards that differ',
  keyOf: ({ card_id, field }) => `${card_id} ${field}`,
  columns: [
    { title: 'Card', shows: ({ card_id: id }) => <Id id={id} /> },
    { title: 'Field', shows: ({ field }) => field },
    { title: 'Was', shows: ({ from }) => <Said text={from ?? DASH} /> },
    { title: 'Is', shows: ({ to }) => <Said text={to ?? DASH} /> },
  ],
  empty: 'No card differs.',
};

const DifferenceTables = ({ data }: { readonly data: DifferenceData }) => (
  <div>
    <div class="columns">
      <Rows list={TABLES} items={data.tables} />
      <Rows list={ACCOUNTS} items={data.accounts} />
    </div>
    <Rows
      list={FIELDS}
      items={data.cards.flatMap(({ card_id, fields }) => fields.map(field => ({ card_id, ...field })))}
    />
  </div>
);

const SAVED_FIRST = 'before-restore';

/** What is there now is kept, unless that is the very snapshot which is put back. */
async function saveFirst({ name }: Input): Promise<void> {
  if (name !== SAVED_FIRST) await callRow('snapshots.save', { name: SAVED_FIRST });
}

/** Both replace everything: the name is typed, and what is there now is saved first. */
function PutBack() {
  return (
    <section class="panel" aria-labelledby="back">
      <h2 id="back">Replace everything</h2>
      <p class="quiet">{`What is there now is saved first, as ${SAVED_FIRST}; the command saves nothing.`}</p>
      <RowForm row="snapshots.restore" label="Restore" first={saveFirst} />
      <details>
        <summary>Start over</summary>
        <p class="quiet">A clock that was moved or set stays as it is.</p>
        <RowForm row="reset" without={['cards', 'transactions']} label="Reset" first={saveFirst} />
      </details>
    </section>
  );
}
