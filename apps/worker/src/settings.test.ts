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
  ])('names %s when it is %j', (name, value) => {
    expect(() => readWorkerSettings([], { ...env, [name]: value })).toThrow(name);
  });
});
