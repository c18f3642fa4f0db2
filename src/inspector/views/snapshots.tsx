/** Snapshots: kept, compared, put back; and starting over. */
import { addressOf, useAddress } from '../address.ts';
import { RowForm } from '../form.tsx';
import { count, Head, Id, money, Said, SameCommand, Table, Time, Waiting } from '../parts.tsx';
import { callRow, useRow } from '../session.ts';
import type { Input } from '../tables.ts';

interface Snapshot {
  readonly name: string;
  readonly whole: boolean;
  readonly made_at: string | null;
  readonly data_set: string | null;
  readonly seed: number | null;
  readonly clock: string | null;
  readonly cards: number | null;
  readonly transactions: number | null;
  readonly bytes: number | null;
}

export function Snapshots() {
  const { id, filters } = useAddress();
  return (
    <section>
      <Head title="Snapshots" />
      <List />
      {id !== undefined && <Difference name={id} to={filters['to'] ?? ''} />}
      <div class="columns">
        <section aria-labelledby="save">
          <h2 id="save">Save</h2>
          <RowForm row="snapshots.save" label="Save" />
        </section>
        <PutBack />
      </div>
    </section>
  );
}

function List() {
  const { data, error } = useRow<{ readonly data: readonly Snapshot[] }>('snapshots');
  return (
    <div>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <Table
          caption="Snapshots by name"
          cells={[
            { title: 'Name' },
            { title: 'Made' },
            { title: 'Cards', number: true, wide: true },
            { title: 'Transactions', number: true, wide: true },
            { title: 'Bytes', number: true, wide: true },
            { title: 'Data set', wide: true },
            { title: 'Clock', wide: true },
            { title: 'Difference' },
          ]}
          rows={data.data.map(each => ({
            key: each.name,
            href: addressOf('snapshots', each.name),
            cells: [
              <Said text={each.whole ? each.name : `${each.name} (damaged)`} />,
              each.made_at === null ? '–' : <Time iso={each.made_at} />,
              each.cards === null ? '–' : count(each.cards),
              each.transactions === null ? '–' : count(each.transactions),
              each.bytes === null ? '–' : count(each.bytes),
              each.data_set === null ? '–' : `${each.data_set}, seed ${each.seed}`,
              each.clock ?? '–',
              <a href={addressOf('snapshots', each.name)}>Compare with now</a>,
            ],
          }))}
          empty="No snapshot. Save one before a test, and see afterwards what it changed."
        />
      )}
      <SameCommand row="snapshots" />
    </div>
  );
}

interface DifferenceData {
  readonly problems: readonly string[];
  readonly tables: readonly {
    readonly table: string;
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
  }[];
  readonly accounts: readonly { readonly account: string; readonly delta: number }[];
  readonly cards: readonly {
    readonly card_id: string;
    readonly fields: readonly { readonly field: string; readonly from: string | null; readonly to: string | null }[];
  }[];
}

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

function DifferenceTables({ data }: { readonly data: DifferenceData }) {
  const fields = data.cards.flatMap(({ card_id, fields: each }) => each.map(field => ({ card_id, ...field })));
  return (
    <div>
      <div class="columns">
        <Table
          caption="Tables that differ"
          cells={[
            { title: 'Table' },
            { title: 'Added', number: true },
            { title: 'Removed', number: true },
            { title: 'Changed', number: true },
          ]}
          rows={data.tables.map(each => ({
            key: each.table,
            cells: [each.table, count(each.added), count(each.removed), count(each.changed)],
          }))}
        />
        <Table
          caption="Accounts of the ledger that differ"
          cells={[{ title: 'Account' }, { title: 'Difference', number: true }]}
          rows={data.accounts.map(({ account, delta }) => ({
            key: account,
            cells: [<Said text={account} />, `${delta > 0 ? '+' : ''}${money(delta)}`],
          }))}
          empty="No account differs."
        />
      </div>
      <Table
        caption="Fields of cards that differ"
        cells={[{ title: 'Card' }, { title: 'Field' }, { title: 'Was' }, { title: 'Is' }]}
        rows={fields.map(each => ({
          key: `${each.card_id} ${each.field}`,
          cells: [
            <Id id={each.card_id} />,
            each.field,
            <Said text={each.from ?? '–'} />,
            <Said text={each.to ?? '–'} />,
          ],
        }))}
        empty="No card differs."
      />
    </div>
  );
}

const SAVED_FIRST = 'before-restore';

/** What is there now is kept, unless that is the very snapshot which is put back. */
async function saveFirst({ name }: Input): Promise<void> {
  if (name !== SAVED_FIRST) await callRow('snapshots.save', { name: SAVED_FIRST });
}

/** Both replace everything: the name is typed, and what is there now is saved first. */
function PutBack() {
  return (
    <section aria-labelledby="back">
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
