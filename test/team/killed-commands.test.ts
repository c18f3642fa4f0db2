/** Commands that move money or end a card, killed around their request and behind their outcome. */
import { killedCommands } from './killed-commands.ts';

killedCommands([
  { command: 'api', at: [9] },
  { command: 'lease', at: [16] },
]);
