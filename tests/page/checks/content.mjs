// What a page says: its numbers are those of the same report as JSON, and texts stay texts.

import assert from 'node:assert/strict';
import { cells, mark, number } from './shared.mjs';

export const checks = {
  async 'the answer comes first, with the numbers of the report'({ open, report }) {
    const { page } = await open();
    const [heading, ...others] = await page.locator('h1, h2').allTextContents();
    assert.equal(heading, report.summary.sentence);
    assert.ok(others.length >= 7, others.join());
    const figures = await page.locator('.figures div').evaluateAll(
      (all) => all.map((one) => [one.querySelector('dt').textContent, one.querySelector('b').textContent]));
    assert.deepEqual(figures, report.summary.figures.map(({ label, value }) => [label, value]));
    assert.ok(figures.length >= 4 && figures.length <= 6);
    assert.match(await page.title(), /^Provost report: project, 19 Oct 2026 – 17 Nov 2026$/);
  },

  async 'each table has the numbers of the report'({ open, report }) {
    const { page } = await open();
    const days = await cells(page, 'days');
    assert.deepEqual(days.map((row) => row.slice(1, 8).map(number)), report.days.map(
      (day) => [day.events, day.denied, day.asked, day.warned, day.overridden, day.would_deny, day.faults]));
    assert.ok(days.some((row) => row[2] === '0'), 'no day without a denial');
    const guards = await cells(page, 'guards');
    assert.deepEqual(guards.map(([name, , mode, ...counts]) => [name, mode, ...counts.slice(0, 9).map(number)]), report.guards.map(
      (guard) => [guard.guard, guard.mode, guard.judged, guard.denied, guard.asked, guard.warned, guard.overridden, guard.would_deny, guard.would_ask,
        guard.would_warn, guard.faults]));
    const outcomes = report.outcomes;
    assert.deepEqual((await cells(page, 'outcomes')).map((row) => number(row[1])),
      [outcomes.fixed, outcomes.overridden, outcomes.tried_again, outcomes.given_up, outcomes.unknown]);
    assert.deepEqual((await cells(page, 'reviews')).map((row) => [row[0], number(row[2])]), report.reviews.map(({ plan, rounds }) => [plan, rounds.length]));
    assert.deepEqual(new Map((await cells(page, 'time')).map((row) => [row[0], number(row[1])])),
      new Map(report.cost.by_event.map(({ event, time }) => [event, time.events])));
    const never = report.guards.filter(({ last, mode }) => last === null && mode !== 'off').map(({ guard }) => guard);
    assert.deepEqual(await page.locator('#guards .lists div', { hasText: 'Never fired' }).locator('li').allTextContents(), never);
    assert.equal(await page.locator('#overrides tbody tr').count(), report.summary.overridden);
    assert.ok((await page.locator('#overrides').textContent()).includes('hotfix, agreed with the team'));
  },

  async 'bars are as long as their numbers'({ open, report }) {
    const { page } = await open();
    // Every day has a mark, and the segments of a bar are as high as its share of the highest one.
    assert.equal(await page.locator('.days .mark').count(), report.days.length);
    const stopped = ({ denied_by: by, asked, overridden, would_deny: would }) => by.reduce((sum, { count }) => sum + count, 0) + asked + overridden + would;
    const heights = await page.locator('.days .area').evaluate((area) => {
      const bars = new Map();
      for (const { x, height } of [...area.querySelectorAll('rect')].map((rect) => rect.getBoundingClientRect())) {
        bars.set(Math.round(x), (bars.get(Math.round(x)) ?? 0) + height);
      }
      return [...bars.values()];
    });
    const counts = report.days.map(stopped).filter((count) => count > 0);
    assert.equal(heights.length, counts.length);
    const unit = Math.max(...heights) / Math.max(...counts);
    heights.forEach((height, at) => assert.ok(Math.abs(height / unit - counts[at]) < 0.6, `bar ${at}: ${height / unit} instead of ${counts[at]}`));
    // The bars of guards are sorted, and the number beside each is that of the filled part.
    const stopping = (await page.locator('.bars .mark .name').allTextContents()).map((name) => report.guards.find(({ guard }) => guard === name));
    const values = stopping.map(({ denied }) => denied);
    assert.deepEqual(values, [...values].sort((a, b) => b - a));
    const more = stopping.map(({ asked, overridden, would_deny: denied, would_ask: ask }) => asked + overridden + denied + ask);
    const beside = (await page.locator('.bars .mark .value').allTextContents()).map((text) => text.split(' + ').map(number));
    assert.deepEqual(beside, values.map((value, at) => (more[at] ? [value, more[at]] : [value])));
  },

  async 'texts of an agent stay texts'({ open, report }) {
    const { page } = await open();
    const subjects = report.decisions.map(({ subject }) => subject ?? '');
    for (const part of ['</script>', 'onerror', '\u202e', '\u0007']) assert.ok(subjects.some((subject) => subject.includes(part)), `the data lack ${part}`);
    assert.deepEqual(await page.evaluate(() => [
      document.scripts.length, document.images.length, document.styleSheets.length, document.querySelectorAll('[onmouseover], [onerror], iframe, link, object, embed').length,
    ]), [1, 0, 1, 0]);
    const content = await page.evaluate(() => document.documentElement.outerHTML);
    assert.doesNotMatch(content, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/);
    assert.ok(content.includes('\\u{202e}txt.exe\\u{2066}'));
    const code = page.locator('table.list pre code', { hasText: 'one' }).first();
    assert.match(await code.evaluate((element) => element.textContent), /^one\ntwo/);
  },

  async 'each chart has a text alternative and a table with caption and scopes'({ open }) {
    const { page } = await open();
    for (const section of ['days', 'guards', 'outcomes', 'reviews', 'time']) {
      const found = await page.locator(`#${section}`).evaluate((element) => ({
        table: element.querySelectorAll('details.data table caption').length,
        named: [...element.querySelectorAll('.mark')].every((mark) => (mark.getAttribute('aria-label') ?? mark.textContent).length > 5),
        hidden: [...element.querySelectorAll('figure svg')].every((svg) => svg.getAttribute('aria-label')?.length > 20 || svg.closest('[aria-hidden="true"]')),
        groups: [...element.querySelectorAll('.marks')].every((group) => group.getAttribute('aria-label')),
      }));
      assert.deepEqual(found, { table: 1, named: true, hidden: true, groups: true }, section);
    }
    assert.equal(await page.locator('table:not(:has(caption))').count(), 0);
    assert.equal(await page.locator('thead th:not([scope=col][aria-sort])').count(), 0);
    assert.equal(await page.locator('tbody tr:not(:has(th[scope=row]))').count(), 0);
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
  },
};
