import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { findProgram } from './programs.ts';
import { LauncherError } from './trouble.ts';

/** Programs the launcher may have to have installed. */
export type Installable = 'mysql' | 'redis' | 'nats' | 'cloudant' | 'chromium' | 'cjk-fonts';

/**
 * Debian and Ubuntu packages. The MariaDB ones hold the server without the service around it; the client part has
 * a program that mariadb-install-db calls.
 */
const aptPackages: Readonly<Partial<Record<Installable, string>>> = {
  mysql: 'mariadb-server-core mariadb-client-core',
  redis: 'redis-server',
  nats: 'nats-server',
  chromium: 'chromium',
  'cjk-fonts': 'fonts-noto-cjk',
};

const brewPackages: Readonly<Partial<Record<Installable, string>>> = {
  mysql: 'mariadb',
  redis: 'redis',
  nats: 'nats-server',
};

export interface InstallOptions {
  /** Whether apt may be run at all. */
  install: boolean;
  env?: NodeJS.ProcessEnv;
  log(line: string): void;
  /** Both for tests; the defaults are what is true of this machine. */
  isRoot?: boolean;
  policyFile?: string;
}

/**
 * Installs what is missing where that is ours to do: as root on Debian or Ubuntu. Says first what it will
 * install. Services that come with the packages are neither started nor left to start at the next boot.
 *
 * @throws LauncherError `missing-program` with the one command to run, wherever it may not install.
 */
export async function missingPrograms(
  missing: readonly Installable[],
  options: InstallOptions,
): Promise<void> {
  const env = options.env ?? process.env;
  const packages = missing.flatMap((name) => aptPackages[name]?.split(' ') ?? []);
  const apt = findProgram('apt-get', env);
  const isRoot = options.isRoot ?? process.getuid?.() === 0;
  if (apt === undefined || !isRoot || !options.install) {
    throw new LauncherError('missing-program', howToInstall(missing, packages, apt !== undefined));
  }

  options.log(`not installed yet: ${missing.join(', ')}. Installing by apt: ${packages.join(' ')}`);
  await withoutServiceStart(options, async () => {
    if (!(await hasPackageLists())) await runApt(apt, ['update'], options);
    const install = ['install', '-y', '--no-install-recommends', ...packages];
    try {
      await runApt(apt, install, options);
    } catch {
      options.log('apt did not succeed; fetching its package lists again and trying once more');
      await runApt(apt, ['update'], options);
      await runApt(apt, install, options);
    }
  });
}

function howToInstall(missing: readonly Installable[], packages: readonly string[], hasApt: boolean): string {
  const what = `Not installed on this machine: ${missing.join(', ')}. `;
  if (hasApt)
    return `${what}Run this, then start again:\n    sudo apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  if (process.platform === 'darwin') {
    return `${what}Run this, then start again:\n    brew install ${missing.flatMap((name) => brewPackages[name] ?? []).join(' ')}`;
  }
  return (
    `${what}Install them with your system's package manager, or run the stores in containers:\n` +
    '    docker compose -f infra/compose.yml up -d    (it prints which SPARKROOM_..._URL to set: infra/compose.yml, top)'
  );
}

async function hasPackageLists(): Promise<boolean> {
  const files = await readdir('/var/lib/apt/lists').catch(() => []);
  return files.some((file) => file.endsWith('_Packages') || file.endsWith('_Packages.lz4'));
}

/** Runs apt-get, passing on the lines that show progress. */
function runApt(apt: string, args: readonly string[], { log, env }: InstallOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(apt, ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Out of reach of a Ctrl-C: half an installation would be the machine's problem for ever.
      detached: true,
      env: { ...(env ?? process.env), DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
    });
    const last: string[] = [];
    let rest = '';
    const hear = (chunk: Buffer): void => {
      const lines = (rest + chunk.toString()).split(/\r?\n|\r/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.trim() === '') continue;
        last.push(line);
        if (last.length > 8) last.shift();
        if (/^(Get:|Need to get|Setting up|E: )/.test(line)) log(`apt: ${line.slice(0, 100)}`);
      }
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) return resolve();
      reject(
        new LauncherError(
          'missing-program',
          `apt-get ${args.join(' ')} failed (exit code ${code}). It said:\n${last.map((line) => `    ${line}`).join('\n')}`,
        ),
      );
    });
  });
}

const policyMark = '# Put here by Sparkroom while it installs packages; safe to delete.';

/**
 * Debian starts a service as soon as its package is installed. `policy-rc.d` with exit code 101 forbids that
 * (invoke-rc.d(8), deb-systemd-invoke(1p)); one that is already there is somebody else's decision and stays. Units that are
 * new afterwards are disabled, so that they do not start at the next boot either.
 */
async function withoutServiceStart(options: InstallOptions, install: () => Promise<void>): Promise<void> {
  const { log, policyFile = '/usr/sbin/policy-rc.d' } = options;
  const isOurs = !existsSync(policyFile) || readFileSync(policyFile, 'utf8').includes(policyMark);
  if (isOurs) writeFileSync(policyFile, `#!/bin/sh\n${policyMark}\nexit 101\n`, { mode: 0o755 });
  const units = ['redis-server', 'nats-server'];
  const isThere = (unit: string): boolean => existsSync(`/lib/systemd/system/${unit}.service`);
  const before = units.filter(isThere);
  try {
    await install();
  } finally {
    if (isOurs) rmSync(policyFile, { force: true });
    const fresh = units.filter((unit) => isThere(unit) && !before.includes(unit));
    if (fresh.length > 0 && existsSync('/run/systemd/system')) {
      log(`not letting ${fresh.join(' and ')} start at boot; Sparkroom runs its own`);
      const child = spawn('systemctl', ['disable', '--quiet', ...fresh], { stdio: 'ignore' });
      await new Promise((resolve) => child.once('close', resolve).once('error', resolve));
    }
  }
}
