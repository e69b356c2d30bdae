/**
 * Pictures of every screen, in both languages, both themes and two widths, into `.sparkroom/screenshots/`, with one
 * contact sheet, and the picture of the README. `--only ideas,ranking` and `--variant en.light.1440` narrow it.
 */
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../e2e/browser.ts';
import { failCalls, leaveScreen, openScreen, settled } from './open-screen.ts';
import { type Screen, type Subjects, screens } from './screens.ts';
import { findSubjects, type StorageState } from './subjects.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(root, '.sparkroom/screenshots');
const readmePicture = join(root, 'docs/images/workspace.png');
const MOST_README_BYTES = 400_000;
const TALLEST = 2400;

const sizes = { 1440: 900, 390: 844 } as const;
type Width = keyof typeof sizes;

interface Variant {
  name: string;
  locale: 'en' | 'zh';
  theme: 'light' | 'dark';
  width: Width;
}

const variants: Variant[] = [];
for (const locale of ['en', 'zh'] as const)
  for (const theme of ['light', 'dark'] as const)
    for (const width of [1440, 390] as const)
      variants.push({ name: `${locale}.${theme}.${width}`, locale, theme, width });

async function open(
  browser: Browser,
  url: string,
  variant: Variant,
  state: StorageState | undefined,
): Promise<Page> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: variant.width, height: sizes[variant.width] },
    colorScheme: variant.theme,
    locale: variant.locale === 'zh' ? 'zh-CN' : 'en-GB',
    reducedMotion: 'reduce',
    hasTouch: variant.width === 390,
    ...(state ? { storageState: state } : {}),
  });
  await context.addInitScript(
    ([locale, theme]) => {
      localStorage.setItem('sparkroom.locale', locale ?? 'en');
      localStorage.setItem('sparkroom.theme', theme ?? 'light');
    },
    [variant.locale, variant.theme],
  );
  return context.newPage();
}

async function shoot(page: Page, screen: Screen, subjects: Subjects, variant: Variant): Promise<string> {
  await failCalls(page, screen);
  await page.setViewportSize({ width: variant.width, height: sizes[variant.width] });
  await openScreen(page, screen, subjects);
  // The whole page, with bars where they are on a tall screen.
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({
    width: variant.width,
    height: Math.min(TALLEST, Math.max(height, sizes[variant.width])),
  });
  await settled(page, screen.waiting !== undefined);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (wide > 0) console.log(`  ${screen.name}.${variant.name}: ${wide} px too wide`);
  const file = `${screen.name}.${variant.name}.png`;
  await page.screenshot({ path: join(folder, file), animations: 'disabled' });
  await leaveScreen(page);
  return file;
}

async function contactSheet(browser: Browser, rows: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const cells = [...rows].map(
    ([name, files]) =>
      `<h2>${name}</h2><div class="row">${files.map((f) => `<figure><img src="${f}"><figcaption>${f}</figcaption></figure>`).join('')}</div>`,
  );
  const html = `<!doctype html><meta charset="utf-8"><title>Sparkroom</title><style>
    body { font: 12px sans-serif; margin: 16px; background: #ddd; width: 2200px }
    .row { display: flex; gap: 8px; align-items: flex-start } figure { margin: 0 }
    img { height: 320px; max-width: 420px; object-fit: cover; object-position: top; border: 1px solid #999; display: block }
  </style>${cells.join('')}`;
  const file = join(folder, 'index.html');
  await writeFile(file, html);
  const page = await browser.newPage({ viewport: { width: 2240, height: 1000 } });
  await page.goto(`file://${file}`);
  await page.screenshot({ path: join(folder, 'contact-sheet.png'), fullPage: true });
  await page.close();
}

async function pictureForReadme(
  browser: Browser,
  url: string,
  subjects: Subjects,
  state: StorageState,
): Promise<void> {
  const page = await open(browser, url, { name: 'readme', locale: 'en', theme: 'light', width: 1440 }, state);
  await page.goto(`/w/${subjects.workspaceId}?status=open`);
  await settled(page);
  await mkdir(join(root, 'docs/images'), { recursive: true });
  await page.screenshot({ path: readmePicture, animations: 'disabled' });
  await page.context().close();
  const { size } = await stat(readmePicture);
  if (size > MOST_README_BYTES)
    throw new Error(`${readmePicture} has ${size} bytes, more than ${MOST_README_BYTES}.`);
}

const { values } = parseArgs({ options: { only: { type: 'string' }, variant: { type: 'string' } } });
const url = process.env.SPARKROOM_URL ?? `http://127.0.0.1:${process.env.SPARKROOM_PORT ?? '3000'}`;
const only = values.only?.split(',');
const wanted = screens.filter((s) => !only || only.includes(s.name));
const shown = variants.filter((v) => !values.variant || v.name.includes(values.variant));

const browser = await startBrowser();
try {
  if (!only && !values.variant) await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { subjects, demo, fresh } = await findSubjects(browser, url);
  const rows = new Map<string, string[]>();
  for (const variant of shown) {
    console.log(`${variant.name}: ${wanted.length} screens`);
    for (const as of ['demo', 'fresh', 'none'] as const) {
      const page = await open(browser, url, variant, { demo, fresh, none: undefined }[as]);
      for (const screen of wanted.filter((s) => s.as === as)) {
        const file = await shoot(page, screen, subjects, variant);
        rows.set(screen.name, [...(rows.get(screen.name) ?? []), file]);
      }
      await page.context().close();
    }
  }
  await contactSheet(browser, rows);
  if (!only) await pictureForReadme(browser, url, subjects, demo);
  console.log(`${[...rows.values()].flat().length} pictures and contact-sheet.png are in ${folder}`);
} finally {
  await browser.close();
}
