/** I1 to I16: whether the money is whole. */

import { addressOf } from '../address.ts';
import { RowForm } from '../form.tsx';
import { Badge, Facts, Head, Id, Name, Said, SameCommand, Table, Waiting } from '../parts.tsx';
import { useLive, useRow } from '../session.ts';

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

// The checks of one purchase in their order, each with the two values that it compared.

interface WhyData {
  readonly transaction: string;
  readonly outcome: string;
  readonly decline_reason: string | null;
  readonly checks: readonly {
    readonly check: string;
    readonly result: string;
    readonly left: string | null;
    readonly right: string | null;
  }[];
}

const WORDS: Readonly<Record<string, string>> = { holds: '✓ holds', fails: '✗ fails', not_asked: 'not asked' };

export function Why({ id }: { readonly id: string }) {
  const { data, error } = useRow<WhyData>('transactions.why', { transaction_id: id });
  return (
    <section>
      <Head title="Why?" />
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <div>
          <Facts
            facts={[
              ['Transaction', <Id id={data.transaction} />],
              ['Outcome', <Badge word={data.outcome} />],
              ['Reason', data.decline_reason ?? '–'],
            ]}
          />
          <p>{inWords(data)}</p>
          <Table
            caption="Checks in the order in which they are asked"
            cells={[{ title: 'Check' }, { title: 'Result' }, { title: 'Compared' }, { title: 'With' }]}
            rows={data.checks.map(({ check, result, left, right }) => ({
              key: check,
              cells: [
                <Name name={check} />,
                <span class={result === 'fails' ? 'failed' : result === 'holds' ? '' : 'quiet'}>
                  {WORDS[result] ?? result}
                </span>,
                <Said text={left ?? ''} />,
                <Said text={right ?? ''} />,
              ],
            }))}
          />
        </div>
      )}
      <SameCommand row="transactions.why" input={{ transaction_id: id }} />
      <p>
        <a href={addressOf('cards')}>All cards</a>
      </p>
    </section>
  );
}

function inWords({ outcome, decline_reason: reason, checks }: WhyData): string {
  if (outcome === 'approved') return 'Approved: every check held.';
  if (outcome === 'posted') return 'Posted without asking: settlements and refunds are never declined.';
  const failed = checks.find(({ result }) => result === 'fails');
  if (failed === undefined) return `Declined: ${reason}, forced by the simulation; no check was asked.`;
  if (failed.left === null) return `Declined: ${reason}. The values it was judged by were not kept.`;
  return `Declined: ${reason}: ${failed.left} against ${failed.right ?? ''}.`;
}
