import { expect, test } from 'vitest';
import { createI18n, troubleText } from './index.ts';

test('a change whose outcome is not known is not to be repeated blindly', () => {
  const { t } = createI18n('en');
  const of = (outcome?: 'unknown' | 'stored') =>
    troubleText(t, { reason: 'STORE_UNAVAILABLE', store: 'mysql', outcome });
  expect(of()).toEqual({
    title: 'The database (MySQL) does not answer',
    text: 'What is stored is safe. Try again in a moment.',
  });
  expect(of('unknown').text).toContain('may or may not have been stored');
  expect(of('stored').text).toContain('do not repeat it');
});
