import { describe, expect, test } from 'vitest';
import { allowedOrigins } from './auth.ts';
import { readServerSettings } from './settings.ts';

const secret = 'x'.repeat(32);

describe('settings', () => {
  test('have defaults for everything but the secret', () => {
    expect(readServerSettings({ SPARKROOM_AUTH_SECRET: secret })).toEqual({
      port: 3000,
      host: '127.0.0.1',
      url: 'http://127.0.0.1:3000',
      authSecret: secret,
      production: false,
      trustProxy: false,
      maxBatchSize: 20,
      bodyLimit: 1_048_576,
      requestsPerMinute: 100_000,
      liveMs: 1_800_000,
      logLevel: 'info',
    });
    for (const env of [{}, { SPARKROOM_AUTH_SECRET: 'short' }, { NODE_ENV: 'production' }]) {
      expect(() => readServerSettings(env)).toThrow('SPARKROOM_AUTH_SECRET must have at least 32 characters');
    }
  });

  test.each([
    ['SPARKROOM_PORT', '70000', 'SPARKROOM_PORT must be a whole number from 0 to 65535.'],
    ['SPARKROOM_MAX_BATCH', '0', 'SPARKROOM_MAX_BATCH must be a whole number from 1 to 1000.'],
    ['SPARKROOM_BODY_LIMIT', 'big', 'SPARKROOM_BODY_LIMIT must be a whole number from 1024 to 67108864.'],
    ['SPARKROOM_URL', 'nowhere', 'SPARKROOM_URL must be an address like https://sparkroom.example'],
  ])('%s=%s is refused by name', (name, value, message) => {
    expect(() => readServerSettings({ SPARKROOM_AUTH_SECRET: secret, [name]: value })).toThrow(message);
  });

  test('the site is called from its own address, on this machine by each of its names', () => {
    const at = (url: string) =>
      allowedOrigins(readServerSettings({ SPARKROOM_AUTH_SECRET: secret, SPARKROOM_URL: url }));
    expect(at('https://sparkroom.example/path')).toEqual(['https://sparkroom.example']);
    expect(at('http://localhost:3000').sort()).toEqual([
      'http://127.0.0.1:3000',
      'http://[::1]:3000',
      'http://localhost:3000',
    ]);
    const ipv6 = readServerSettings({ SPARKROOM_AUTH_SECRET: secret, SPARKROOM_HOST: '::1' });
    expect(ipv6.url).toBe('http://[::1]:3000');
  });
});
