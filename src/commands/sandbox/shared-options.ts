/** Flags of `sandbox start` that go with `--store`, and those that do not. */
import { usage } from '../../cli/parsing/values.ts';

export interface SharedFlags {
  readonly store?: string | undefined;
  readonly port?: number | undefined;
  readonly migrate?: boolean | undefined;
  readonly admin?: boolean | undefined;
  readonly bind?: string | undefined;
  readonly behindProxy?: string | undefined;
}

/** They are of the store of this machine. */
const OF_THIS_MACHINE = {
  ipv6: '--ipv6',
  detach: '--detach',
  dialect: '--dialect',
  seed: '--seed',
  data: '--data',
  cards: '--cards',
  transactions: '--transactions',
  open: '--open',
  readyFile: '--ready-file',
} as const;

/** A host as clients send it, perhaps with a port. */
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/;

/** Throws `usage` for flags that exclude each other. */
export function sharedOptions(asked: SharedFlags & Readonly<Partial<Record<keyof typeof OF_THIS_MACHINE, unknown>>>) {
  const { store = '', port, migrate = false, admin = false, bind, behindProxy } = asked;
  for (const [name, written] of Object.entries(OF_THIS_MACHINE)) {
    const given = asked[name as keyof typeof OF_THIS_MACHINE];
    // What has a default is given by nobody.
    if (given !== undefined && given !== false && !(name === 'data' && given === 'demo')) {
      throw usage(
        `${written} is for the store of this machine; an account of --store is made with sandbox accounts create`,
      );
    }
  }
  if ((bind === undefined) !== (behindProxy === undefined)) {
    throw usage('--bind and --behind-proxy come together: beyond this machine the server stands behind your TLS proxy');
  }
  if (behindProxy !== undefined && !HOST.test(behindProxy)) {
    throw usage(`--behind-proxy: ${JSON.stringify(behindProxy)} is not a host such as sandbox.example.com`);
  }
  const behind = bind === undefined || behindProxy === undefined ? undefined : { bind, host: behindProxy };
  return { store, port, migrate, admin, behind };
}

/** Throws `usage` for flags that need `--store`. */
export function refuseShared({ migrate, admin, bind, behindProxy }: SharedFlags): void {
  const given = { '--migrate': migrate, '--admin': admin, '--bind': bind, '--behind-proxy': behindProxy };
  for (const [written, value] of Object.entries(given)) {
    if (value !== undefined && value !== false) throw usage(`${written} is for a server with --store`);
  }
}
