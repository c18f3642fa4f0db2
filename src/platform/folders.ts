/** Where things are kept: XDG where set and absolute, else the system's own folders. */
import { isAbsolute, join } from 'node:path';
import type { Environment, Folders, Host } from './host.ts';

export interface FolderFacts extends Pick<Host, 'env' | 'platform'> {
  readonly home: string;
  /** Folder for short-lived files. */
  readonly temporary: string;
}

const NAME = 'cardwright';

/** The folders of this user; `CARDWRIGHT_CONFIG_DIR` moves all of them below one. Nothing is created. */
export function foldersFor({ env, platform, home, temporary }: FolderFacts): Folders {
  const moved = env['CARDWRIGHT_CONFIG_DIR'];
  if (moved) {
    const below = (name: string) => join(moved, name);
    return {
      config: below('config'),
      state: below('state'),
      data: below('data'),
      cache: below('cache'),
      runtime: below('run'),
    };
  }
  const xdg = (variable: string, otherwise: string) => {
    const value = env[variable];
    return join(value && isAbsolute(value) ? value : otherwise, NAME);
  };
  const system = systemFolders(platform, home, env);
  const state = xdg('XDG_STATE_HOME', system.state);
  return {
    config: xdg('XDG_CONFIG_HOME', system.config),
    state,
    data: xdg('XDG_DATA_HOME', system.data),
    cache: xdg('XDG_CACHE_HOME', system.cache),
    runtime: isAbsolute(env['XDG_RUNTIME_DIR'] ?? '') ? xdg('XDG_RUNTIME_DIR', temporary) : join(state, 'run'),
  };
}

function systemFolders(platform: NodeJS.Platform, home: string, env: Environment) {
  if (platform === 'darwin') {
    const support = join(home, 'Library', 'Application Support');
    return {
      config: join(home, 'Library', 'Preferences'),
      state: support,
      data: support,
      cache: join(home, 'Library', 'Caches'),
    };
  }
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA'] || join(home, 'AppData', 'Local');
    return { config: env['APPDATA'] || join(home, 'AppData', 'Roaming'), state: local, data: local, cache: local };
  }
  return {
    config: join(home, '.config'),
    state: join(home, '.local', 'state'),
    data: join(home, '.local', 'share'),
    cache: join(home, '.cache'),
  };
}
