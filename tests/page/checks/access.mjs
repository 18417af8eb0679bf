// For whom a page works: without a script, on a narrow screen, on paper, with the keyboard, with other eyes.

import assert from 'node:assert/strict';
import { contrast, mark, opacity, speaks, violations, visible } from './shared.mjs';

export const checks = {
  async 'without a script, everything is there'({ open, report }) {
    const { page } = await open({ javaScriptEnabled: false });
    assert.equal(await page.locator('h1').innerText(), report.summary.sentence);
    assert.equal(await visible(page).count(), report.decisions.length);
    assert.ok(await page.locator('.days svg rect').count() > 20);
    for (const control of ['#filters', '#theme']) assert.ok(!await page.locator(control).isVisible());
    assert.equal(await page.locator('th button, .copy').count(), 0);
    const row = visible(page).first();
    await row.locator('summary').click();
    assert.ok((await row.innerText()).includes(report.decisions[0].id));
    await page.locator('#days details.data > summary').click();
    assert.ok(await page.locator('#days table').isVisible());
    const day = page.locator('.days .mark').nth(3);
    await day.hover();
    assert.equal(await opacity(day.locator('.tip')), '1');
    await page.mouse.move(5, 5);
    await page.locator('.days .mark').nth(2).focus();
    await page.keyboard.press('Tab');
    assert.equal(await opacity(day.locator('.tip')), '1');
    await page.emulateMedia({ media: 'print' });
    assert.ok(await page.locator('table.list tbody tr').nth(5).locator('.more dd').first().isVisible());
  },

  async 'a narrow screen needs no horizontal scrolling'({ open }) {
    const { page } = await open({ viewport: { width: 320, height: 640 } });
    await page.locator('#open').click();
    await page.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
    const width = () => page.evaluate(() => document.scrollingElement.scrollWidth);
    assert.equal(await width(), 320);
    // Nothing that does not scroll by itself sticks out, and the details of marks at both ends can be read.
    const beyond = await page.evaluate(() => [...document.querySelectorAll('main *, header *')].filter((element) => {
      const { left, right, width: wide } = element.getBoundingClientRect();
      return wide && (right > 321 || left < -1) && !element.closest('.scroll, .tip, caption, .defs, svg, summary code');
    }).map((element) => element.outerHTML.slice(0, 120)));
    assert.deepEqual(beyond, []);
    for (const place of ['first', 'last']) {
      for (const section of ['days', 'guards', 'outcomes', 'reviews', 'time']) {
        const one = page.locator(`#${section} .mark`)[place]();
        await one.evaluate((element) => { element.tabIndex = 0; element.focus(); });
        const { left, right } = await one.locator('.tip').evaluate((tip) => tip.getBoundingClientRect().toJSON());
        assert.ok(left >= 0 && right <= 320, `${section}: ${left} to ${right}`);
        assert.equal(await width(), 320);
      }
    }
  },

  async 'the keyboard reaches everything, and shows where it is'({ open, report }) {
    const { page } = await open();
    const stops = [];
    for (let count = 0; count < 200; count += 1) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => {
        const element = document.activeElement;
        if (element === document.body) return null;
        const style = getComputedStyle(element);
        const { top, bottom } = element.getBoundingClientRect();
        return {
          name: element.id || element.name || element.className || element.textContent, list: Boolean(element.closest('table.list tbody')),
          outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2, seen: bottom > 0 && top < innerHeight,
        };
      });
      if (!stop || stop.list) break;
      stops.push(stop);
    }
    const names = stops.map(({ name }) => name);
    for (const name of ['skip', 'theme', 'mark ', 'mark row', 'mark step', 'text', 'g', 's', 'k', 'o', 'open']) assert.ok(names.includes(name), `${name} in ${names}`);
    for (const stop of stops) assert.ok(stop.outline && stop.seen, JSON.stringify(stop));
    assert.ok(stops.length < 100, `${stops.length} stops before the decisions`);
    // The first decision has the focus: Enter opens it, and the focus stays.
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('table.list details[open]').count(), 1);
    const guard = report.guards.find(({ denied }) => denied > 0);
    await mark(page, 'guards', guard.guard).focus();
    await page.keyboard.press('Enter');
    assert.equal(await visible(page).count(), report.decisions.filter(speaks(guard.guard)).length);
  },

  async 'no accessibility rule is broken, in both themes and on a narrow screen'({ open, axe }) {
    for (const options of [{}, { colorScheme: 'dark' }, { viewport: { width: 320, height: 800 } }]) {
      const { page } = await open(options);
      // A few decisions stand for all, because checking hundreds takes a minute.
      await page.locator('#filters select[name=g]').selectOption('plan-gate');
      await visible(page).first().locator('summary').click();
      await page.evaluate(() => document.querySelectorAll('details.data').forEach((details) => { details.open = true; }));
      await page.locator('.days .mark').first().focus();
      assert.deepEqual(await violations(page, axe), [], JSON.stringify(options));
    }
  },

  async 'what is drawn stands out, and colours are never alone'({ open }) {
    for (const colorScheme of ['light', 'dark']) {
      const { page } = await open({ colorScheme });
      const colours = await page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement('i'));
        const resolve = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
        const found = Object.fromEntries(['paper', 'raised', 'ink', 'soft', 'accent', 'focus', 's0', 's1', 's2', 's3', 's4', 's5'].map((name) => [name, resolve(name)]));
        probe.remove();
        return found;
      });
      for (const name of ['ink', 'soft', 'accent']) {
        for (const ground of ['paper', 'raised']) assert.ok(contrast(colours[name], colours[ground]) >= 4.5, `${colorScheme} ${name} on ${ground}`);
      }
      for (const name of ['focus', 's0', 's1', 's2', 's3', 's4', 's5']) assert.ok(contrast(colours[name], colours.paper) >= 3, `${colorScheme} ${name}`);
      // Every fill of a chart is a pattern, and no two patterns have the same shapes.
      const fills = await page.locator('.area rect, .bars rect').evaluateAll((all) => [...new Set(all.map((rect) => rect.getAttribute('fill')))]);
      assert.ok(fills.length > 5 && fills.every((fill) => /^url\(#\w+\)$/.test(fill)), fills.join());
      const shapes = await page.locator('pattern').evaluateAll((all) => all.map((pattern) => pattern.innerHTML.replace(/var\(--s\d\)/g, '')));
      assert.equal(new Set(shapes).size, shapes.length);
      const words = await page.locator('.badge').allTextContents();
      assert.ok(words.every((word) => /\w/.test(word)));
    }
  },

  async 'paper shows every explanation and no control'({ open, report }) {
    const { page } = await open({ colorScheme: 'dark' });
    await page.locator('#filters select[name=k]').selectOption('overridden');
    await page.emulateMedia({ media: 'print' });
    for (const control of ['.bar', '#filters', '#found', '.tip', '.skip']) assert.ok(!await page.locator(control).first().isVisible(), control);
    for (const table of await page.locator('details.data table').all()) assert.ok(await table.isVisible());
    const count = report.decisions.filter(({ decision }) => decision === 'overridden').length;
    const shown = await page.locator('table.list .more dd').evaluateAll((all) => new Set(all.filter((one) => one.checkVisibility({ contentVisibilityAuto: true })
      && one.getBoundingClientRect().height > 0).map((one) => one.closest('tr').id)).size);
    assert.equal(shown, count);
    assert.ok((await page.pdf({ format: 'A4' })).length > 50000);
    assert.equal(await page.locator('details[open]').count(), 0);
  },

  async 'less motion where the reader wants less'({ open }) {
    const motion = async (options) => {
      const { page } = await open(options);
      return page.evaluate(() => [getComputedStyle(document.documentElement).scrollBehavior, getComputedStyle(document.querySelector('.tip')).transitionDuration]);
    };
    assert.deepEqual(await motion({ reducedMotion: 'reduce' }), ['auto', '0s']);
    assert.deepEqual(await motion({ reducedMotion: 'no-preference' }), ['smooth', '0.12s']);
  },
};
