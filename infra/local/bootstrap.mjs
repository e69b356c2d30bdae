// The first thing every npm script runs. Plain JavaScript, because it must run before anything is installed
// and on a Node that cannot run TypeScript: it installs the packages when they do not match the lock file,
// finds a Node that can, and hands over to src/cli.ts.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const modules = join(root, 'node_modules');
const oldestNode = 20;
const wantedNode = 24;

main().catch((error) => {
  console.error(error instanceof Error && error.isForPeople ? error.message : error);
  process.exitCode = 1;
});

async function main() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < oldestNode) {
    throw forPeople(
      `Sparkroom needs Node ${oldestNode} or newer to begin with; this is ${process.version}.\nInstall a newer one from https://nodejs.org and start again.`,
    );
  }
  if (!isInstalled()) await install();
  const node = findNode(major);
  const path = [join(modules, '.bin'), process.env.PATH || ''].join(delimiter);
  const cli = join(root, 'infra/local/src/cli.ts');
  process.exitCode = await run(node, [cli, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
}

/**
 * Compares the lock file with the one npm leaves in node_modules as its last act: an install that was cut
 * short, or one that is older than the lock file, does not match.
 */
function isInstalled() {
  const wanted = readLock(join(root, 'package-lock.json'));
  const present = readLock(join(modules, '.package-lock.json'));
  if (wanted === undefined)
    throw forPeople(
      `${join(root, 'package-lock.json')} is missing or broken; check the repository out again.`,
    );
  if (present === undefined) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const found = present[path];
    // Optional packages for other systems are in the lock file but not in the folder.
    if (found === undefined && !entry.optional && !entry.peer && !entry.devOptional) return false;
    if (found !== undefined && found.version !== entry.version) return false;
  }
  return Object.keys(present).every((path) => wanted[path] !== undefined);
}

function readLock(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Runs `npm ci` and shows how far it is: npm itself is silent when it is not in a terminal. */
async function install() {
  const packages = Object.entries(readLock(join(root, 'package-lock.json')))
    .filter(([path, entry]) => path.includes('node_modules/') && !entry.optional && !entry.link)
    .map(([path]) => join(root, path, 'package.json'));
  console.log(`Installing the packages (npm ci; once, one to three minutes) ...`);
  const started = Date.now();
  const elapsed = () => `${Math.round((Date.now() - started) / 1000)} s`;
  const isTerminal = Boolean(process.stdout.isTTY);
  let shown = 0;
  const timer = setInterval(() => {
    const line = `  ${elapsed()}: ${packages.filter(existsSync).length} of ${packages.length} packages in place`;
    if (isTerminal) process.stdout.write(`\r${line} `);
    else if (Date.now() - shown >= 10_000) {
      shown = Date.now();
      console.log(line);
    }
  }, 1_000);

  // npm must not run on the Node that it is about to replace: prefer the one the outer npm runs on.
  const npmScript = process.env.npm_execpath;
  const isNpm = npmScript !== undefined && basename(npmScript).startsWith('npm');
  const [file, args] = isNpm ? [process.env.npm_node_execpath || process.execPath, [npmScript]] : ['npm', []];
  let output = '';
  const code = await run(
    file,
    [...args, 'ci', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' },
    (chunk) => {
      output = (output + chunk).slice(-20_000);
    },
  );
  clearInterval(timer);
  if (isTerminal) process.stdout.write('\r\u001b[K');
  if (code !== 0) {
    process.stderr.write(output);
    const reason = /ENOSPC|no space left/i.test(output)
      ? `The disk that holds ${root} is full. Free some space (about 1 GB is needed) and start again.`
      : 'Installing the packages failed; what npm said is above. Start again once that is solved: nothing else has been changed.';
    throw forPeople(reason);
  }
  console.log(`Installed the packages in ${elapsed()}.`);
}

/** This Node when it is new enough, else the one that came with the packages. */
function findNode(major) {
  if (major >= wantedNode) return process.execPath;
  const own = join(modules, '.bin/node');
  if (existsSync(own)) return own;
  throw forPeople(
    `Sparkroom runs on Node ${wantedNode} or newer; this is ${process.version}, and on ${process.platform}/${process.arch} it cannot bring its own.\n` +
      `Install Node ${wantedNode} from https://nodejs.org and start again.`,
  );
}

/** Runs a program, passes signals on to it and returns its exit code. */
function run(file, args, options, hear) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, options);
    // At a terminal a Ctrl-C reaches the child by itself too, and npm adds another; src/signals.ts there takes
    // signals that come together as one.
    const forward = (signal) => child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, forward);
    if (hear !== undefined) {
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
    }
    child.once('error', (error) => reject(forPeople(`${file} cannot be run: ${error.message}`)));
    child.once('close', (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(code === null ? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] || 1) : code);
    });
  });
}

function forPeople(message) {
  return Object.assign(new Error(message), { isForPeople: true });
}
