import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  process.env.SPARKROOM_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/**
 * Starts the machine's own Chromium without a window.
 * @throws Error when there is none, with the command that installs it
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = PLACES.find((path) => path !== undefined && existsSync(path));
  if (!executablePath) {
    throw new Error(
      'No Chromium found. Install it with "apt-get install chromium fonts-noto-cjk", or name yours in SPARKROOM_CHROMIUM.',
    );
  }
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--font-render-hinting=none',
      // Chromium's sandbox refuses to start as root; the pages are our own.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}
