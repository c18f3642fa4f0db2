/** Every group and top-level command, in the order of the root help. A command's code is loaded when it is named. */
import type { Command, Leaves, Registry } from '../cli/parsing/command.ts';

/** The commands of a group that stands in one file. */
const byPath = (commands: readonly Command[]): Leaves =>
  Object.fromEntries(commands.map(command => [command.path, async () => command]));

const alone = (path: string, load: Leaves[string]) => async () => ({ [path]: load });

export const REGISTRY: Registry = [
  {
    name: 'cards',
    heading: 'Cards and money',
    summary: 'create, list, get, details, exec, fund, freeze, terminate and more',
    leaves: async () => (await import('./cards/group.ts')).CARD_COMMANDS,
  },
  {
    name: 'fleet',
    heading: 'Cards and money',
    summary: 'cards as code: one file says which cards there are',
    leaves: async () => (await import('./fleet/group.ts')).FLEET_COMMANDS,
  },
  {
    name: 'bins',
    heading: 'Cards and money',
    summary: 'list BINs and pick one for a job',
    leaves: async () => byPath((await import('./bins/bins.ts')).BIN_COMMANDS),
  },
  {
    name: 'wallet',
    heading: 'Cards and money',
    summary: 'balances and deposit addresses',
    leaves: async () => byPath((await import('./wallet/wallet.ts')).WALLET_COMMANDS),
  },
  {
    name: 'tx',
    heading: 'Cards and money',
    summary: 'list transactions, follow, sum or chart them',
    leaves: async () => (await import('./tx/group.ts')).TRANSACTION_COMMANDS,
  },
  {
    name: 'overview',
    heading: 'Cards and money',
    summary: 'one page of the account: money, cards, spending, what needs attention',
    leaves: alone('overview', async () => (await import('./overview/overview.ts')).showOverview),
  },
  {
    name: 'books',
    heading: 'Cards and money',
    summary: 'a copy of the account: reconcile it, statements, exports, SQL',
    leaves: async () => (await import('./books/group.ts')).BOOKS_COMMANDS,
  },
  {
    name: '3ds',
    heading: 'Events',
    summary: 'list, wait for or watch one-time codes',
    leaves: async () => byPath((await import('./3ds/challenges.ts')).CHALLENGE_COMMANDS),
  },
  {
    name: 'webhooks',
    heading: 'Events',
    summary: 'subscribe, listen, expect, verify, sign',
    leaves: async () => (await import('./webhooks/group.ts')).WEBHOOK_COMMANDS,
  },
  {
    name: 'wait',
    heading: 'Events',
    summary: 'wait until a card, the wallet or a transaction meets a condition',
    leaves: async () => byPath((await import('./wait/wait.ts')).WAIT_COMMANDS),
  },
  {
    name: 'policy',
    heading: 'Safety',
    summary: 'check cards against the rules of a file; freeze or withdraw',
    leaves: async () => (await import('./policy/group.ts')).POLICY_COMMANDS,
  },
  {
    name: 'ops',
    heading: 'Safety',
    summary: 'operations in the journal: list, show, resume, resolve, approve, keys',
    leaves: async () => (await import('./ops/group.ts')).OP_COMMANDS,
  },
  {
    name: 'journal',
    heading: 'Safety',
    summary: 'the journal itself: a shared one, its checks, going on after a restore',
    leaves: async () => byPath((await import('./journal/journal.ts')).JOURNAL_COMMANDS),
  },
  {
    name: 'audit',
    heading: 'Safety',
    summary: 'the record of writes and reveals: list, verify, export',
    leaves: async () => byPath((await import('./audit/audit.ts')).AUDIT_COMMANDS),
  },
  {
    name: 'doctor',
    heading: 'Safety',
    summary: 'check key, network, clock, files and contract',
    leaves: alone('doctor', async () => (await import('./doctor.ts')).doctor),
  },
  {
    name: 'explain',
    heading: 'Safety',
    summary: 'explain an exit code, an error, an operation or a request',
    leaves: alone('explain', async () => (await import('./explain.ts')).explain),
  },
  {
    name: 'login',
    heading: 'Setting up',
    summary: 'save a key in a profile',
    leaves: alone('login', async () => (await import('./login.ts')).login),
  },
  {
    name: 'logout',
    heading: 'Setting up',
    summary: 'remove a key from this machine',
    leaves: alone('logout', async () => (await import('./logout.ts')).logout),
  },
  {
    name: 'whoami',
    heading: 'Setting up',
    summary: 'profile, mode, address and key of this run',
    leaves: alone('whoami', async () => (await import('./whoami.ts')).whoami),
  },
  {
    name: 'profiles',
    heading: 'Setting up',
    summary: 'list, show, use, set and remove profiles',
    leaves: async () => byPath((await import('./profiles/profiles.ts')).PROFILE_COMMANDS),
  },
  {
    name: 'sandbox',
    heading: 'Setting up',
    summary: 'the whole service on this machine: start, exec, simulate, clock, faults',
    leaves: async () => (await import('./sandbox/group.ts')).SANDBOX_COMMANDS,
  },
  {
    name: 'contract',
    heading: 'Setting up',
    summary: 'the facts about the service: stated, assumed or overridden',
    leaves: async () => byPath((await import('./contract/contract.ts')).CONTRACT_COMMANDS),
  },
  {
    name: 'api',
    heading: 'For scripts',
    summary: 'send a raw request, with the same guards',
    leaves: alone('api', async () => (await import('./api/api.ts')).api),
  },
  {
    name: 'agent',
    heading: 'For scripts',
    summary: 'the skill and the tools for agents on this machine',
    leaves: async () => byPath((await import('./agent.ts')).AGENT_COMMANDS),
  },
  {
    name: 'mcp',
    heading: 'For scripts',
    summary: 'tools for an agent, over standard input and output',
    leaves: alone('mcp', async () => (await import('./mcp/mcp.ts')).serveTools),
  },
  {
    name: 'completion',
    heading: 'For scripts',
    summary: 'shell completion: install it, or print its script',
    leaves: alone('completion', async () => (await import('./completion.ts')).completion),
  },
  {
    name: 'commands',
    heading: 'For scripts',
    summary: 'the command tree as data',
    leaves: alone('commands', async () => (await import('./commands.ts')).listCommands),
  },
  {
    name: 'schema',
    heading: 'For scripts',
    summary: 'JSON Schema of each answer',
    leaves: alone('schema', async () => (await import('./schema.ts')).printSchema),
  },
  {
    name: 'help',
    heading: 'For scripts',
    summary: 'options | environment | exit-codes | output | safety | scripting | scenarios',
    unlisted: true,
    leaves: async () => byPath((await import('./help/topics.ts')).HELP_TOPICS),
  },
];
