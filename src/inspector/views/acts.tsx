/** What the page and tests changed through the control surface. */
import { useRow } from '../live.ts';
import { Id, Name, SameCommand, Table, Time, Waiting } from '../parts.tsx';
import { count, shortTime } from '../printable.ts';

interface Act {
  readonly number: number;
  readonly at: string;
  readonly by: string;
  readonly operation: string;
  readonly about: string | null;
}

export function Acts() {
  const { data, error } = useRow<{ readonly data: readonly Act[] }>('acts');
  return (
    <div>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <Table
          caption="Changes through the control surface, newest first"
          cells={[
            { title: 'No', number: true },
            { title: 'What' },
            { title: 'About' },
            { title: 'By' },
            { title: 'At', wide: true },
          ]}
          rows={data.data.map(act => ({
            key: String(act.number),
            cells: [
              count(act.number),
              <>
                <Name name={act.operation} />
                <span class="narrow">{shortTime(act.at)}</span>
              </>,
              act.about === null ? '' : <Id id={act.about} />,
              act.by,
              <Time iso={act.at} />,
            ],
          }))}
          empty="Nothing was simulated, moved or broken since this sandbox was started."
        />
      )}
      <SameCommand row="acts" />
    </div>
  );
}
