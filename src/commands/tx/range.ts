/** A range of times that ends before it begins. The service may refuse it, or answer with nothing at all. */
import { usage } from '../../cli/parsing/values.ts';

interface Range {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Throws `usage` when both ends are there and stand the wrong way round. Times are ISO 8601. */
export function refuseBackwards({ since, until }: Range): void {
  if (since === undefined || until === undefined || Date.parse(since) <= Date.parse(until)) return;
  throw usage(`--since ${since} is after --until ${until}`);
}
