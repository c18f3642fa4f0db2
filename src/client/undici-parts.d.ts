/** Types of the two parts of undici that are loaded; the package types its index alone. */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export default Client;
}

declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { TLSSocket } from 'node:tls';
  import type { buildConnector } from 'undici';
  /** Unlike the published type it returns the socket, which is how a connection attempt can be given up. */
  export default function build(
    options: buildConnector.BuildOptions,
  ): (options: buildConnector.Options, callback: buildConnector.Callback) => Socket | TLSSocket;
}
