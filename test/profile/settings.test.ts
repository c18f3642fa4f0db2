import { expect, it } from 'vitest';
import { parseSetting, SETTINGS, type SettingName } from '../../src/profile/settings.ts';
import { world } from '../support/world.ts';

it('every setting stands on the page of profiles set with an example that is taken', async () => {
  await using here = await world();
  const page = (await here.run('profiles set --help')).out.replace(/\s+/g, ' ');
  for (const [name, { form, example, ...more }] of Object.entries(SETTINGS)) {
    expect(page).toContain(`${form}. Example: ${name} ${example}`);
    const typed = 'isPath' in more ? example.replace(/^\./, '/etc') : example;
    expect(parseSetting(name as SettingName, typed)).toBeDefined();
    if (form.endsWith('or none')) expect(parseSetting(name as SettingName, 'none')).toBeUndefined();
  }
});
