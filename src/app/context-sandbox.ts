/** What a command can do with the sandbox: its control surface, its files, its servers, its deliveries. */
import type { Context } from '../cli/context.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';
import { type InputSource, openInput } from './input.ts';
import type { ControlAddress } from './sandbox-transfer.ts';

export type ContextSandbox = Pick<
  Context,
  | 'sandbox'
  | 'sandboxElsewhere'
  | 'exportSandbox'
  | 'importSandbox'
  | 'subscriptionsIn'
  | 'sandboxDeliveries'
  | 'moveSandboxAside'
>;

/** `opened` are the connections of the run. */
export function contextSandbox(host: AppHost, opened: Connections, inputs: InputSource): ContextSandbox {
  return {
    sandbox: opened.admin,
    sandboxElsewhere: opened.sandboxElsewhere,
    exportSandbox: path => exportSandbox(host, opened, path),
    async importSandbox(path) {
      const { importFrom } = await import('./sandbox-transfer.ts');
      await using input = await openInput(inputs, path);
      return await importFrom(host, await control(opened), input);
    },
    async subscriptionsIn(path) {
      const { subscriptionsIn } = await import('./sandbox-transfer.ts');
      return subscriptionsIn(host, path);
    },
    async sandboxDeliveries() {
      const deliver = await opened.deliver();
      if (deliver === undefined) return undefined;
      return {
        run: async until => void (await deliver({ kind: 'signal', signal: until })),
        settle: async until => void (await deliver({ kind: 'idle', signal: until })),
      };
    },
    async moveSandboxAside() {
      const { moveStoreAway } = await import('./sandbox-transfer.ts');
      return moveStoreAway(host);
    },
  };
}

async function exportSandbox(host: AppHost, opened: Connections, path: string): Promise<number> {
  const { exportFrom } = await import('./sandbox-transfer.ts');
  return exportFrom(host, await control(opened), path);
}

async function control({ adminPlace }: Connections): Promise<ControlAddress> {
  const { baseUrl, socketPath, authorities, key } = await adminPlace();
  return { baseUrl, socketPath, authorities, token: await key() };
}
