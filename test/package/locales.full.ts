/** The same as in `locales.test.ts`, at other places. */
import { sameUnder } from './locales.ts';

sameUnder([
  { LC_ALL: 'C', TZ: 'UTC' },
  { LC_ALL: 'ja_JP.UTF-8', LANG: 'ja_JP.UTF-8', TZ: 'Asia/Tokyo' },
]);
