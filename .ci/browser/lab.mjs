// Uses JupyterLab as a person would: types magics by keyboard and looks at what they draw.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { allCellsInPage, axe, browser, drawn, load, newPage, notebook, scripted, theme, there, until } from './jupyter.mjs';

const out = process.argv[3];

function check(ok, what) {
  if (!ok) throw new Error(what);
  console.log('ok  ', what);
}

notebook('lab/typed.ipynb', ['']);
const page = await newPage({ viewport: { width: 1280, height: 1600 } });
// Alone: tabs of an earlier visit would come back otherwise.
const open = path => load(page, there(`/lab/tree/${path}`, { reset: '' }));

// No output of ours violates WCAG 2.2 AA, with all that is folded open.
async function accessible(where, what) {
  await where.evaluate(() => document.querySelectorAll('.gonbext details').forEach(e => { e.open = true; }));
  await drawn(where);
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
  const below = await cells.count();
  await page.keyboard.press('Shift+Enter');
  await cells.nth(below).waitFor();
  return cell.locator('.jp-OutputArea');
}

let failure;
try {
  await open('typed.ipynb');
  await page.waitForSelector('.jp-Notebook .cm-content');
  // Cells run before the session has a kernel come to nothing; the status bar says when it has.
  await page.getByText('Go (gonbext) | Idle').waitFor();

  let output = await run('%footprint 3075200x512 float32');
  await output.getByText('6,298,009,600').first().waitFor();
  check(true, '%footprint says the bytes');

  output = await run('%%memory --budget 64MiB\ngonbext.Save(oocore.Random(oocore.Float32, 7, 40000, 1000).Sqrt(), "roots.npy")');
  await output.locator('canvas').first().waitFor();
  const colours = await output.locator('canvas').first().evaluate(c => {
    const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
  });
  check(colours > 4, `%%memory draws a chart (${colours} colours)`);
  check(/Peak .* of 64/.test(await output.innerText()), '%%memory gives a verdict');
  await output.getByLabel('What ran from').focus();
  for (let i = 0; i < 40; i++) await page.keyboard.press('ArrowRight');
  const named = await output.getByRole('status').innerText();
  check(/ to .*: .*sqrt/.test(named), 'a window of time is chosen by keys, and what ran then is named');
  // The operation, and lines of the cell if they held memory then, which depends on where Go's collector stood.
  const lit = await output.locator('tr.gonbext-lit').evaluateAll(rows => rows.map(row => (row.querySelector('strong') ?? row.cells[0]).textContent));
  check(await output.locator('tr.gonbext-stage.gonbext-lit').count() === 1 && lit.every(name => named.includes(name)), `and lights up (${named})`);

  output = await run('%%memory --budget 64MiB\ngonbext.Save(oocore.Random(oocore.Float32, 7, 4000, 1000), "tiles.zarr", oocore.Chunks(500, 100), oocore.Codec("zstd:1"))');
  await output.getByText(/Peak/).first().waitFor();
  output = await run('%chunks tiles.zarr');
  await output.locator('canvas').first().waitFor();
  check(/80 chunks of 500 × 100 float32/.test(await output.innerText()), '%chunks draws the chunks of a stored array');
  output = await run('%compare last-1 last');
  await output.getByText('predicted peak').first().waitFor();
  await output.locator('canvas').first().waitFor();
  check(true, '%compare lays two runs over each other');
  output = await run('%%memory --budget 64MiB\ngonbext.Plot(oocore.Arange(0, 10000000, 1))');
  await output.locator('[data-live] > [role=img] canvas').first().waitFor();
  check(/10,000,000 elements from 0/.test(await output.innerText()), 'gonbext.Plot draws an array of ten million elements');

  output = await run('%%memory --bugdet 64MiB\n_ = 1');
  await output.getByText('--budget').first().waitFor();
  check(true, 'a wrong flag is answered with the right one');

  await allCellsInPage();
  // A page that is loaded anew while a cell runs: its bar goes on, and gives way to the report.
  // It runs until it is told to end.
  output = await run('%%memory --budget 64MiB\nfor i := uint64(0); ; i++ { gonbext.Save(oocore.Random(oocore.Float32, i, 2000, 1000), fmt.Sprint("slow", i%4, ".npy")); time.Sleep(time.Second); if _, err := os.Stat("end"); err == nil { break } }');
  await output.getByRole('progressbar').waitFor();
  await page.keyboard.press('Control+s');
  await until(() => readFileSync(`${out}/lab/typed.ipynb`, 'utf8').includes('gonbext-bar'), 'the notebook is not saved with its bar');
  await open('typed.ipynb');
  await page.locator('.gonbext-bar').waitFor();
  const before = await page.locator('.gonbext-bar').locator('xpath=..').innerText();
  await page.waitForFunction(text => {
    const bar = document.querySelector('.gonbext-bar');
    return !bar || bar.parentElement.innerText !== text;
  }, before);
  check(await page.locator('.gonbext-stale').count() === 0, 'the bar of a page that was loaded anew goes on');
  writeFileSync(`${out}/lab/end`, '');
  await page.locator('.gonbext-bar').waitFor({ state: 'detached' });
  await page.locator('.jp-CodeCell', { hasText: 'slow' }).locator('.jp-OutputArea').getByText(/Peak/).first().waitFor();
  check(true, 'and gives way to the report');
  await page.getByText('Go (gonbext) | Idle').waitFor();

  for (const colours of ['Light', 'Dark']) {
    await theme(colours);
    await open('typed.ipynb');
    await scripted(page);
    await accessible(page, `outputs in JupyterLab, ${colours}`);
    await page.screenshot({ path: `${out}/lab-${colours}.png` });
  }
  await page.getByText('Go (gonbext) | Idle').waitFor();

  const cells = page.locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell');
  const last = cells.nth(await cells.count() - 1);
  await last.locator('.cm-content').click();
  await type('%footpr');
  await page.keyboard.press('Tab');
  await page.waitForFunction(() => {
    const lines = [...document.querySelectorAll('.jp-CodeCell .cm-content')].pop().innerText;
    const offered = document.querySelector('.jp-Completer:not(.lm-mod-hidden)')?.innerText ?? '';
    return lines.includes('%footprint') || offered.includes('%footprint');
  });
  check(true, 'Tab completes a magic');
  await page.keyboard.press('Escape');
  await page.screenshot({ path: `${out}/lab.png` });

  const lessons = readdirSync(`${out}/lab`).filter(name => /^\d.*\.ipynb$/.test(name)).map(name => name.replace('.ipynb', ''));
  for (const lesson of lessons) {
    await open(`${lesson}.ipynb`);
    await page.waitForSelector('.jp-Notebook .jp-OutputArea img, .jp-Notebook .jp-OutputArea canvas');
    check(true, `the executed lesson ${lesson} shows its charts`);
    // Nobody has trusted it: no script runs, and all is there.
    check(await page.locator('.gonbext canvas').count() === 0 && await page.locator('.gonbext img').count() > 0, `${lesson} without scripts shows pictures`);
    await accessible(page, `${lesson} in JupyterLab, not trusted`);
    const huge = await page.evaluate(() => [...document.querySelectorAll('.jp-OutputArea .gonbext *')].filter(e => parseFloat(getComputedStyle(e).fontSize) > 16).length);
    const colours = await page.evaluate(() => [...document.querySelectorAll('.jp-OutputArea .gonbext-verdict')].every(e => getComputedStyle(e).borderLeftStyle === 'solid'));
    check(huge === 0 && colours, `${lesson} not trusted: texts have their sizes, verdicts their colours`);
    await page.screenshot({ path: `${out}/lab-${lesson}.png` });

    for (const colorScheme of ['light', 'dark']) {
      const html = await newPage({ colorScheme, viewport: { width: 1000, height: 2400 } });
      await load(html, `file://${out}/${lesson}.html`);
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
