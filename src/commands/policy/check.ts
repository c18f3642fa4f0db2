/** The policy of a command: the file that was named, else the one that the profile names. Never one of the folder. */

import { SEVERITIES } from '../../books/facts.ts';
import {
  brokenCaps,
  type Caps,
  type CapsBroken,
  evaluatePolicy,
  type Finding,
  planChanges,
} from '../../books/policy.ts';
import type { Policy } from '../../books/policy-file.ts';
import type { Context } from '../../cli/context.ts';
import { countOf, SHORT_ID } from '../../cli/listing.ts';
import { COPY_FLAGS, openCopy } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, option, optionalArgument, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import { quote } from '../../cli/parsing/values.ts';
import { CliError, usage } from '../../core/errors.ts';
import { dollars, toUsd } from '../../core/money.ts';
import { didYouMean } from '../../core/nearest.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { accountRows } from '../../mirror/account-rows.ts';
import type { Copy } from '../../mirror/mirror.ts';
import { type Column, lineBlock, tableBlock } from '../../terminal/view.ts';
import { leftOutText } from '../tx/summary.ts';

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
  /** Its path as a word of a command. */
  readonly word: string;
}

/** Throws `usage` with every fault of the file, and where no file is named at all. */
export async function policyOf(ctx: Context, file: string | undefined): Promise<NamedPolicy> {
  const path = file ?? (await settingOf(ctx));
  const { readPolicy } = await import('../../books/policy-file.ts');
  const name = ctx.files.nameOf(path);
  return { policy: readPolicy(await ctx.files.readFile(path), name), name, word: shellWord(path) };
}

/** The policy with that rule alone. Throws `usage` naming those there are. */
export function onlyRule({ policy, name }: NamedPolicy, rule: string | undefined): Policy {
  if (rule === undefined) return policy;
  const rules = policy.rules.filter(each => each.name === rule);
  if (rules.length > 0) return { rules };
  const names = policy.rules.map(each => each.name);
  const meant = didYouMean(rule, names);
  throw usage(`--rule ${quote(rule)}: ${name} has the rules ${names.join(', ')}${meant && `.${meant}`}`);
}

async function settingOf(ctx: Context): Promise<string> {
  const { profile } = await ctx.api.identity();
  const found = (await (await ctx.profiles()).list()).find(({ name }) => name === profile);
  const path = found?.settings['policy'];
  if (typeof path === 'string') return path;
  throw usage(
    `no policy is named, and the profile ${profile} has no setting policy`,
    'cardwright policy check policy.yaml',
  );
}

export const USUAL_CARDS = 20;
/** Percent of the cards that are not terminated. */
export const USUAL_SHARE = 30;

/** `--max-cards 27`, for what a plan would touch. */
export function flagsThatAllow({ touched, of, broken }: CapsBroken): readonly string[] {
  const share = Math.ceil((touched * 100) / Math.max(1, of));
  return broken.map(cap => (cap === 'maxCards' ? `--max-cards ${touched}` : `--max-share ${share}%`));
}

/** The cards of a copy held against a policy, and the caps that its changes would break. */
export function judged(ctx: Context, policy: Policy, { db, as_of }: Pick<Copy, 'db' | 'as_of'>, caps: Caps) {
  const { cards, known, leftOut } = accountRows(db, Date.parse(as_of));
  if (leftOut > 0) ctx.ui.notice(leftOutText(leftOut));
  const judgement = evaluatePolicy(policy, cards, known);
  const changes = planChanges(judgement.findings);
  const alive = cards.filter(({ status, gone_at }) => status !== 'terminated' && gone_at === null).length;
  return { judgement, changes, cards, known, broken: brokenCaps(changes, alive, caps) };
}

const FAIL_ON = ['error', 'warning', 'none'] as const;

const COLUMNS: readonly Column[] = [
  { field: 'rule', title: 'RULE', kind: 'text', priority: 1 },
  { field: 'card_id', title: 'CARD', kind: 'id', priority: 1, shortTo: SHORT_ID },
  { field: 'label', title: 'LABEL', kind: 'text', priority: 4, shrink: true },
  { field: 'why', title: 'WHY', kind: 'text', priority: 2, shrink: 'wraps' },
  { field: 'would', title: 'WOULD', kind: 'text', priority: 3 },
  { field: 'severity', title: 'SEVERITY', kind: 'word', priority: 5 },
];

export const checkPolicy = command({
  path: 'policy check',
  summary: 'Check cards against the rules of a file',
  answers: {
    one: {
      as_of: tells.time('The copy is of this instant of the service.'),
      cards: tells.count('Cards that at least one rule speaks of.'),
      findings: tells.rows(
        {
          rule: tells.text('Name of the rule.'),
          severity: tells.word('How bad it is.', SEVERITIES),
          card_id: tells.text('The card.'),
          facts: tells.json('What the rule asked for: days and counts, USD, percent, texts.'),
          then: orNull(tells.word('What policy apply would do.', ['freeze', 'withdraw'])),
          amount: orNull(tells.usd('What it would withdraw, USD.')),
        },
        'Cards for which a rule holds, the worst first.',
      ),
      skipped: tells.rows(
        {
          rule: tells.text('Name of the rule.'),
          fact: tells.text('The fact that is not known.'),
          cards: tells.count('Cards it is not known of.'),
        },
        'What could not be looked at.',
      ),
    },
  },
  about: [
    'Nothing is changed. The cards and records are those of the mirror, which is brought up to date first when it is older than --max-age.',
    POLICY_FORMAT,
    'Facts: unused_days, age_days, expires_days, balance, spent_1d, spent_7d, spent_30d, limit, limit_use, declines_1d, refunds_30d, label, categories, metadata.<key>, own. Tests: ">= 30", "> 200.00", "< 10%", empty, set, a pattern such as "saas*", a list of patterns.',
    'A fact that is not known never holds; such cards are counted under skipped. The whole file is checked first: every fault is listed with its line and column.',
  ],
  reach: 'service',
  ends: {
    check_failed: 'A rule holds whose severity is --fail-on or worse. The findings are printed.',
    unreachable: 'With --offline there is no copy, or the service cannot be asked.',
  },
  args: { file: policyFile },
  flags: {
    failOn: option(takes.choice(FAIL_ON, 'The mildest severity that makes it exit 15; warning when left out.')),
    ...COPY_FLAGS,
  },
  examples: {
    'Look, and fail a CI job on a finding': 'policy check policy.yaml',
    'Look only': 'policy check policy.yaml --fail-on none',
    'The cards it found': "policy check policy.yaml --fail-on none --jq '.findings[].card_id'",
  },
  async run(ctx, { file, failOn = 'warning', ...asked }) {
    const named = await policyOf(ctx, file);
    using copy = await openCopy(ctx, asked);
    const caps = { maxCards: USUAL_CARDS, maxShare: USUAL_SHARE * 100 };
    const { judgement, broken } = judged(ctx, named.policy, copy, caps);
    return { judgement, applied: broken === undefined ? [] : flagsThatAllow(broken), as_of: copy.as_of, failOn, named };
  },
  show({ judgement, applied, as_of, failOn, named }) {
    const { cards, findings, skipped } = judgement;
    const rows = findings.map(finding => {
      const { rule, severity, card, change } = finding;
      const { card_id, label } = card;
      return { rule, card_id, label, why: whyOf(finding), would: change ? wouldOf(change) : '', severity };
    });
    // None is as severe as `none`.
    const least = (SEVERITIES as readonly string[]).indexOf(failOn);
    const wrong = findings.filter(({ severity }) => SEVERITIES.indexOf(severity) <= least);
    const others = findings.length - wrong.length;
    const milder = others > 0 ? ` of severity ${failOn} or worse; ${others} milder` : '';
    const found = new Set(findings.map(({ card }) => card.card_id)).size;
    const on = findings.length === 0 ? '' : ` on ${countOf(found, 'card')}`;
    const summary = `${countOf(findings.length, 'finding')}${on}; ${countOf(cards, 'card')} looked at, as of ${as_of}.`;
    const missing = skipped.map(
      each => `skipped ${each.rule}: ${each.fact} of ${countOf(each.cards, 'card')} is not known`,
    );
    return {
      data: {
        as_of,
        cards,
        findings: findings.map(({ rule, severity, card: { card_id }, facts, change }) => {
          const amount = change?.amount === undefined ? null : toUsd(change.amount);
          return { rule, severity, card_id, facts, then: change?.operation.replace('cards.', '') ?? null, amount };
        }),
        skipped,
      },
      noun: 'finding',
      idField: 'card_id',
      quiet: [...new Set(findings.map(({ card }) => card.card_id))],
      columns: COLUMNS,
      rows: { columns: COLUMNS, rows },
      blocks: [tableBlock(COLUMNS, rows), ...[summary, ...missing].map(text => lineBlock(text))],
      ...(wrong.length > 0 && { failure: wrongCards(named, wrong, applied, milder) }),
    };
  },
});

/** `unused_days 44, balance 80.00`. */
function whyOf({ facts }: Finding): string {
  return Object.entries(facts)
    .map(([fact, value]) => `${fact} ${value === '' || value === null ? 'empty' : plainValue(fact, value)}`)
    .join(', ');
}

function plainValue(fact: string, value: NonNullable<Finding['facts'][string]>): string {
  if (Array.isArray(value)) return value.join(';');
  if (typeof value !== 'number') return String(value);
  if (fact === 'limit_use') return `${value}%`;
  return /^(?:balance|limit|spent_\d+d)$/.test(fact) ? value.toFixed(2) : String(value);
}

/** `freeze`, `withdraw $80.00`. */
export function wouldOf(change: NonNullable<Finding['change']>): string {
  return change.amount === undefined ? 'freeze' : `withdraw ${dollars(change.amount)}`;
}

/** `flags` are those that an apply of it all needs. */
function wrongCards({ name, word }: NamedPolicy, wrong: readonly Finding[], flags: readonly string[], milder: string) {
  const cards = new Set(wrong.map(({ card }) => card.card_id)).size;
  const changes = wrong.some(({ change }) => change !== undefined);
  return new CliError('check_failed', {
    message: `${name}: ${countOf(wrong.length, 'finding')} on ${countOf(cards, 'card')}${milder}`,
    ...(changes && { hint: ['cardwright policy apply', word, ...flags, '--dry-run'].join(' ') }),
  });
}
