/** Which request is meant: one of the journal by its id, or one of a file. */

import type { Context } from '../../cli/context.ts';
import { argument, local, OURS, option, optionalArgument } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { must, text } from '../../contract/field.ts';
import { type CheckedRequest, readRequestFile } from '../../journal/approvals/request-file.ts';
import { refuseUntrue } from '../../journal/approvals/request-flaw.ts';
import type { StoredRequest } from '../../journal/approvals/review.ts';

const idField = must(
  text({ doc: 'Id of a request, apr_ and 26 characters, or its beginning.', basis: OURS, maxLength: 30 }),
);

export const request = argument(idField);
export const requestOrFile = optionalArgument(idField);

export const file = option(must(local('file', 'A file that --approval-out has written, in place of an id.')), '<file>');

/** Throws `usage` where both or none are named, and as `ApprovalReview.find`, `readRequestFile` and `refuseUntrue`. */
export async function requestNamed(
  ctx: Context,
  { request: id, file: path }: { readonly request?: string | undefined; readonly file?: string | undefined },
): Promise<CheckedRequest | StoredRequest> {
  if ((id === undefined) === (path === undefined)) throw usage('name one request: its id, or --file');
  if (path !== undefined) {
    const request = readRequestFile(await ctx.readFile(path), path);
    // First: who approves is not told that nothing is real where no profile is chosen.
    await ctx.approvals();
    refuseUntrue(request, await ctx.overrides());
    return request;
  }
  return (await ctx.approvals()).find(id ?? '');
}
