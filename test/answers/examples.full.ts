/** Every example of every command's help. */
import { everyExample } from './examples.ts';

everyExample({ isWhole: true });
