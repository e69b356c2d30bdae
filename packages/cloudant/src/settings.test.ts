import { describe, expect, it } from 'vitest';
import { readCloudantSettings } from './settings.ts';

describe('readCloudantSettings', () => {
  it('reads what is set and fills in the prefix', () => {
    expect(readCloudantSettings({ SPARKROOM_CLOUDANT_URL: 'http://a:b@127.0.0.1:15984' })).toEqual({
      url: 'http://a:b@127.0.0.1:15984',
      prefix: 'sparkroom',
    });
    expect(
      readCloudantSettings({
        SPARKROOM_CLOUDANT_URL: 'https://x.cloudantnosqldb.appdomain.cloud',
        SPARKROOM_CLOUDANT_IAM_KEY: 'key',
        SPARKROOM_CLOUDANT_PREFIX: 'mine',
      }),
    ).toEqual({ url: 'https://x.cloudantnosqldb.appdomain.cloud', iamKey: 'key', prefix: 'mine' });
  });

  it.each([
    [{}, 'SPARKROOM_CLOUDANT_URL is not set'],
    [{ SPARKROOM_CLOUDANT_URL: 'secret@nowhere' }, 'SPARKROOM_CLOUDANT_URL is not a URL'],
    [{ SPARKROOM_CLOUDANT_URL: 'ftp://a:secret@x' }, 'SPARKROOM_CLOUDANT_URL is not a URL'],
    [
      { SPARKROOM_CLOUDANT_URL: 'http://x', SPARKROOM_CLOUDANT_PREFIX: 'Big' },
      'SPARKROOM_CLOUDANT_PREFIX must',
    ],
  ])('says what is wrong with %j and repeats no secret', (env, message) => {
    expect(() => readCloudantSettings(env)).toThrow(message);
    expect(() => readCloudantSettings(env)).not.toThrow('secret');
  });
});
