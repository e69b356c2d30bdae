import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

test('a pool that nobody used is closed too, and lets its process end', async () => {
  const program = `
    const { openMysql, openAuthDatabase, readMysqlSettings } = await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)});
    const settings = readMysqlSettings(process.env);
    const mysql = await openMysql(settings);
    const auth = openAuthDatabase(mysql.flavour, settings);
    await auth.close();
    await mysql.close();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
  const stuck = setTimeout(() => child.kill('SIGKILL'), 15_000);
  const [code] = await once(child, 'exit');
  clearTimeout(stuck);
  expect(code).toBe(0);
});
