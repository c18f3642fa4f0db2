/** The whole of `yaml.test.ts`. */
import { yamlHolds } from './yaml.ts';

yamlHolds({ isWhole: true });
