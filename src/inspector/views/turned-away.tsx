/** What was turned away before it was counted: without a key, a route or a host that is known here. */
import { useRow } from '../live.ts';
import { Badge, Said, SameCommand, Table, Waiting } from '../parts.tsx';
import { shortTime } from '../printable.ts';

interface Turned {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly error: string;
  readonly why: string;
  readonly nearest: string | null;
  readonly key: string;
}

export function TurnedAway() {
  const { data, error } = useRow<{ readonly data: readonly Turned[] }>('requests.turned');
  return (
    <div>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <Table
          caption="Requests that were turned away, newest first"
          cells={[
            { title: 'Request' },
            { title: 'Status', number: true },
            { title: 'Why' },
            { title: 'Nearest route', wide: true },
            { title: 'Key', wide: true },
            { title: 'At', wide: true },
          ]}
          rows={data.data.map((turned, nth) => ({
            key: `${turned.at} ${nth}`,
            cells: [
              <>
                <Said text={`${turned.method} ${turned.path}`} />
                <span class="narrow">{shortTime(turned.at)}</span>
              </>,
              <span title={turned.error}>
                <Badge word={String(turned.status)} />
              </span>,
              <Said text={turned.why} />,
              <Said text={turned.nearest ?? ''} />,
              <Said text={turned.key} />,
              shortTime(turned.at),
            ],
          }))}
          empty="Nothing was turned away: every request had a key, a route and a host that are known here."
        />
      )}
      <SameCommand row="requests.turned" />
    </div>
  );
}
