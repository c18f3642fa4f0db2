/** The checks of one purchase in their order, each with the two values that it compared. */
import { addressOf } from '../address.ts';
import { useRow } from '../live.ts';
import { Badge, Facts, Head, Id, Name, Said, SameCommand, Table, Waiting } from '../parts.tsx';

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
