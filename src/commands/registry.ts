/** Every group and top-level command, in the order of the root help. A module is loaded when one of its commands is named. */
import type { Command, Group, Registry } from '../cli/parsing/declaration.ts';

/** A module, and the words of its commands behind that of the group; none for the group's own command. */
type Source = readonly [load: () => Promise<object>, words?: string];

const group = (name: string, summary: string, ...sources: readonly Source[]): Omit<Group, 'heading'> => ({
  name,
  summary,
  leaves: async () =>
    Object.fromEntries(
      sources.flatMap(([load, words]) =>
        (words?.split(', ') ?? [undefined]).map(word => {
          const path = word === undefined ? name : `${name} ${word}`;
          return [path, async () => commandIn(await load(), path)];
        }),
      ),
    ),
});

function commandIn(module: object, path: string): Command {
  const found = Object.values(module).find(each => each?.path === path);
  if (found === undefined) throw new RangeError(`no command ${path} is in its module`);
  return found;
}

const under = (heading: string, groups: readonly Omit<Group, 'heading'>[]): Registry =>
  groups.map(each => ({ ...each, heading }));

export const REGISTRY: Registry = [
  ...under('Cards and money', [
    group(
      'cards',
      'create, list, get, details, exec, fund, freeze, terminate and more',
      [() => import('./cards/create.ts'), 'create'],
      [() => import('./cards/cards.ts'), 'list, get, search'],
      [() => import('./cards/details.ts'), 'details, exec'],
      [() => import('./cards/lease.ts'), 'lease'],
      [() => import('./cards/money.ts'), 'fund, withdraw'],
      [() => import('./cards/state.ts'), 'freeze, unfreeze, terminate'],
    ),
    group(
      'fleet',
      'cards as code: one file says which cards there are',
      [() => import('./fleet/file.ts'), 'validate'],
      [() => import('./fleet/plan.ts'), 'plan'],
      [() => import('./fleet/apply.ts'), 'apply'],
      [() => import('./fleet/import.ts'), 'import'],
    ),
    group('bins', 'list BINs and pick one for a job', [() => import('./bins/bins.ts'), 'list, get, pick']),
    group(
      'wallet',
      'balances and deposit addresses',
      [() => import('./wallet/wallet.ts')],
      [() => import('./wallet/wallet.ts'), 'addresses'],
    ),
    group(
      'tx',
      'list transactions, follow or sum them',
      [() => import('./tx/transactions.ts'), 'list, get, search, tail'],
      [() => import('./tx/summary.ts'), 'summary'],
    ),
    group('overview', 'one page of the account: money, cards, spending, what needs attention', [
      () => import('./overview/overview.ts'),
    ]),
    group(
      'books',
      'a copy of the account: reconcile it, statements, exports, SQL',
      [() => import('./books/books.ts'), 'sync, status'],
      [() => import('./books/reconcile.ts'), 'reconcile'],
      [() => import('./books/statement.ts'), 'statement'],
      [() => import('./books/export.ts'), 'export'],
      [() => import('./books/books.ts'), 'query, reset'],
    ),
  ]),
  ...under('Events', [
    group('3ds', 'list, wait for or watch one-time codes', [() => import('./3ds/challenges.ts'), 'list, wait, watch']),
    group(
      'webhooks',
      'subscribe, listen, expect, verify, sign',
      [() => import('./webhooks/subscriptions.ts'), 'create, list, get, update, delete'],
      [() => import('./webhooks/listen.ts'), 'listen, expect'],
      [() => import('./webhooks/verify.ts'), 'verify, sign'],
      [() => import('./webhooks/subscriptions.ts'), 'events'],
    ),
    group('wait', 'wait until a card, the wallet or a transaction meets a condition', [
      () => import('./wait/wait.ts'),
      'card, wallet, tx',
    ]),
  ]),
  ...under('Safety', [
    group(
      'policy',
      'check cards against the rules of a file; freeze or withdraw',
      [() => import('./policy/check.ts'), 'check'],
      [() => import('./policy/apply.ts'), 'apply'],
    ),
    group(
      'ops',
      'operations in the journal: list, show, resume, resolve, approve, keys',
      [() => import('./ops/ops.ts'), 'list, show, resume'],
      [() => import('./ops/resolve.ts'), 'resolve'],
      [() => import('./ops/approvals.ts'), 'approve, reject, keys create, keys show, keys list'],
    ),
    group('journal', 'the journal itself: a shared one, its checks, going on after a restore', [
      () => import('./journal/journal.ts'),
      'init, status, check, accept, leave',
    ]),
    group('audit', 'the record of writes and reveals: list, verify, export', [
      () => import('./audit/audit.ts'),
      'list, verify, export',
    ]),
    group('doctor', 'check key, network, clock, files and contract', [() => import('./doctor.ts')]),
    group('explain', 'explain an exit code or an error', [() => import('./explain.ts')]),
  ]),
  ...under('Setting up', [
    group('login', 'save a key in a profile', [() => import('./login.ts')]),
    group('logout', 'remove a key from this machine', [() => import('./logout.ts')]),
    group('whoami', 'profile, mode, address and key of this run', [() => import('./whoami.ts')]),
    group('profiles', 'list, show, use, set and remove profiles', [
      () => import('./profiles/profiles.ts'),
      'list, show, use, set, remove',
    ]),
    group(
      'sandbox',
      'the whole service on this machine: start, exec, simulate, clock, faults',
      [() => import('./sandbox/server.ts'), 'start, stop, account'],
      [() => import('./sandbox/exec.ts'), 'exec'],
      [() => import('./sandbox/server.ts'), 'status'],
      [() => import('./sandbox/open.ts'), 'open'],
      [() => import('./sandbox/inspect.ts'), 'check, why, timeline, events'],
      [() => import('./sandbox/server.ts'), 'reset'],
      [
        () => import('./sandbox/simulate.ts'),
        'simulate authorize, simulate increment, simulate settle, simulate reverse, simulate expire, simulate refund, simulate force-post, simulate challenge, simulate answer, simulate cancel, simulate deposit, simulate confirm, simulate fail',
      ],
      [() => import('./sandbox/scenario.ts'), 'simulate run'],
      [() => import('./sandbox/clock.ts'), 'clock, clock set, clock advance, clock timers'],
      [
        () => import('./sandbox/deliveries.ts'),
        'deliveries list, deliveries show, deliveries redeliver, deliveries recover, deliveries send, deliveries rotate',
      ],
      [() => import('./sandbox/faults.ts'), 'faults add, faults list, faults remove, faults clear'],
      [() => import('./sandbox/inspect.ts'), 'requests'],
      [
        () => import('./sandbox/snapshots.ts'),
        'snapshot save, snapshot list, snapshot restore, snapshot remove, export, import',
      ],
    ),
    group('contract', 'the facts about the service: stated, assumed or overridden', [
      () => import('./contract/contract.ts'),
      'check, show, openapi',
    ]),
  ]),
  ...under('For scripts', [
    group('api', 'send a raw request, with the same guards', [() => import('./api/api.ts')]),
    group('agent', 'the skill and the tools for agents on this machine', [() => import('./agent.ts'), 'setup, status']),
    group('mcp', 'tools for an agent, over standard input and output', [() => import('./mcp/mcp.ts')]),
    group('completion', 'shell completion: install it, or print its script', [() => import('./completion.ts')]),
    group('commands', 'the command tree as data', [() => import('./commands.ts')]),
    group('schema', 'JSON Schema of each answer', [() => import('./schema.ts')]),
    {
      ...group('help', 'options | environment | exit-codes | output | safety | scripting | scenarios', [
        () => import('./help/topics.ts'),
        'options, environment, exit-codes, output, safety, scripting, scenarios',
      ]),
      unlisted: true,
    },
  ]),
];
