/** Every command that moves money or ends a card, killed around each of its messages. */
import { COMMANDS, killedCommands } from './killed-commands.ts';

killedCommands((Object.keys(COMMANDS) as (keyof typeof COMMANDS)[]).map(command => ({ command })));
