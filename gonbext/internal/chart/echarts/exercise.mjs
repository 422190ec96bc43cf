// Uses the charts of the pages in a folder as people do, in Chromium, and fails where one stays a
// picture or an error is said. Usage:
//
//	node exercise.mjs PAGES SCREENSHOTS
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [pages, shots] = process.argv.slice(2);
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
mkdirSync(shots, { recursive: true });

let errors = 0;
const wrong = (name, what) => { errors++; console.log(`${name}: ${what}`); };
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });

async function opened(name, settings) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...settings });
  const page = await context.newPage();
  page.on('pageerror', e => wrong(name, e.stack.slice(0, 400)));
  page.on('console', m => { if (m.type() === 'warning' || m.type() === 'error') wrong(name, m.text().slice(0, 400)); });
  const html = readFileSync(`${pages}/${name}.html`, 'utf8');
  await page.route('http://page/', route => route.fulfill({ body: html, contentType: 'text/html; charset=utf-8' }));
  await page.goto('http://page/');
  await page.evaluate(() => document.querySelectorAll('details').forEach(d => { d.open = true; }));
  await page.waitForFunction(() => { // each is drawn when it comes into sight
    const left = document.querySelector("[id^='gonbext-']:not([data-live])");
    left?.scrollIntoView();
    return !left;
  }, null, { timeout: 15000 }).catch(() => wrong(name, 'a chart stays a picture'));
  await page.waitForTimeout(200);
  return page;
}

for (const file of readdirSync(pages).filter(f => f.endsWith('.html') && !f.includes('still'))) {
  const name = file.slice(0, -5), page = await opened(name), brief = name.startsWith('sweep');
  const picture = (what, fullPage) => brief || page.screenshot({ path: `${shots}/${name}-${what}.png`, fullPage });
  await picture('light', true);
  const charts = await page.$$('[data-live] > [role=img]');
  for (let n = 0; n < charts.length; n++) {
    await charts[n].scrollIntoViewIfNeeded();
    const box = await charts[n].boundingBox(), at = (x, y) => [box.x + box.width * x, box.y + box.height * y];
    if (brief) {
      for (const x of [0.2, 0.45, 0.8]) await page.mouse.move(...at(x, 0.6));
      continue;
    }
    for (const [x, y] of [[0.05, 0.05], [0.12, 0.06], [0.5, 0.5], [0.6, 0.7], [0.9, 0.4], [0.99, 0.98], [0.02, 0.5], [0.5, 0.97], [0.3, 0.6]]) {
      await page.mouse.move(...at(x, y));
      await page.waitForTimeout(25);
    }
    await page.waitForTimeout(100);
    if (n < 4) await picture(`hover${n}`);
    for (const twice of [1, 2]) { // by keys, while the pointer stays
      for (const b of await charts[n].$$('xpath=..//*[@class="gonbext-legend"]/button')) {
        await b.press('Space');
        await page.waitForTimeout(20);
      }
      await page.mouse.move(...at(0.3 + 0.2 * twice, 0.6));
    }
    await page.mouse.dblclick(...at(0.3, 0.6));
    await page.mouse.click(...at(0.3, 0.6), { button: 'right' });
    await page.keyboard.press('Escape');
    await page.mouse.move(...at(0.3, 0.6)); // chooses a window of time
    await page.mouse.down();
    await page.mouse.move(...at(0.4, 0.6));
    await page.mouse.move(...at(0.5, 0.5));
    await page.mouse.up();
    await page.mouse.move(box.x - 5, box.y - 5);
  }
  const press = async where => { for (const b of await page.$$(where)) await b.click(); };
  await press('.gonbext-switch button, .gonbext-legend button');
  await page.waitForTimeout(100);
  await picture('pressed', true);
  await press('.gonbext-legend button');
  for (const slider of await page.$$('.gonbext-switch input')) {
    await slider.focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
  }
  for (const width of [600, 1300, 300, 420]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(brief ? 700 : 300);
  }
  await picture('narrow', true);
  await page.setViewportSize({ width: 1100, height: 900 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForTimeout(400);
  await picture('dark', true);
  await page.evaluate(() => { // outputs that are cleared
    document.querySelectorAll('[data-live]').forEach(e => e.remove());
    document.body.className = 'x';
  });
  await page.waitForTimeout(50);
  await page.context().close();
}
// Other browsers by name, fine screens, fingers, languages.
for (const [device, settings] of Object.entries({
  firefox: { userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  safari: { userAgent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15', deviceScaleFactor: 2, locale: 'de-DE', timezoneId: 'Asia/Kolkata' },
  edge: { userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edge/18.1', locale: 'zh-CN' },
  phone: { userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1', deviceScaleFactor: 3, hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } },
})) {
  for (const name of ['device', 'figures', 'planned', 'sheets']) {
    const page = await opened(name, settings);
    for (const chart of await page.$$('[data-live] > [role=img]')) {
      await chart.scrollIntoViewIfNeeded();
      const box = await chart.boundingBox(), at = [box.x + box.width * 0.3, box.y + box.height * 0.6];
      if (settings.hasTouch) await page.touchscreen.tap(...at);
      else await page.mouse.click(...at);
      await page.waitForTimeout(50);
    }
    await page.screenshot({ path: `${shots}/${name}-${device}.png` });
    await page.context().close();
  }
}
await browser.close();
console.log(`${errors} errors`);
process.exit(errors > 0 ? 1 : 0);
