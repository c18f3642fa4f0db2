/** Scenarios: examples, what is wrong with a text, playing it, and writing one from what is done from now on. */
import { useAddress } from '../address.ts';
import { useEffect, useState } from '../elements.ts';
import { Rows, type TableOf } from '../list.tsx';
import { Badge, Copy, Head, Id, Name, Said, SameCommand, Waiting } from '../parts.tsx';
import { callRow, type Told, useCanChange, useRow } from '../session.ts';
import { commandLine } from '../tables.ts';

type Problem = Checked['problems'][number];

const PROBLEMS: TableOf<Problem> = {
  caption: 'What is wrong with it',
  keyOf: ({ line, column, text }) => `${line} ${column} ${text}`,
  columns: [
    { title: 'What', shows: ({ text }) => <Said text={text} /> },
    { title: 'Line', shows: ({ line }) => line, number: true },
    { title: 'Column', shows: ({ column }) => column, number: true },
  ],
  empty: 'Nothing is wrong.',
};

type Checked = Told<'scenarios.check'>;

type Run = Told<'scenarios.show'>;

type Recorded = Told<'scenarios.record'>;

/** ms between two looks at a run. */
const LOOK_EVERY = 250;

export function Scenarios() {
  const { filters } = useAddress();
  const card = filters['card'];
  const examples = useRow<{ readonly data: readonly { readonly name: string; readonly text: string }[] }>('scenarios');
  const [text, setText] = useState('');
  const [problem, tell] = useState('');
  const [run, setRun] = useState<Run | undefined>(undefined);
  useEffect(() => {
    if (card === undefined) return;
    callRow<Recorded>('scenarios.record', { card_id: card }).then(
      found => setText(found.text),
      (error: unknown) => tell((error as Error).message),
    );
  }, [card]);
  const known = examples.data?.data ?? [];
  const play = () =>
    callRow<Run>('scenarios.play', { text }).then(
      begun => {
        tell('');
        setRun(begun);
      },
      (error: unknown) => tell((error as Error).message),
    );
  return (
    <section>
      <Head title="Scenarios" />
      {examples.data === undefined && examples.error !== undefined && <Waiting error={examples.error} />}
      <p class="buttons">
        {known.map(({ name, text: example }) => (
          <button type="button" class="small" onClick={() => setText(example)}>
            {name}
          </button>
        ))}
        <Recorder take={setText} />
      </p>
      <ScenarioText text={text} set={setText} play={() => void play()} isPlaying={run?.state === 'running'} />
      {problem !== '' && (
        <p class="problem" role="alert">
          <Said text={problem} />
        </p>
      )}
      {run !== undefined && <RunShown key={run.id} begun={run} told={setRun} />}
      {card === undefined ? (
        <SameCommand row="scenarios" />
      ) : (
        <SameCommand row="scenarios.record" input={{ card_id: card }} />
      )}
    </section>
  );
}

/** Remembers where it began; what was done since then becomes the text. */
function Recorder({ take }: { readonly take: (text: string) => void }) {
  const [from, setFrom] = useState<number | undefined>(undefined);
  const [said, say] = useState('');
  const ask = (input: object) => callRow<Recorded>('scenarios.record', { ...input });
  const failed = (error: unknown) => say((error as Error).message);
  const begin = () =>
    ask({}).then(({ last }) => {
      setFrom(last);
      say('Recording: what is done now becomes a scenario.');
    }, failed);
  const end = () =>
    ask({ after: from }).then(({ text, steps }) => {
      setFrom(undefined);
      say(steps === 0 ? 'Nothing was changed meanwhile.' : `${steps} ${steps === 1 ? 'step' : 'steps'}.`);
      if (steps > 0) take(text);
    }, failed);
  return (
    <span>
      <button
        type="button"
        class="small"
        aria-pressed={from !== undefined}
        onClick={() => void (from === undefined ? begin() : end())}
      >
        {from === undefined ? 'Record from here on' : 'End the recording'}
      </button>{' '}
      <span role="status">
        <Said text={said} />
      </span>
    </span>
  );
}

interface TextProps {
  readonly text: string;
  readonly set: (text: string) => void;
  readonly play: () => void;
  readonly isPlaying: boolean;
}

function ScenarioText({ text, set, play, isPlaying }: TextProps) {
  const [checked, tell] = useState<{ readonly of: string; readonly found: Checked } | undefined>(undefined);
  const canChange = useCanChange();
  const check = () =>
    callRow<Checked>('scenarios.check', { text }).then(
      found => tell({ of: text, found }),
      (error: unknown) =>
        tell({
          of: text,
          found: { name: null, steps: 0, problems: [{ line: 1, column: 1, text: (error as Error).message }] },
        }),
    );
  return (
    <form
      data-form="scenarios.play"
      onSubmit={event => {
        event.preventDefault();
        play();
      }}
    >
      <label for="scenario">Scenario, in YAML</label>
      <textarea
        id="scenario"
        rows={14}
        spellcheck={false}
        value={text}
        placeholder="Take an example, record one, or paste your own: cardwright help scenarios"
        onInput={event => set(event.currentTarget.value)}
      />
      <p class="buttons">
        <button type="submit" disabled={!canChange || isPlaying || text === ''}>
          Play
        </button>{' '}
        <button type="button" disabled={text === ''} onClick={() => void check()}>
          Check
        </button>{' '}
        {text !== '' && <Copy text={commandLine('scenarios.play', { text })} label="Copy command" />}
      </p>
      <p class="quiet">A step can replace everything in this sandbox: the examples begin with reset.</p>
      {checked !== undefined && checked.of === text && <CheckedShown checked={checked.found} />}
    </form>
  );
}

function CheckedShown({ checked: { steps, problems } }: { readonly checked: Checked }) {
  if (problems.length === 0) return <p class="answer" role="status">{`${steps} steps, nothing wrong.`}</p>;
  return <Rows list={PROBLEMS} items={problems} />;
}

function RunShown({ begun, told }: { readonly begun: Run; readonly told: (run: Run) => void }) {
  const [problem, tell] = useState('');
  const isRunning = begun.state === 'running';
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => {
      callRow<Run>('scenarios.show', { run_id: begun.id }).then(told, (error: unknown) =>
        tell((error as Error).message),
      );
    }, LOOK_EVERY);
    return () => clearInterval(timer);
  }, [begun.id, isRunning]);
  if (problem !== '') return <p class="problem">{problem}</p>;
  return (
    <div>
      <p role="status">{inWords(begun)}</p>
      {begun.steps.every(({ state }) => state !== 'failed') &&
        begun.says?.split('\n').map(line => (
          <p class="problem">
            <Said text={line} />
          </p>
        ))}
      <Steps run={begun} />
    </div>
  );
}

const STATES: Readonly<Record<string, string>> = {
  waiting: '',
  as_expected: 'as expected',
  failed: 'failed',
  not_done: 'not done',
};

function inWords({ state, steps }: Run): string {
  const done = steps.filter(step => step.state === 'as_expected').length;
  if (state === 'running') return `Playing: ${done} of ${steps.length} steps are done.`;
  return `${state === 'failed' ? 'Failed' : 'As expected'}: ${done} of ${steps.length} steps were as expected.`;
}

/** The first that waits is the one under way. */
function Steps({ run: { state, steps } }: { readonly run: Run }) {
  const now = state === 'running' ? steps.find(step => step.state === 'waiting')?.step : undefined;
  const list: TableOf<Run['steps'][number]> = {
    caption: 'Steps in their order',
    keyOf: ({ step }) => String(step),
    columns: [
      { title: 'Step', shows: ({ step }) => step },
      { title: 'Operation', shows: ({ operation }) => <Name name={operation} /> },
      {
        title: 'State',
        shows: ({ step, state: is }) => {
          if (step === now) return <Badge word="under way" />;
          if (STATES[is] === '') return null;
          return <Badge word={STATES[is] ?? ''} kind={is === 'as_expected' ? 'good' : is === 'failed' ? 'bad' : ''} />;
        },
      },
      {
        title: 'Outcome',
        shows: ({ state: is, says, outcome }) => (
          <span class={is === 'failed' ? 'problem' : ''}>
            <Said text={says ?? outcome ?? ''} />
          </span>
        ),
      },
      { title: 'Line', shows: ({ line }) => line, number: true, from: 'm' },
      { title: 'About', shows: ({ id }) => id && <Id id={id} />, from: 'm' },
    ],
    empty: 'No step.',
  };
  return <Rows list={list} items={steps} />;
}
