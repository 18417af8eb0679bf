// What a page does: sorting, filters, bars that lead to decisions, explanations, details of marks, the theme.

import assert from 'node:assert/strict';
import { background, cells, luminance, mark, most, number, opacity, speaks, tally, visible } from './shared.mjs';

export const checks = {
  async 'a heading sorts its table both ways'({ open }) {
    const { page } = await open();
    await page.locator('#days details.data > summary').click();
    const heading = page.locator('#days th', { hasText: 'Events' });
    const column = async () => (await cells(page, 'days')).map((row) => number(row[1]));
    for (const [order, sign] of [['descending', -1], ['ascending', 1]]) {
      await heading.locator('button').click();
      assert.equal(await heading.getAttribute('aria-sort'), order);
      const values = await column();
      assert.deepEqual(values, [...values].sort((a, b) => sign * (a - b)));
    }
    assert.equal(await page.locator('#days th[aria-sort]:not([aria-sort="none"])').count(), 1);
    // Times are sorted as times, texts as texts.
    const times = () => page.locator('table.list tbody time').evaluateAll((all) => all.map((time) => time.dateTime));
    const newest = await times();
    assert.deepEqual(newest, [...newest].sort().reverse());
    await page.locator('table.list th', { hasText: 'Time' }).locator('button').press('Enter');
    assert.deepEqual(await times(), [...newest].sort());
    await page.locator('table.list th', { hasText: 'Guard or rule' }).locator('button').press('Space');
    const guards = await page.locator('table.list tbody td:nth-child(3)').allTextContents();
    assert.deepEqual(guards, [...guards].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })));
  },

  async 'filters by session, rule, decision, outcome and text'({ open, report }) {
    const { page } = await open();
    const all = report.decisions;
    assert.equal(await visible(page).count(), all.length);
    assert.equal(await page.locator('#found').textContent(), `${all.length} decisions`);
    const expect = async (is, what) => {
      const count = all.filter(is).length;
      assert.ok(count > 0 && count < all.length, what);
      assert.equal(await visible(page).count(), count, what);
      assert.equal(await page.locator('#found').textContent(), `${count} of ${all.length} decisions`);
    };
    const [session] = most(tally(all.map((decision) => decision.session)));
    const rule = 'rule:no-force-push';
    const choose = (name, label) => page.locator(`#filters select[name=${name}]`).selectOption({ label });
    const label = (await page.locator('#filters select[name=s] option').allTextContents()).find((text) => text.startsWith(session.slice(0, 8)));
    await choose('s', label);
    await expect((decision) => decision.session === session, 'session');
    await page.locator('#clear').click();
    await choose('g', rule);
    await expect(speaks(rule), 'rule');
    await choose('o', 'fixed');
    await expect((decision) => speaks(rule)(decision) && decision.outcome === 'fixed', 'rule and outcome');
    await page.locator('#clear').click();
    await choose('k', 'overridden');
    await expect((decision) => decision.decision === 'overridden', 'decision');
    await page.locator('#clear').click();
    await page.locator('#filters input').fill('MIGRATIONS 0042');
    await expect((decision) => JSON.stringify(decision).includes('0042_orders') , 'text');
    await page.locator('#filters input').fill('no such text');
    assert.equal(await visible(page).count(), 0);
    await page.locator('#clear').click();
    assert.equal(await visible(page).count(), all.length);
  },

  async 'a bar leads to its decisions, and a decision opens to its explanation'({ open, report }) {
    const { page } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const guard = 'rule:migrations-are-final';
    await mark(page, 'guards', guard).click();
    const meant = report.decisions.filter(speaks(guard));
    assert.equal(await visible(page).count(), meant.length);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'decisions-h');
    const one = meant.find((decision) => decision.decision === 'deny' && decision.subject.startsWith('db/'));
    const row = page.locator(`[id="d-${one.id}"]`);
    const more = row.locator('.more');
    assert.ok(!await more.isVisible());
    await row.locator('summary').click();
    const text = await more.innerText();
    const [opinion] = one.opinions;
    for (const part of [one.id, one.time, one.project, one.session, one.call, one.subject, opinion.what, opinion.why, opinion.fix, ...opinion.evidence, one.explain]) {
      assert.ok(text.includes(part), `${part} is missing in ${text}`);
    }
    assert.ok((await row.innerText()).includes(guard));
    await more.locator('pre button').click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), one.subject);
    await more.locator('.explain button').click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `provost explain ${one.id}`);
    // A click beside the command closes the row again.
    await row.locator('td').nth(1).click({ position: { x: 5, y: 12 } });
    assert.ok(!await more.isVisible());
    // A day and an outcome.
    const day = report.days.find(({ denied }) => denied > 2);
    await page.locator('.days .mark').nth(report.days.indexOf(day)).click();
    assert.equal(await visible(page).count(), report.decisions.filter(({ time }) => time.startsWith(day.date)).length);
    await page.locator('#day').click();
    assert.equal(await visible(page).count(), report.decisions.length);
    await mark(page, 'outcomes', 'tried again').click();
    assert.equal(await visible(page).count(), report.decisions.filter(({ outcome }) => outcome === 'tried again').length);
  },

  async 'a link to a decision opens it'({ open, report }) {
    const { page } = await open({ hash: `#d-${report.decisions.at(-1).id}` });
    assert.ok(await page.locator(`[id="d-${report.decisions.at(-1).id}"] .more`).isVisible());
    assert.equal(await page.locator('table.list details[open]').count(), 1);
    await page.locator('#open').click();
    assert.equal(await page.locator('table.list details[open]').count(), report.decisions.length);
    await page.locator('#open').click();
    assert.equal(await page.locator('table.list details[open]').count(), 0);
  },

  async 'the pointer and the keyboard show the details of a mark'({ open, report }) {
    const { page } = await open();
    const at = report.days.findIndex(({ denied }) => denied > 3);
    const day = page.locator('.days .mark').nth(at);
    const tip = day.locator('.tip');
    assert.equal(await opacity(tip), '0');
    await day.hover();
    assert.equal(await opacity(tip), '1');
    const text = await tip.innerText();
    const [by] = report.days[at].denied_by;
    assert.ok(text.includes(`${by.guard} ${by.count}`) && text.includes(`of ${report.days[at].events.toLocaleString('en')} events`), text);
    const box = await tip.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 1280);
    await page.mouse.move(5, 5);
    assert.equal(await opacity(tip), '0');
    // One stop of the Tab key for each chart; the arrow keys move within it.
    await page.locator('.days .mark').first().focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    const last = page.locator('.days .mark').nth(report.days.length - 2);
    assert.equal(await opacity(last.locator('.tip')), '1');
    assert.ok(await last.evaluate((element) => element === document.activeElement));
    await page.keyboard.press('Escape');
    assert.equal(await opacity(last.locator('.tip')), '0');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await opacity(page.locator('.days .mark').nth(report.days.length - 3).locator('.tip')), '1');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.closest('section').id + document.activeElement.tagName), 'daysSUMMARY');
    for (const section of ['guards', 'outcomes', 'reviews', 'time']) {
      const first = page.locator(`#${section} .mark`).first();
      await first.focus();
      assert.equal(await opacity(first.locator('.tip')), '1', section);
      assert.ok((await first.locator('.tip').innerText()).length > 10);
    }
  },

  async 'the theme follows the system until the reader chooses'({ open }) {
    const { page } = await open({ colorScheme: 'dark' });
    const button = page.locator('#theme');
    const dark = await background(page);
    assert.equal(await button.getAttribute('aria-pressed'), 'true');
    await button.click();
    const light = await background(page);
    assert.ok(luminance(light) > 0.8 && luminance(dark) < 0.05, `${light} ${dark}`);
    assert.equal(await button.getAttribute('aria-pressed'), 'false');
    await page.reload();
    assert.equal(await background(page), light);
    await button.click();
    assert.equal(await background(page), dark);
    // Paper is light.
    await page.emulateMedia({ media: 'print' });
    assert.equal(await background(page), 'rgb(255, 255, 255)');
  },
};
