/**
 * The server's side of the two-process test: runs commands through the use cases and dies like `kill -9` right after
 * the commit of the last, where a server would wake the relay. Arguments: actor, workspace, title, how many.
 */
import { openCore } from './bench.ts';

const [userId = '', workspaceId = '', title = '', count = '1'] = process.argv.slice(2);
let commits = 0;
const { core } = await openCore(process.env, () => {
  if (++commits === Number(count)) process.kill(process.pid, 'SIGKILL');
});
for (;;)
  await core.ideas.create(
    { userId, platformRole: 'user', requestId: 'req-of-the-killed' },
    { workspaceId, title, body: { text: `${title}: 正文` }, tags: [], status: 'open' },
  );
