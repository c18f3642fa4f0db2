/** Pages of a list whose rows stay text until somebody asks for them as objects. */
import type { ListPage, PageFacts } from '../contract/operation.ts';
import type { RawRows } from '../core/raw-rows.ts';
import type { Body } from './body.ts';
import { headerText } from './headers.ts';
import type { Answered, Interpretation, Judged } from './interpretation.ts';
import type { CutPage, Cutter } from './row-slicer.ts';

/** The page as text where its rows need no reading. */
export function cutOf({ status, bytes, headers, failure }: Answered, { cutter }: Judged): CutPage | undefined {
  if (cutter === undefined || status !== 200 || failure !== undefined) return undefined;
  return headerText(headers, 'content-encoding') === undefined ? cutter.cut(bytes) : undefined;
}

/** A page whose rows are parsed when they are asked for as objects. */
class TextPage implements ListPage<unknown> {
  readonly page: PageFacts;
  readonly written: RawRows;
  #parsed: readonly unknown[] | undefined;

  constructor(page: PageFacts, written: RawRows) {
    this.page = page;
    this.written = written;
  }

  get count(): number {
    return this.written.count;
  }

  get data(): readonly unknown[] {
    const { count } = this;
    this.#parsed ??= Array.from({ length: count }, (_, index) => JSON.parse(this.written.row(index)) as unknown);
    return this.#parsed;
  }
}

/** The verdict with the rows of the page as they were written. */
export function withRowTexts(verdict: Interpretation, written: RawRows): Interpretation {
  if (verdict.class !== 'done') return verdict;
  const { page } = verdict.decoded.result as ListPage<unknown>;
  return { ...verdict, decoded: { ...verdict.decoded, result: new TextPage(page, written) } };
}

interface Read {
  readonly exchange: Answered;
  readonly body: Body;
}

/** Whoever asks a page that was read for its text pays for learning what its rows look like; others do not. */
export function learningFrom(verdict: Interpretation, cutter: Cutter, { exchange, body }: Read): Interpretation {
  if (verdict.class !== 'done' || exchange.status !== 200 || verdict.decoded.warnings.length > 0) return verdict;
  const { data, page } = verdict.decoded.result as ListPage<unknown>;
  let written: RawRows | undefined;
  let isAsked = false;
  const result: ListPage<unknown> = {
    data,
    page,
    get written() {
      if (!isAsked && body.kind === 'json') {
        cutter.learn(body.value, data);
        // What was learnt from this page holds for it as well.
        written = cutter.cut(exchange.bytes)?.written;
      }
      isAsked = true;
      return written;
    },
  };
  return { ...verdict, decoded: { ...verdict.decoded, result } };
}
