/** Hiding texts in the log of a CI job. */
import type { Environment } from '../platform/host.ts';

/**
 * `::add-mask::` lines under GitHub Actions, nothing elsewhere. `write` must not pass a redactor: the runner reads the
 * text itself, and takes the line out of the log.
 */
export function maskInLog(texts: readonly string[], env: Environment, write: (text: string) => void): void {
  if (env['GITHUB_ACTIONS'] !== 'true' || texts.length === 0) return;
  // A line break in a text would begin a command of its own.
  const escaped = texts.map(each => each.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'));
  write(escaped.map(each => `::add-mask::${each}\n`).join(''));
}
