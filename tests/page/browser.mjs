// Drives a real browser through a report's page: `node browser.mjs TOOLS CHROMIUM PAGE JSON`.
//
// TOOLS has playwright-core and axe-core, PAGE is the page, and JSON the same report as `provost report --json` prints it.
// Prints `ok NAME` or `not ok NAME: why` for each check in `checks`.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { checks as access } from './checks/access.mjs';
import { checks as content } from './checks/content.mjs';
import { checks as interaction } from './checks/interaction.mjs';

const [tools, chromium, file, json] = process.argv.slice(2);
const require = createRequire(`${tools}/`);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const report = JSON.parse(readFileSync(json, 'utf8'));
const address = pathToFileURL(file).href;

// Chromium's own sandbox needs rights that containers lack. The page is ours, and there is no network to reach.
const browser = await require('playwright-core').chromium.launch({
  executablePath: chromium,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// Opens the page with these options, and notes everything that a quiet page does not do.
const open = async (options = {}) => {
  const { hash = '', ...rest } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light', reducedMotion: 'reduce', ...rest });
  const page = await context.newPage();
  const noise = [];
  page.on('request', (request) => { if (request.url().split('#')[0] !== address) noise.push(`request to ${request.url()}`); });
  page.on('pageerror', (error) => noise.push(`error: ${error}`));
  page.on('console', (message) => noise.push(`console: ${message.text()}`));
  page.on('dialog', (dialog) => { noise.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(address + hash);
  // Only a hang takes this long.
  page.setDefaultTimeout(60000);
  return { page, noise, close: () => context.close() };
};

let failed = 0;
for (const [name, check] of Object.entries({ ...content, ...interaction, ...access })) {
  const opened = [];
  const tell = async (options) => {
    const one = await open(options);
    opened.push(one);
    return one;
  };
  try {
    await check({ open: tell, report, axe });
    for (const { noise } of opened) if (noise.length) throw new Error(noise.join('; '));
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${name}: ${String(error.message ?? error).split('\n').slice(0, 12).join(' | ')}`);
  }
  for (const { close } of opened) await close();
}
await browser.close();
process.exitCode = failed ? 1 : 0;
