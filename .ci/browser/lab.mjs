// Uses JupyterLab as a person would: types magics by keyboard and looks at what
// they draw. Usage: node lab.mjs LOG OUT, where LOG is what `gonbext lab` prints
// and OUT the folder that has its notebooks in lab/ and takes the screenshots.
import { createRequire } from 'node:module';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [log, out] = process.argv.slice(2);
const require = createRequire(`${out}/node/`);
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

function check(ok, what) {
  if (!ok) throw new Error(what);
  console.log('ok  ', what);
}

async function address() {
  for (let i = 0; i < 600; i++, await sleep(200)) {
    const found = existsSync(log) && readFileSync(log, 'utf8').match(/https?:\/\/(localhost|127\.0\.0\.1)\S*/);
    if (found) return new URL(found[0]);
  }
  throw new Error(`no address in ${log} after two minutes`);
}

function notebook(name) {
  const cell = { cell_type: 'code', id: 'c0', metadata: {}, source: '', outputs: [], execution_count: null };
  writeFileSync(`${out}/lab/${name}`, JSON.stringify({
    nbformat: 4, nbformat_minor: 5, cells: [cell],
    metadata: { kernelspec: { name: 'gonbext', display_name: 'gonbext', language: 'go' } },
  }));
}

notebook('typed.ipynb');
const url = await address();
const open = path => { // alone: tabs of an earlier visit would come back otherwise
  const there = Object.assign(new URL(url), { pathname: `/lab/tree/${path}` });
  there.searchParams.set('reset', '');
  return there.href;
};
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
page.on('pageerror', e => console.log('page error:', e.message.slice(0, 200)));

async function setting(name, value) {
  const there = Object.assign(new URL(url), { pathname: `/lab/api/settings/${name}` });
  const answer = await fetch(there, { method: 'PUT', headers: { Authorization: `token ${url.searchParams.get('token')}` }, body: JSON.stringify({ raw: JSON.stringify(value) }) });
  check(answer.ok, `the setting ${name} is ${JSON.stringify(value)}`);
}

// No output of ours violates WCAG 2.2 AA, with all that is folded open.
async function accessible(where, what) {
  await where.evaluate(() => document.querySelectorAll('.gonbext details').forEach(e => { e.open = true; }));
  await sleep(1500); // figures are drawn where they are opened
  await where.evaluate(axe);
  const found = await where.evaluate(() => axe.run({ include: [['.gonbext']] }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
  for (const v of found.violations) console.log(`     ${v.id} (${v.impact}), ${v.nodes.length} times: ${v.nodes[0].html.slice(0, 160)} ${v.nodes[0].any[0]?.message ?? ''}`);
  check(found.violations.length === 0 && found.passes.length > 0, `${what}: WCAG 2.2 AA (${found.passes.length} rules)`);
}

// The focused cell is the last one: Shift+Enter moves to a new one below.
async function type(source) {
  await page.keyboard.type(source, { delay: 5 });
}
async function run(source) {
  const cells = page.locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell');
  const cell = cells.nth(await cells.count() - 1);
  await cell.locator('.cm-content').click();
  await type(source);
  await page.keyboard.press('Shift+Enter');
  return cell.locator('.jp-OutputArea');
}

let failure;
try {
  await page.goto(open('typed.ipynb'), { waitUntil: 'domcontentloaded', timeout: 60000 });
  await page.waitForSelector('.jp-Notebook .cm-content', { timeout: 60000 });
  // Cells run before the session has a kernel come to nothing; the status bar says when it has.
  await page.getByText('Go (gonbext) | Idle').waitFor({ timeout: 60000 });

  let output = await run('%footprint 3075200x512 float32');
  await output.getByText('6,298,009,600').first().waitFor({ timeout: 60000 });
  check(true, '%footprint says the bytes');

  output = await run('%%memory --budget 64MiB\ngonbext.Save(oocore.Random(oocore.Float32, 7, 40000, 1000).Sqrt(), "roots.npy")');
  await output.locator('canvas').first().waitFor({ timeout: 120000 });
  const drawn = await output.locator('canvas').first().evaluate(c => {
    const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
  });
  check(drawn > 4, `%%memory draws a chart (${drawn} colours)`);
  check(/Peak .* of 64/.test(await output.innerText()), '%%memory gives a verdict');
  await output.getByLabel('What ran from').focus();
  for (let i = 0; i < 40; i++) await page.keyboard.press('ArrowRight');
  check(/ to .*: .*sqrt/.test(await output.getByRole('status').innerText()), 'a window of time is chosen by keys, and what ran then is named');
  check(await output.locator('tr.gonbext-lit').count() === 1, 'and lights up');

  output = await run('%%memory --budget 64MiB\ngonbext.Save(oocore.Random(oocore.Float32, 7, 4000, 1000), "tiles.zarr", oocore.Chunks(500, 100), oocore.Codec("zstd:1"))');
  await output.getByText(/Peak/).first().waitFor({ timeout: 120000 });
  output = await run('%chunks tiles.zarr');
  await output.locator('canvas').first().waitFor({ timeout: 60000 });
  check(/80 chunks of 500 × 100 float32/.test(await output.innerText()), '%chunks draws the chunks of a stored array');
  output = await run('%compare last-1 last');
  await output.getByText('predicted peak').first().waitFor({ timeout: 30000 });
  await output.locator('canvas').first().waitFor({ timeout: 30000 });
  check(true, '%compare lays two runs over each other');
  output = await run('%%memory --budget 64MiB\ngonbext.Plot(oocore.Arange(0, 10000000, 1))');
  await output.locator('[data-live] > [role=img] canvas').first().waitFor({ timeout: 60000 });
  check(/10,000,000 elements from 0/.test(await output.innerText()), 'gonbext.Plot draws an array of ten million elements');

  output = await run('%%memory --bugdet 64MiB\n_ = 1');
  await output.getByText('--budget').first().waitFor({ timeout: 30000 });
  check(true, 'a wrong flag is answered with the right one');

  await setting('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' }); // all cells are in the page
  // A page that is loaded anew while a cell runs: its bar goes on, and gives way to the report.
  output = await run('%%memory --budget 64MiB\nfor i := range 40 { gonbext.Save(oocore.Random(oocore.Float32, uint64(i), 2000, 1000), fmt.Sprint("slow", i, ".npy")); time.Sleep(time.Second) }');
  await output.getByRole('progressbar').waitFor({ timeout: 120000 });
  await page.keyboard.press('Control+s');
  for (let i = 0; i < 100 && !readFileSync(`${out}/lab/typed.ipynb`, 'utf8').includes('gonbext-bar'); i++) await sleep(100);
  await page.goto(open('typed.ipynb'), { waitUntil: 'domcontentloaded', timeout: 60000 });
  await page.locator('.gonbext-bar').waitFor({ timeout: 60000 });
  const before = await page.locator('.gonbext-bar').locator('xpath=..').innerText();
  await page.waitForFunction(text => {
    const bar = document.querySelector('.gonbext-bar');
    return !bar || bar.parentElement.innerText !== text;
  }, before, { timeout: 30000 });
  check(await page.locator('.gonbext-stale').count() === 0, 'the bar of a page that was loaded anew goes on');
  await page.locator('.gonbext-bar').waitFor({ state: 'detached', timeout: 120000 });
  check(/Peak/.test(await page.locator('.jp-CodeCell', { hasText: 'slow' }).locator('.jp-OutputArea').innerText()), 'and gives way to the report');
  await page.getByText('Go (gonbext) | Idle').waitFor({ timeout: 60000 });

  for (const theme of ['Light', 'Dark']) {
    await setting('@jupyterlab/apputils-extension:themes', { theme: `JupyterLab ${theme}` });
    await page.goto(open('typed.ipynb'), { waitUntil: 'domcontentloaded', timeout: 60000 });
    await page.locator('.gonbext canvas').first().waitFor({ timeout: 60000 });
    await accessible(page, `outputs in JupyterLab, ${theme}`);
    await page.screenshot({ path: `${out}/lab-${theme}.png` });
  }
  await page.getByText('Go (gonbext) | Idle').waitFor({ timeout: 60000 });

  const cells = page.locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell');
  const last = cells.nth(await cells.count() - 1);
  await last.locator('.cm-content').click();
  await type('%footpr');
  await page.keyboard.press('Tab');
  await page.waitForFunction(() => {
    const lines = [...document.querySelectorAll('.jp-CodeCell .cm-content')].pop().innerText;
    const offered = document.querySelector('.jp-Completer:not(.lm-mod-hidden)')?.innerText ?? '';
    return lines.includes('%footprint') || offered.includes('%footprint');
  }, null, { timeout: 30000 });
  check(true, 'Tab completes a magic');
  await page.keyboard.press('Escape');
  await page.screenshot({ path: `${out}/lab.png` });

  const lessons = readdirSync(`${out}/lab`).filter(name => /^\d.*\.ipynb$/.test(name)).map(name => name.replace('.ipynb', ''));
  for (const lesson of lessons) {
    await page.goto(open(`${lesson}.ipynb`), { waitUntil: 'domcontentloaded', timeout: 60000 });
    await page.waitForSelector('.jp-Notebook .jp-OutputArea img, .jp-Notebook .jp-OutputArea canvas', { timeout: 60000 });
    check(true, `the executed lesson ${lesson} shows its charts`);
    // Nobody has trusted it: no script runs, and all is there.
    check(await page.locator('.gonbext canvas').count() === 0 && await page.locator('.gonbext img').count() > 0, `${lesson} without scripts shows pictures`);
    await accessible(page, `${lesson} in JupyterLab, not trusted`);
    const huge = await page.evaluate(() => [...document.querySelectorAll('.jp-OutputArea .gonbext *')].filter(e => parseFloat(getComputedStyle(e).fontSize) > 16).length);
    const colours = await page.evaluate(() => [...document.querySelectorAll('.jp-OutputArea .gonbext-verdict')].every(e => getComputedStyle(e).borderLeftStyle === 'solid'));
    check(huge === 0 && colours, `${lesson} not trusted: texts have their sizes, verdicts their colours`);
    await page.screenshot({ path: `${out}/lab-${lesson}.png` });

    for (const colorScheme of ['light', 'dark']) {
      const html = await browser.newPage({ colorScheme, viewport: { width: 1000, height: 2400 } });
      await html.goto(`file://${out}/${lesson}.html`, { waitUntil: 'domcontentloaded' });
      await sleep(2000);
      check(await html.locator('canvas, .jp-OutputArea img').count() > 0, `nbconvert's page of ${lesson} shows charts (${colorScheme})`);
      await accessible(html, `nbconvert's page of ${lesson}, ${colorScheme}`);
      await html.screenshot({ path: `${out}/${lesson}-${colorScheme}.png`, fullPage: true });
      await html.close();
    }
  }
} catch (e) {
  failure = e;
  await page.screenshot({ path: `${out}/lab-failed.png` });
}
await browser.close();
if (failure) {
  console.error(failure.message);
  process.exit(1);
}
