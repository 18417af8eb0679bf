// What the checks share.

export const number = (text) => Number(text.replaceAll(',', ''));
export const visible = (page) => page.locator('table.list tbody tr:not([hidden])');
// How often each value occurs in a list.
export const tally = (list) => list.reduce((counts, value) => counts.set(value, (counts.get(value) ?? 0) + 1), new Map());
export const most = (counts) => [...counts].sort((a, b) => b[1] - a[1])[0];
export const speaks = (guard) => (decision) => decision.opinions.some((opinion) => opinion.guard === guard);
export const opacity = (locator) => locator.evaluate((element) => getComputedStyle(element).opacity);
// The cells of a table as texts, row by row.
export const cells = (page, section) => page.locator(`#${section} details.data table tbody tr`).evaluateAll(
  (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
export const luminance = (colour) => {
  const [r, g, b] = colour.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
export const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
export const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
export const violations = async (page, axe) => {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join(', ')}`);
};
// The mark of a chart with these words in its details.
export const mark = (page, section, words) => page.locator(`#${section} .mark`, { has: page.locator('.tip', { hasText: words }) }).first();
