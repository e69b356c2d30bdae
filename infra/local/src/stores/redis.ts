import { sureFolder } from '../folders.ts';
import { findProgram, programVersion } from '../programs.ts';
import { answers, type Store } from './store.ts';

/** Redis or Valkey without persistence: it holds a cache, and what it loses is filled again. */
export async function redisStore(env: NodeJS.ProcessEnv): Promise<Store | undefined> {
  const server = findProgram('redis-server', env) ?? findProgram('valkey-server', env);
  if (server === undefined) return undefined;
  const version = await programVersion(server);
  return {
    name: 'redis',
    label: `${server.endsWith('valkey-server') ? 'Valkey' : 'Redis'} ${/v=([\d.]+)/.exec(version)?.[1] ?? ''}`,
    stopMs: 5_000,
    prepare: async (site) => {
      await sureFolder(site.data);
    },
    command: (site) => ({
      file: server,
      args: [
        '--port',
        `${site.port}`,
        '--bind',
        '127.0.0.1',
        '--dir',
        site.data,
        '--save',
        '',
        '--appendonly',
        'no',
      ],
    }),
    isReady: (site) => answers(site.port, 'PING\r\n', (data) => data.toString().startsWith('+PONG')),
    url: (site) => `redis://127.0.0.1:${site.port}`,
  };
}
