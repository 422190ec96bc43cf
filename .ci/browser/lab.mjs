// Uses JupyterLab as a person would: types magics by keyboard and looks at what
// they draw. Usage: node lab.mjs LOG OUT, where LOG is what `gonbext lab` prints
// and OUT the folder that has its notebooks in lab/ and takes the screenshots.
import { createRequire } from 'node:module';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [log, out] = process.argv.slice(2);
const { chromium } = createRequire(`${out}/node/`)('playwright-core');
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
    await page.screenshot({ path: `${out}/lab-${lesson}.png` });

    for (const colorScheme of ['light', 'dark']) {
      const html = await browser.newPage({ colorScheme, viewport: { width: 1000, height: 2400 } });
      await html.goto(`file://${out}/${lesson}.html`, { waitUntil: 'domcontentloaded' });
      await sleep(2000);
      check(await html.locator('canvas, .jp-OutputArea img').count() > 0, `nbconvert's page of ${lesson} shows charts (${colorScheme})`);
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
