/** What names a shared journal for a run, as commands that end it: for a person who goes on with one machine. */
import { shellWord } from '../core/shell-quote.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';

const VARIABLES = ['CARDWRIGHT_JOURNAL_URL', 'CARDWRIGHT_JOURNAL_URL_FILE'] as const;
const SETTINGS = ['journal', 'journal_url_file'] as const;

/** In their order; none where the line of the command alone names it. */
export async function stepsToLocal({
  host: { env },
  opened,
}: {
  readonly host: AppHost;
  readonly opened: Pick<Connections, 'settings' | 'identity'>;
}): Promise<readonly string[]> {
  const kept = await opened.settings().catch(() => undefined);
  const settings = SETTINGS.filter(name => kept?.[name] !== undefined && kept[name] !== 'local');
  const { profile } = settings.length === 0 ? { profile: '' } : await opened.identity();
  return [
    ...VARIABLES.filter(name => env[name] !== undefined).map(name => `unset ${name}`),
    ...settings.map(name => `cardwright profiles set ${shellWord(profile)} ${name} none`),
  ];
}
