/** Who may read along with this process: what its runtime was started with, and who records the session. */
import type { Environment } from './host.ts';

export interface Runtime {
  /** Arguments of the runtime itself. */
  readonly execArgv: readonly string[];
  readonly env: Environment;
  readonly inspected: boolean;
}

/** Options that open the memory to others, or write it or the traffic out. */
const OPENING =
  /^--(?:inspect|report|heapsnapshot|heap-prof|heap-snapshot|tls-keylog|abort-on-uncaught-exception|experimental-network-inspection|debug(?:-brk|-port)?$)/;
/** Options that put foreign code into the process. */
const PRELOADING =
  /^(?:-r|--require|--import|--loader|--experimental-loader|--experimental-config-file|--experimental-default-config-file)$/;

/** The options and variables that let somebody read along, as they were given; empty when nobody can. */
export function watchers({ execArgv, env, inspected }: Runtime): readonly string[] {
  const found = optionsOf({ execArgv, env }).filter(option => OPENING.test(option));
  if (inspected && found.length === 0) found.push('an open debugger port');
  // Node prints headers and bodies of its own modules when told to.
  if (/\b(?:http|https|http2|net|tls|stream|child_process)\b|\*/i.test(env['NODE_DEBUG'] ?? ''))
    found.push('NODE_DEBUG');
  return [...new Set(found)];
}

/** Options that load foreign code before ours. */
export function preloads(runtime: Omit<Runtime, 'inspected'>): readonly string[] {
  return [...new Set(optionsOf(runtime).filter(option => PRELOADING.test(option)))];
}

/** Variables that say a session is recorded or seen elsewhere. */
export function recorders(env: Environment): readonly string[] {
  return Object.keys(env).filter(
    name => env[name] && (name === 'SSH_CONNECTION' || name === 'CI' || name.startsWith('ASCIINEMA_')),
  );
}

/** Names of all options of the runtime, without values. Node takes `_` for `-` in them, and quotes around them. */
function optionsOf({ execArgv, env }: Omit<Runtime, 'inspected'>): string[] {
  const words = (env['NODE_OPTIONS'] ?? '').replace(/["\\]/g, '').split(/\s+/);
  return [...execArgv, ...words]
    .filter(word => word.startsWith('-'))
    .map(word => word.split('=')[0] ?? word)
    .map(word => (word.startsWith('--') ? word.replaceAll('_', '-') : word));
}
