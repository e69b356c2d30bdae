import { describe, expect, it } from 'vitest';
import { readWorkerSettings } from './settings.ts';

const env = {
  SPARKROOM_MYSQL_URL: 'mysql://a:b@127.0.0.1:1/sparkroom',
  SPARKROOM_CLOUDANT_URL: 'http://a:b@127.0.0.1:2',
  SPARKROOM_REDIS_URL: 'redis://127.0.0.1:3',
  SPARKROOM_NATS_URL: 'nats://127.0.0.1:4',
};

describe('worker settings', () => {
  it.each([
    [[], ['relay', 'projector', 'cache']],
    [
      ['--roles', 'cache,relay'],
      ['relay', 'cache'],
    ],
    [['--roles=projector'], ['projector']],
    [['--roles', 'coherence'], ['coherence']],
  ])('reads roles from %j', (args, roles) => {
    expect(readWorkerSettings(args, env).roles).toEqual(roles);
  });

  it.each([
    [['--roles', 'relay,coffee'], /no role coffee\. Usage/],
    [['--roles'], /Usage/],
    [['--roles', ''], /Usage/],
    [['relay'], /Usage/],
    [['--roles=relay', 'extra'], /Usage/],
  ])('refuses %j and says what is possible', (args, message) => {
    expect(() => readWorkerSettings(args, env)).toThrow(message);
  });

  it.each([
    ['SPARKROOM_NATS_URL', ''],
    ['SPARKROOM_NATS_PREFIX', 'With.Dots'],
    ['SPARKROOM_WORKER_PORT', '70000'],
    ['SPARKROOM_WORKER_PORT', 'abc'],
    ['SPARKROOM_COHERENCE_SERVERS', 'no address'],
  ])('names %s when it is %j', (name, value) => {
    expect(() => readWorkerSettings([], { ...env, [name]: value })).toThrow(name);
  });

  it('servers to check need somebody to read as', () => {
    const SPARKROOM_COHERENCE_SERVERS = 'http://127.0.0.1:3000/, http://127.0.0.1:3001';
    const servers = { ...env, SPARKROOM_COHERENCE_SERVERS };
    expect(() => readWorkerSettings([], servers)).toThrow('SPARKROOM_COHERENCE_TOKEN');
    const somebody = { SPARKROOM_COHERENCE_TOKEN: 't', SPARKROOM_COHERENCE_USER: 'u' };
    expect(readWorkerSettings([], { ...servers, ...somebody }).coherence).toEqual({
      servers: ['http://127.0.0.1:3000', 'http://127.0.0.1:3001'],
      token: 't',
      userId: 'u',
    });
  });
});
