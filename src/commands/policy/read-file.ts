/** The policy of a command: the file that was named, else the one that the profile names. Never one of the folder. */

import type { CapsBroken } from '../../books/policy.ts';
import { type Policy, readPolicy } from '../../books/policy-file.ts';
import type { Context } from '../../cli/context.ts';
import { local, optionalArgument } from '../../cli/parsing/flag.ts';
import { quote, usage } from '../../cli/parsing/values.ts';
import { CliError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { shellWord } from '../../core/shell-quote.ts';

const MOST_BYTES = 1_048_576;

export const policyFile = optionalArgument(
  local('file', "Policy in YAML, - for standard input; the profile's when left out."),
);

/** What facts and tests there are, for the help of each command that reads a policy. */
export const POLICY_FORMAT =
  'A rule has a name, when (facts and tests that must all hold), and may have cards (which ones: status, bin, label, metadata.<key>; active ones unless said), severity (error, warning or info) and then (freeze, or withdraw: {keep: 20.00}).';

export interface NamedPolicy {
  readonly policy: Policy;
  /** What the user called it, in messages. */
  readonly name: string;
  /** The same as a word of a command. */
  readonly word: string;
}

/** Throws `usage` with every fault of the file, and where no file is named at all. */
export async function policyOf(ctx: Context, file: string | undefined): Promise<NamedPolicy> {
  const path = file ?? (await settingOf(ctx));
  const { readYaml } = await import('../../terminal/yaml-text.ts');
  const name = path === '-' ? 'standard input' : path;
  const content = path === '-' ? await ctx.stdin.readAll(MOST_BYTES) : await ctx.readFile(path);
  return { policy: readPolicy(readYaml(content), name), name, word: shellWord(path) };
}

/** The policy with that rule alone. Throws `usage` naming those there are. */
export function onlyRule({ policy, name }: NamedPolicy, rule: string | undefined): Policy {
  if (rule === undefined) return policy;
  const rules = policy.rules.filter(each => each.name === rule);
  if (rules.length > 0) return { rules };
  const names = policy.rules.map(each => each.name);
  const near = nearest(rule, names);
  const meant = near === undefined ? '' : `. Did you mean ${quote(near)}?`;
  throw usage(`--rule ${quote(rule)}: ${name} has the rules ${names.join(', ')}${meant}`);
}

async function settingOf(ctx: Context): Promise<string> {
  const { profile } = await ctx.identity();
  const profiles = await ctx.profiles();
  const found = (await profiles.list()).find(({ name }) => name === profile);
  const path = found?.settings['policy'];
  if (typeof path === 'string') return path;
  throw new CliError('usage', {
    message: `no policy is named, and the profile ${profile} has no setting policy`,
    hint: 'cardwright policy check policy.yaml',
    outcome: 'not_sent',
  });
}

export const USUAL_CARDS = 20;
/** Percent of the cards that are not terminated. */
export const USUAL_SHARE = 30;

/** `--max-cards 27`, for what a plan would touch. */
export function flagsThatAllow({ touched, of, broken }: CapsBroken): readonly string[] {
  const share = Math.ceil((touched * 100) / Math.max(1, of));
  return broken.map(cap => (cap === 'maxCards' ? `--max-cards ${touched}` : `--max-share ${share}%`));
}
