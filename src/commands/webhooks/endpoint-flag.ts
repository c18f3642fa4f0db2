/** The endpoint of a subscription as a flag takes it. */
import { usage } from '../../cli/parsing/values.ts';

/** The service states https (interface 4.5); plain http is for a receiver on this machine, which a sandbox takes. */
const ENDPOINT = /^(https:\/\/|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)([:/]|$))/;

/** The address as it is. Throws `usage` for another scheme. */
export function checkEndpoint(url: string): string {
  if (ENDPOINT.test(url)) return url;
  throw usage(`--url ${JSON.stringify(url)} must be an https address`);
}
