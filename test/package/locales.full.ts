/** The same as in `locales.test.ts`, at other places. */
import { sameUnder } from './locales.ts';

sameUnder([
  { LC_ALL: 'C', TZ: 'UTC' },
  { LC_ALL: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8', TZ: 'Europe/Berlin' },
  { LC_ALL: '', LANG: '', TZ: 'America/St_Johns', TERM: 'dumb' },
  { LC_ALL: 'ja_JP.UTF-8', LANG: 'ja_JP.UTF-8', TZ: 'Asia/Tokyo' },
]);
