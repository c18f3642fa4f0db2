/** YAML holds what JSON would, to every reader; `yaml.full.ts` writes five times as many documents. */
import { yamlHolds } from './yaml.ts';

yamlHolds({ isWhole: false });
