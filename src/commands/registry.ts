/** Every group and top-level command, in the order of the root help. A command's code is loaded when it is named. */
import type { Command, Group, Leaves, Registry } from '../cli/parsing/command.ts';

/** The commands of a group that stands in one file. */
const byPath = (commands: readonly Command[]): Leaves =>
  Object.fromEntries(commands.map(command => [command.path, async () => command]));

const alone = (path: string, load: Leaves[string]) => async () => ({ [path]: load });

const under = (heading: string, groups: readonly Omit<Group, 'heading'>[]): Registry =>
  groups.map(group => ({ ...group, heading }));

export const REGISTRY: Registry = [
  ...under('Cards and money', [
    {
      name: 'cards',
      summary: 'create, list, get, details, exec, fund, freeze, terminate and more',
      leaves: async () => (await import('./cards/group.ts')).CARD_COMMANDS,
    },
    {
      name: 'fleet',
      summary: 'cards as code: one file says which cards there are',
      leaves: async () => (await import('./fleet/group.ts')).FLEET_COMMANDS,
    },
    {
      name: 'bins',
      summary: 'list BINs and pick one for a job',
      leaves: async () => byPath((await import('./bins/bins.ts')).BIN_COMMANDS),
    },
    {
      name: 'wallet',
      summary: 'balances and deposit addresses',
      leaves: async () => byPath((await import('./wallet/wallet.ts')).WALLET_COMMANDS),
    },
    {
      name: 'tx',
      summary: 'list transactions, follow or sum them',
      leaves: async () => (await import('./tx/group.ts')).TRANSACTION_COMMANDS,
    },
    {
      name: 'overview',
      summary: 'one page of the account: money, cards, spending, what needs attention',
      leaves: alone('overview', async () => (await import('./overview/overview.ts')).showOverview),
    },
    {
      name: 'books',
      summary: 'a copy of the account: reconcile it, statements, exports, SQL',
      leaves: async () => (await import('./books/group.ts')).BOOKS_COMMANDS,
    },
  ]),
  ...under('Events', [
    {
      name: '3ds',
      summary: 'list, wait for or watch one-time codes',
      leaves: async () => byPath((await import('./3ds/challenges.ts')).CHALLENGE_COMMANDS),
    },
    {
      name: 'webhooks',
      summary: 'subscribe, listen, expect, verify, sign',
      leaves: async () => (await import('./webhooks/group.ts')).WEBHOOK_COMMANDS,
    },
    {
      name: 'wait',
      summary: 'wait until a card, the wallet or a transaction meets a condition',
      leaves: async () => byPath((await import('./wait/wait.ts')).WAIT_COMMANDS),
    },
  ]),
  ...under('Safety', [
    {
      name: 'policy',
      summary: 'check cards against the rules of a file; freeze or withdraw',
      leaves: async () => (await import('./policy/group.ts')).POLICY_COMMANDS,
    },
    {
      name: 'ops',
      summary: 'operations in the journal: list, show, resume, resolve, approve, keys',
      leaves: async () => (await import('./ops/group.ts')).OP_COMMANDS,
    },
    {
      name: 'journal',
      summary: 'the journal itself: a shared one, its checks, going on after a restore',
      leaves: async () => byPath((await import('./journal/journal.ts')).JOURNAL_COMMANDS),
    },
    {
      name: 'audit',
      summary: 'the record of writes and reveals: list, verify, export',
      leaves: async () => byPath((await import('./audit/audit.ts')).AUDIT_COMMANDS),
    },
    {
      name: 'doctor',
      summary: 'check key, network, clock, files and contract',
      leaves: alone('doctor', async () => (await import('./doctor.ts')).doctor),
    },
    {
      name: 'explain',
      summary: 'explain an exit code or an error',
      leaves: alone('explain', async () => (await import('./explain.ts')).explain),
    },
  ]),
  ...under('Setting up', [
    {
      name: 'login',
      summary: 'save a key in a profile',
      leaves: alone('login', async () => (await import('./login.ts')).login),
    },
    {
      name: 'logout',
      summary: 'remove a key from this machine',
      leaves: alone('logout', async () => (await import('./logout.ts')).logout),
    },
    {
      name: 'whoami',
      summary: 'profile, mode, address and key of this run',
      leaves: alone('whoami', async () => (await import('./whoami.ts')).whoami),
    },
    {
      name: 'profiles',
      summary: 'list, show, use, set and remove profiles',
      leaves: async () => byPath((await import('./profiles/profiles.ts')).PROFILE_COMMANDS),
    },
    {
      name: 'sandbox',
      summary: 'the whole service on this machine: start, exec, simulate, clock, faults',
      leaves: async () => (await import('./sandbox/group.ts')).SANDBOX_COMMANDS,
    },
    {
      name: 'contract',
      summary: 'the facts about the service: stated, assumed or overridden',
      leaves: async () => byPath((await import('./contract/contract.ts')).CONTRACT_COMMANDS),
    },
  ]),
  ...under('For scripts', [
    {
      name: 'api',
      summary: 'send a raw request, with the same guards',
      leaves: alone('api', async () => (await import('./api/api.ts')).api),
    },
    {
      name: 'agent',
      summary: 'the skill and the tools for agents on this machine',
      leaves: async () => byPath((await import('./agent.ts')).AGENT_COMMANDS),
    },
    {
      name: 'mcp',
      summary: 'tools for an agent, over standard input and output',
      leaves: alone('mcp', async () => (await import('./mcp/mcp.ts')).serveTools),
    },
    {
      name: 'completion',
      summary: 'shell completion: install it, or print its script',
      leaves: alone('completion', async () => (await import('./completion.ts')).completion),
    },
    {
      name: 'commands',
      summary: 'the command tree as data',
      leaves: alone('commands', async () => (await import('./commands.ts')).listCommands),
    },
    {
      name: 'schema',
      summary: 'JSON Schema of each answer',
      leaves: alone('schema', async () => (await import('./schema.ts')).printSchema),
    },
    {
      name: 'help',
      summary: 'options | environment | exit-codes | output | safety | scripting | scenarios',
      unlisted: true,
      leaves: async () => byPath((await import('./help/topics.ts')).HELP_TOPICS),
    },
  ]),
];
