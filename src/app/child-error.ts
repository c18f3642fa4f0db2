/** What a process of this program said when it failed with `--json`: its last line on standard error. */
import type { ErrorKind } from '../core/errors.ts';

/** Another version may leave out every member but the message. */
export interface ChildError {
  readonly message: string;
  readonly kind?: ErrorKind;
  readonly notes?: readonly string[];
  readonly hint?: string;
  readonly faults?: readonly { readonly text: string }[];
}

/** Undefined for output that ends otherwise. */
export function errorInLastLine(output: string): ChildError | undefined {
  const { error } = (jsonOf(lastLine(output)) ?? {}) as { readonly error?: ChildError };
  return typeof error?.message === 'string' ? error : undefined;
}

export function lastLine(output: string): string {
  return output.trimEnd().split('\n').at(-1) ?? '';
}

/** Undefined for what is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
