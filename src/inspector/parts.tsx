/** What all views are made of: texts, tables, what is copied, forms. */
import { addressOfId } from './address.ts';
import { commandLine, type Input } from './command-line.ts';
import { type ComponentChildren, useState } from './elements.ts';
import { useLive } from './live.ts';
import { printable, printableLines, shortTime } from './printable.ts';

/** Text from outside: visible, and apart from the direction of the text around it. */
export const Said = ({ text }: { readonly text: string }) => <bdi>{printable(text)}</bdi>;

/** A name of ours, such as `transaction.declined`: a narrow column breaks it at its dots and lines alone. */
export function Name({ name }: { readonly name: string }) {
  const parts = name.split(/(?<=[._])/);
  return (
    <span>
      {parts.map((part, nth) => (
        <>
          {nth > 0 && <wbr />}
          {part}
        </>
      ))}
    </span>
  );
}

/** A time of the sandbox's clock, UTC; on a narrow screen in two lines. */
export function Time({ iso }: { readonly iso: string }) {
  const [date, time] = shortTime(iso).split(' ');
  return (
    <time dateTime={iso}>
      <span>{date}</span> <span>{time}</span>
    </time>
  );
}

/** An id, as a link where a view shows it. */
export function Id({ id }: { readonly id: string }) {
  const address = addressOfId(id);
  const shown = <code class="id">{printable(id)}</code>;
  return address === undefined ? shown : <a href={address}>{shown}</a>;
}

export function Badge({ word, kind }: { readonly word: string; readonly kind?: string | undefined }) {
  return <span class={`badge ${kind ?? toneOf(word)}`}>{printable(word)}</span>;
}

const GOOD = /^(?:active|delivered|approved|holds|settled|completed|confirmed|right|live|2\d\d)$/;
const BAD = /^(?:failed|declined|fails|broken|terminated|cancelled|disabled|parked|5\d\d|4\d\d)$/;

function toneOf(word: string): string {
  return GOOD.test(word) ? 'good' : BAD.test(word) ? 'bad' : '';
}

export interface CopyProps {
  /** A function makes the text at the moment of the click. */
  readonly text: string | (() => string);
  readonly label?: string;
}

/** Its width never changes: a button that moves away under the pointer loses the click. */
export function Copy({ text, label = 'Copy' }: CopyProps) {
  const [said, say] = useState<'' | 'copied' | 'refused'>('');
  const copy = () =>
    navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => say('copied'),
      () => say('refused'),
    );
  return (
    <button
      type="button"
      class="small copies"
      data-copies={typeof text === 'string' ? text : undefined}
      title={said === 'refused' ? 'Select it and copy it by hand' : undefined}
      onClick={() => void copy()}
      onBlur={() => say('')}
    >
      <span class={said === '' ? '' : 'kept'}>{label}</span>
      <span class={said === 'copied' ? '' : 'kept'}>Copied</span>
      <span class={said === 'refused' ? '' : 'kept'}>By hand</span>
    </button>
  );
}

/** The command that gives the same; the newest one of the view answers the key `y`. */
export function SameCommand({ row, input = {} }: { readonly row: string; readonly input?: Input }) {
  const line = commandLine(row, input);
  return (
    <p class="command" data-command={line}>
      <span aria-hidden="true">$ </span>
      <code>{printable(line)}</code> <Copy text={line} />
    </p>
  );
}

export interface Cell {
  readonly title: string;
  /** Numbers stand at the right. */
  readonly number?: boolean;
  /** Left out below 600 px. */
  readonly wide?: boolean;
  /** Of a list whose columns are equal otherwise. */
  readonly width?: 'first' | 'label' | 'time';
}

/** Classes of a column. */
export const classOf = ({ number, wide, width }: Cell) =>
  [number && 'number', wide && 'wide', width].filter(Boolean).join(' ');

export interface TableProps {
  readonly caption: string;
  readonly cells: readonly Cell[];
  readonly rows: readonly {
    readonly key: string;
    readonly cells: readonly ComponentChildren[];
    readonly href?: string;
  }[];
  readonly empty?: ComponentChildren;
}

/** A real table; rows with an address are gone through with `j`, `k` and Enter. */
export function Table({ caption, cells, rows, empty }: TableProps) {
  if (rows.length === 0) return <div class="empty">{empty ?? 'Nothing here.'}</div>;
  return (
    <section class="scroll" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {cells.map(cell => (
              <th scope="col" class={classOf(cell)}>
                {cell.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.key} data-row={row.href}>
              {row.cells.map((content, nth) => (
                <td class={classOf(cells[nth] ?? { title: '' })}>{content}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Terms with their values. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export const Text = ({ text, label }: { readonly text: string; readonly label: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls is reached by the keyboard
  <section class="text" aria-label={label} tabIndex={0}>
    <pre>{printableLines(text)}</pre>
  </section>
);

/** What a view shows before and instead of an answer. */
export function Waiting({ error }: { readonly error: Error | undefined }) {
  if (error === undefined) return <p class="quiet">Loading …</p>;
  return (
    <p class="problem" role="alert">
      <Said text={error.message} />
    </p>
  );
}

export interface PageFacts {
  readonly page?: number;
  readonly total?: number;
  readonly total_pages?: number;
}

/** Steps through the pages of a list. */
export function Pages({ facts, goTo }: { readonly facts: PageFacts; readonly goTo: (page: number) => void }) {
  const { page = 1, total = 0, total_pages: pages = 1 } = facts;
  if (pages <= 1) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" class="small" disabled={page <= 1} onClick={() => goTo(page - 1)}>
        Newer
      </button>
      <span>
        {page} of {pages}, {total.toLocaleString('en-US')} in all
      </span>
      <button type="button" class="small" disabled={page >= pages} onClick={() => goTo(page + 1)}>
        Older
      </button>
    </nav>
  );
}

/** The head of a view: its one heading, to which the focus goes. */
export function Head({
  title,
  children,
}: {
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="head">
      <h1 tabIndex={-1}>{title}</h1>
      <div class="actions">{children}</div>
    </div>
  );
}

/** Off while the server is gone, and where the session may only look. */
export function useCanChange(): boolean {
  const { link } = useLive();
  return link === 'live';
}
