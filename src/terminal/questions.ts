/** Home of @inquirer/prompts: the questions that are asked, by name, so that the build leaves out all others. */
export { confirm, input, password, rawlist } from '@inquirer/prompts';
export { pick } from './pick.ts';
