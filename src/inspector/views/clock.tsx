/** The clock of the sandbox, and what happens by itself. */
import { useState } from '../elements.ts';
import { RowForm } from '../form.tsx';
import {
  Badge,
  Facts,
  fromNow,
  Head,
  Id,
  Name,
  type PageFacts,
  Pages,
  Said,
  SameCommand,
  shortTime,
  Table,
  Waiting,
} from '../parts.tsx';
import { useLive, useRow } from '../session.ts';

interface ClockData {
  readonly mode: string;
  readonly now: string;
  readonly rate: number;
}

interface Timer {
  readonly due_at: string;
  readonly kind: string;
  readonly ref: string;
  readonly state: string;
  readonly error: string | null;
}

interface Fired {
  readonly due_at: string;
  readonly kind: string;
  readonly ref: string;
  readonly error?: string;
}

export function Clock() {
  const { data, error } = useRow<ClockData>('clock.show');
  const { marks } = useLive();
  return (
    <section>
      <Head title="Clock" />
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <Facts
          facts={[
            ['Shows', shortTime(marks?.now ?? data.now)],
            ['Goes', data.mode],
            ['Seconds in one real second', data.rate],
          ]}
        />
      )}
      <SameCommand row="clock.show" />
      <div class="columns">
        <section aria-labelledby="advance">
          <h2 id="advance">Move it forward</h2>
          <p class="quiet">What becomes due on the way happens in order, each at its own time.</p>
          <RowForm
            row="clock.advance"
            begins={{ by: '7d' }}
            label="Advance"
            show={answer => <FiredList answer={answer} />}
          />
        </section>
        <section aria-labelledby="set">
          <h2 id="set">Set it</h2>
          {data !== undefined && <RowForm row="clock.set" begins={{ mode: data.mode }} label="Set" />}
        </section>
      </div>
      <Timers now={marks?.now ?? data?.now} />
    </section>
  );
}

function FiredList({ answer }: { readonly answer: Readonly<Record<string, unknown>> }) {
  const fired = answer['fired'] as readonly Fired[];
  return (
    <div>
      <p>{`It shows ${shortTime(String(answer['now']))}. ${fired.length === 0 ? 'Nothing became due.' : `${fired.length} happened:`}`}</p>
      {fired.length > 0 && (
        <Table
          caption="What happened on the way"
          cells={[{ title: 'At' }, { title: 'What' }, { title: 'Of' }]}
          rows={fired.slice(0, 200).map((each, nth) => ({
            key: String(nth),
            cells: [
              shortTime(each.due_at),
              <Said text={each.error === undefined ? each.kind : `${each.kind}: ${each.error}`} />,
              <Id id={each.ref} />,
            ],
          }))}
        />
      )}
      {fired.length > 200 && <p class="quiet">{`${fired.length - 200} more`}</p>}
    </div>
  );
}

function Timers({ now }: { readonly now: string | undefined }) {
  const [page, setPage] = useState(1);
  const { data, error } = useRow<{ readonly data: readonly Timer[]; readonly meta: PageFacts }>('timers', { page });
  return (
    <section aria-labelledby="timers">
      <h2 id="timers">What happens by itself</h2>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <Table
          caption="Timers, earliest first"
          cells={[{ title: 'Due' }, { title: 'What' }, { title: 'Of' }, { title: 'State', wide: true }]}
          rows={data.data.map(timer => ({
            key: `${timer.kind} ${timer.ref}`,
            cells: [
              <time dateTime={timer.due_at}>
                <span>{now === undefined ? '' : fromNow(timer.due_at, now)}</span>{' '}
                <span class="quiet wide">{shortTime(timer.due_at)}</span>
              </time>,
              <span>
                <Name name={timer.kind} /> {timer.error !== null && <Said text={timer.error} />}
              </span>,
              <Id id={timer.ref} />,
              <Badge word={timer.state} />,
            ],
          }))}
          empty="Nothing happens by itself. A hold or a pending deposit brings a timer."
        />
      )}
      {data !== undefined && <Pages facts={data.meta} goTo={setPage} />}
      <SameCommand row="timers" input={page === 1 ? {} : { page }} />
    </section>
  );
}
