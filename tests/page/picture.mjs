// Takes the pictures of a report's page for the documentation: `node picture.mjs TOOLS CHROMIUM PAGE DIRECTORY`.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [tools, executablePath, file, directory] = process.argv.slice(2);
const { chromium } = createRequire(`${tools}/`)('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'] });
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 1500 }, colorScheme, reducedMotion: 'reduce' });
  await page.goto(pathToFileURL(file).href);
  await page.locator('.days .mark').nth(24).hover();
  await page.screenshot({ path: `${directory}/report-${colorScheme}.png` });
}
await browser.close();
