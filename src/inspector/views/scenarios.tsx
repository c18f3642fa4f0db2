/** Scenarios: examples, what is wrong with a text, and playing it. */
import { useEffect, useState } from '../elements.ts';
import { RowForm, TextField } from '../form.tsx';
import { Rows, type TableOf } from '../list.tsx';
import { counted, Head, Press, Problem, SameCommand, show, Waiting } from '../parts.tsx';
import { callRow, type Reply, useRow } from '../session.ts';

type Checked = Reply<'scenarios.check'>;
type Run = Reply<'scenarios.show'>;

const messageOf = (error: unknown) => (error as Error).message;

export function Scenarios() {
  const examples = useRow<Reply<'scenarios'>>('scenarios');
  const [text, write] = useState('');
  const [checked, tell] = useState<(Checked & { readonly of: string }) | undefined>(undefined);
  const [problem, complain] = useState('');
  const check = () =>
    callRow<Checked>('scenarios.check', { text }).then(
      found => tell({ ...found, of: text }),
      error => complain(messageOf(error)),
    );
  return (
    <section>
      <Head title="Scenarios" />
      {examples.data === undefined && <Waiting error={examples.error} />}
      <p class="row">
        {examples.data?.data.map(({ name, text: example }) => (
          <Press label={name} onClick={() => write(example)} />
        ))}
        <Press label="Check" disabled={text === ''} onClick={() => void check()} />
      </p>
      <RowForm
        row="scenarios.play"
        fixed={{ text }}
        wrong={text === '' ? 'There is no text to play.' : undefined}
        label="Play"
        show={answer => <RunShown key={answer['id']} begun={answer as unknown as Run} />}
      >
        <TextField
          id="scenario"
          title="Scenario, in YAML"
          hint="Take an example, or paste your own: cardwright help scenarios"
          text={text}
          set={write}
        />
      </RowForm>
      <p class="quiet">A step can replace everything in this sandbox: the examples begin with reset.</p>
      {checked?.of === text && <Rows list={problemsOf(checked)} items={checked.problems} />}
      {problem !== '' && <Problem text={problem} />}
      <SameCommand row="scenarios" />
    </section>
  );
}

const problemsOf = ({ steps }: Checked): TableOf<Checked['problems'][number]> => ({
  caption: 'What is wrong with it',
  fields: [
    show.text('What', ({ text }) => text),
    show.number('Line', ({ line }) => line),
    show.number('Column', ({ column }) => column),
  ],
  empty: `${counted(steps, 'step')}, nothing wrong.`,
});

/** ms between two looks at a run. */
const LOOK_EVERY = 250;

function RunShown({ begun }: { readonly begun: Run }) {
  const [run, tell] = useState(begun);
  const [problem, complain] = useState('');
  const { state, steps, says } = run;
  useEffect(() => {
    if (state !== 'running') return undefined;
    const look = () =>
      callRow<Run>('scenarios.show', { run_id: run.id }).then(tell, error => complain(messageOf(error)));
    const timer = setInterval(() => void look(), LOOK_EVERY);
    return () => clearInterval(timer);
  }, [state]);
  const done = steps.filter(step => step.state === 'as_expected').length;
  const inWords =
    state === 'running'
      ? `Playing: ${done} of ${steps.length} steps are done.`
      : `${state === 'failed' ? 'Failed' : 'As expected'}: ${done} of ${steps.length} steps were as expected.`;
  const problems = [problem, ...(steps.some(step => step.state === 'failed') ? [] : (says?.split('\n') ?? []))];
  return (
    <>
      <p>{inWords}</p>
      {problems.filter(Boolean).map(line => (
        <Problem text={line} />
      ))}
      <Rows list={stepsOf(run)} items={steps} />
    </>
  );
}

/** The first that waits is the one under way. */
function stepsOf({ state, steps }: Run): TableOf<Run['steps'][number]> {
  const now = state === 'running' ? steps.find(step => step.state === 'waiting')?.step : undefined;
  return {
    caption: 'Steps in their order',
    fields: [
      show.number('Step', item => item.step, 'm'),
      show.name('Operation', item => item.operation),
      show.badge('State', ({ step, state }) => (step === now ? 'under way' : state)),
      show.text('Outcome', ({ says, outcome }) => says ?? outcome),
      show.number('Line', item => item.line, 'm'),
      show.id('About', item => item.id, 'm'),
    ],
    empty: 'No step.',
  };
}
