/** A range of times that ends before it begins. The service may refuse it, or answer with nothing at all. */
import { usage } from '../../cli/parsing/values.ts';

/** Throws `usage` when both ends are there and stand the wrong way round. Times are ISO 8601. */
export function refuseBackwards({
  from,
  to,
}: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}) {
  if (from === undefined || to === undefined || Date.parse(from) <= Date.parse(to)) return;
  throw usage(`--from ${from} is after --to ${to}`);
}
