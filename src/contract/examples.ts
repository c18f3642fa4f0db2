/** One example of each object of the wire, by the name of its schema; made up, in the form the sandbox answers. */
import examples from './examples.json' with { type: 'json' };

export const EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = examples;
