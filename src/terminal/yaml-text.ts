/**
 * Home of yaml. The import is static here and this file is loaded when YAML is asked for: the bundler gives a CommonJS
 * package its named exports only when they are imported statically.
 */
import { stringify } from 'yaml';

/** YAML of a JSON value, lines unfolded, no anchors. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}
