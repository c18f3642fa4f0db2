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

/** Of an account when it is made. */
const OF_AN_ACCOUNT = 'an account of --store has it from its beginning: cardwright sandbox accounts create';
/** They are of the store of this machine, and why a server of a database has none of them. */
const OF_THIS_MACHINE = {
  ipv6: ['--ipv6', 'a server of --store listens on 127.0.0.1, or on the address of --bind'],
  detach: ['--detach', 'a server of --store is kept running by systemd or a container'],
  dialect: ['--dialect', OF_AN_ACCOUNT],
  seed: ['--seed', OF_AN_ACCOUNT],
  data: ['--data', OF_AN_ACCOUNT],
  cards: ['--cards', 'an account of --store gets as many with cardwright sandbox reset --data load'],
  transactions: ['--transactions', 'an account of --store gets as many with cardwright sandbox reset --data load'],
  open: ['--open', 'a server of --store shows no page'],
  readyFile: ['--ready-file', 'a server of --store prints its address when it serves'],
} as const;

/** A host as clients send it, perhaps with a port. */
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/;

/** Throws `usage` for flags that exclude each other. */
export function sharedOptions(asked: SharedFlags & Readonly<Partial<Record<keyof typeof OF_THIS_MACHINE, unknown>>>) {
  const { store = '', port, migrate = false, admin = false, bind, behindProxy } = asked;
  for (const [name, [written, why]] of Object.entries(OF_THIS_MACHINE)) {
    const given = asked[name as keyof typeof OF_THIS_MACHINE];
    // What has a default is given by nobody.
    if (given !== undefined && given !== false && !(name === 'data' && given === 'demo')) {
      throw usage(`${written} is for the store of this machine; ${why}`, 'cardwright sandbox start --help');
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
    if (value !== undefined && value !== false)
      throw usage(`${written} is for a server with --store`, 'cardwright sandbox start --help');
  }
}
