// The steps of a demanding user: from a fresh notebook to its PDF, in JupyterLab and Notebook 7,
// light and dark, trusted and not.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { allCellsInPage, browser, drawn, load, newPage, notebook, scripted, theme, there, until } from './jupyter.mjs';

const out = process.argv[3];

let steps = 0;
const failed = [];
async function step(what, look) {
  steps++;
  let why;
  try {
    why = await look() ?? '';
  } catch (e) {
    why = e.message.split('\n')[0];
  }
  if (why === true || why === '') return console.log('ok  ', what);
  failed.push(what);
  console.log('FAIL', what, String(why).slice(0, 400));
}
const has = (text, ...wanted) => wanted.filter(w => w instanceof RegExp ? !w.test(text) : !text.includes(w)).map(w => `no ${w} in ${text}`)[0];

// What is typed, cell by cell, and what its output says.
const cells = [
  ['the first thing that anyone types', 'fmt.Println("hello")', 'hello'],
  ['an expression', '1 + 1', '2'],
  ['a text', '"gonbext"', 'gonbext'],
  ['a variable that nothing uses', 'x := 3', /^$/],
  ['a variable of another cell', 'x + 1', /^4$/],
  ['a declaration', 'func double(n int) int { return 2 * n }', /^$/],
  ['a function of another cell', 'fmt.Println(double(21))', '42'],
  ['and what it returns', 'double(21)', /^42$/],
  ['declarations below statements', 'y := double(4)\ntype pair struct{ a, b int }\nfmt.Println(pair{y, y})', '{8 8}'],
  ['generics and iota', 'type colour int\nconst (\n\tred colour = iota\n\tgreen\n)\nfunc first[T any](v []T) T { return v[0] }\nfmt.Println(first([]colour{green}))', '1'],
  ['labels and backticks', 'outer:\nfor i := range 3 {\n\tfor {\n\t\tfmt.Println(`"` + fmt.Sprint(i) + "`")\n\t\tcontinue outer\n\t}\n}', '"2`'],
  ['a fault of the compiler has the cell\'s own line', 'a := 1\n\nb := "x" + a', 'line 3', /^(?!.*package main)/s],
  ['a method that is misspelt', 'oocore.Arange(0, 9, 1).Sqr()', 'Did you mean Sqrt'],
  ['an array that cannot be', 'func sum(a, b *oocore.Array) *oocore.Array {\n\treturn a.Add(b)\n}\n\nsum(oocore.Full(1, 3), oocore.Full(1, 4))', 'cell:2'],
  ['a magic that is misspelt', '%%memry\n1', 'did you mean %%memory'],
  ['a size without a unit', '%%memory --budget 64\n1', '64MiB'],
  ['a scalar is a number', 'oocore.Arange(0, 10, 1).Sum()', /^45$/],
  ['a card has its ends', 'oocore.Arange(0, 4000, 1).Reshape(40, 100)', '40 × 100 int64', '0', '3999', 'mean 1999.5'],
  ['points stand below each other', 'oocore.FromSlice([]float64{1, -22.5, 0.125, 3}, 2, 2)', '-22.5', '0.125'],
  ['a save in a plain cell says what it wrote', 'gonbext.Save(oocore.Random(oocore.Float32, 7, 2000, 1000), "x.zarr", oocore.Chunks(500, 250))', 'x.zarr', '7.63 MiB'],
  ['the card of a file has its chunks', 'oocore.Open("x.zarr")', '16 chunks of 500 × 250', 'maximum'],
  ['the same save again', 'gonbext.Save(oocore.Random(oocore.Float32, 7, 2000, 1000), "x.zarr", oocore.Chunks(500, 250))', 'already'],
  ['a file that is not there', 'oocore.Open("nothing.npy")', 'nothing.npy'],
  ['the mean of a file', 'oocore.Open("x.zarr").Mean()', /^0\.\d+$/],
  ['a product', 'm := oocore.Open("x.zarr")\nm.T().MatMul(m)', '1,000 × 1,000'],
  ['%%time', '%%time\ngonbext.Save(oocore.Open("x.zarr").Sqrt(), "roots.npy")', /roots.npy: [^]*\nWall time .*CPU time/],
  ['%%memory', '%%memory --budget 64MiB\ngonbext.Save(oocore.Open("x.zarr").Exp(), "exp.npy", oocore.Fresh())', /Peak .* of 64/, 'predicted'],
  ['two saves, one report', '%%memory --budget 64MiB\nz := oocore.Open("x.zarr")\ngonbext.Save(z.Add(1), "one.npy")\ngonbext.Save(z.Add(2), "two.npy")', /Peak .* of 64/],
  ['a budget that is too small', '%%memory --budget 1MiB\ngonbext.Save(oocore.Open("x.zarr").Sqrt(), "small.npy")', 'budget of'],
  ['%%footprint runs nothing', '%%footprint --budget 64MiB\ngonbext.Save(oocore.Open("x.zarr").Sqrt(), "never.npy")', 'nothing was run'],
  ['%footprint of a shape', '%footprint 3075200x512 float32', '6,298,009,600'],
  ['a footprint for a card', '%footprint 3075200x512 float32 --device 8GiB', '8 GiB'],
  ['%chunks', '%chunks x.zarr', '16 chunks of 500 × 250'],
  ['%runs', '%runs', 'exp'],
  ['%report', '%report', 'needs a budget of'], // of the cell that ended last
  ['%report as a page', '%report last --html page.html', 'needs a budget of'],
  ['%compare', '%compare last-1 last', 'predicted peak'],
  ['%budget', '%budget 64MiB', '64 MiB'],
  ['a modelled card', '%%memory --device model:1GiB\ngonbext.Save(oocore.Open("x.zarr").Tanh(), "tanh.npy")', 'Peak'],
  ['Plot', 'gonbext.Plot(oocore.Arange(0, 1000, 1).Sqrt())', '1,000 elements'],
  ['Hist', 'gonbext.Hist(oocore.Open("x.zarr"))', '2,000,000'],
  ['HeatMap', 'gonbext.HeatMap(oocore.Open("x.zarr"))', '2,000'],
  ['%disk', '%disk', 'records of runs'],
  ['%help', '%help', '%%memory', '%%time'],
  ['help on a magic', '%%memory?', '--budget SIZE'],
  ['help on a function', 'oocore.Open?', 'func oocore.Open(path string) *Array'],
  ['help on a method', 'm := oocore.Open("x.zarr")\nm.Sum?', '(*Array).Sum'],
  ['a panic', '%%memory --budget 64MiB\ngonbext.Save(oocore.Open("x.zarr").Log(), "log.npy")\npanic("on purpose")', 'on purpose'],
  ['an exit', '%%memory --budget 64MiB\nos.Exit(3)', 'exit status 3'],
  ['more memory than the budget', '%%memory --budget 64MiB\nvar all [][]byte\nfor range 1000 {\n\tall = append(all, bytes.Repeat([]byte{1}, 1<<20))\n}\nfmt.Println(len(all))', /64 MiB/],
];

const page = await newPage({ viewport: { width: 1200, height: 1400 } });
async function open(path, query) {
  await load(page, there(path, query));
  await page.locator('.jp-Notebook .jp-CodeCell').first().waitFor();
}
const cell = i => page.locator('.jp-Notebook .jp-CodeCell').nth(i);
const said = async i => (await cell(i).locator('.jp-OutputArea-output').allInnerTexts()).join('\n').replaceAll('\u00a0', ' ').trim();
// An output may come after the reply: what a cell says is looked at until it is right, or has had
// half a minute.
async function says(i, ...wanted) {
  await cell(i).locator('.jp-InputArea-prompt').filter({ hasText: /\[\d+\]/ }).waitFor();
  let why;
  await until(async () => !(why = has(await said(i), ...wanted)), '', 30000).catch(() => {});
  return why;
}
// What our outputs look like, wherever they stand.
async function looks(where, scripts) {
  await drawn(page);
  await step(`${where}: no text of ours is large`, async () => {
    const large = await page.evaluate(() => [...document.querySelectorAll('.jp-OutputArea .gonbext *')].filter(e => parseFloat(getComputedStyle(e).fontSize) > 16).length);
    return large === 0 || `${large} are`;
  });
  await step(`${where}: verdicts have their colour`, async () => {
    const all = await page.evaluate(() => [...document.querySelectorAll('.gonbext-verdict')].map(e => getComputedStyle(e).borderLeftStyle));
    return all.length > 3 && all.every(s => s === 'solid') || `${all}`;
  });
  await step(`${where}: ${scripts ? 'charts are drawn' : 'no script runs, and charts are pictures'}`, async () => {
    const [canvas, pictures] = [await page.locator('.gonbext canvas').count(), await page.locator('.gonbext img').count()];
    return (scripts ? canvas > 2 : canvas === 0 && pictures > 5) || `${canvas} canvases and ${pictures} pictures`;
  });
  const two = page.locator('.jp-CodeCell', { hasText: 'two.npy' }).first();
  if (scripts) await step(`${where}: a span of the timeline lights up what ran then`, async () => {
    for (const [span, operation] of [['one.npy', 'x.zarr + 1'], ['two.npy', 'x.zarr + 2']]) {
      await two.locator('.gonbext-spans button', { hasText: span }).evaluate(b => b.click());
      const lit = await two.locator('tr.gonbext-stage.gonbext-lit strong').allTextContents();
      const why = has(lit.join(), operation) || has(await two.getByRole('status').innerText(), operation) || has(await two.locator('.gonbext-flame').innerText(), operation);
      if (why) return why;
    }
  });
  await two.screenshot({ path: `${out}/steps-timeline-${where.replaceAll(/[^A-Za-z0-9]+/g, '-')}.png` });
  await step(`${where}: nothing of ours is wider than its cell`, async () => {
    const wide = await page.evaluate(() => [...document.querySelectorAll('.jp-OutputArea-output .gonbext')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => {
      const beyond = [...e.querySelectorAll('*')].filter(x => x.getBoundingClientRect().right > e.getBoundingClientRect().right + 1);
      const named = beyond.find(x => !x.closest('.gonbext-wide')) ?? beyond[0] ?? e;
      return `${e.scrollWidth} of ${e.clientWidth}: ${named.outerHTML.slice(0, 300)}`;
    }));
    return wide.length === 0 || `${wide.length} are: ${wide}`;
  });
}

try {
  // A fresh notebook in JupyterLab, light.
  await theme('Light');
  await allCellsInPage();
  notebook('steps/steps.ipynb', cells.map(c => c[1]));
  await load(page, there('/lab', { reset: '' }));
  await page.locator('.jp-Launcher').waitFor();
  await step('the launcher has the kernel', async () => await page.locator('.jp-LauncherCard', { hasText: 'Go (gonbext)' }).first().locator('img').count() === 1);
  await open('/lab/tree/steps.ipynb', { reset: '' });
  await page.getByText('Go (gonbext) | Idle').waitFor();
  await cell(0).locator('.cm-content').click();
  for (const [i, [what, , ...wanted]] of cells.entries()) {
    await page.keyboard.press('Shift+Enter');
    await step(what, () => says(i, ...wanted));
  }
  const last = cells.length; // Shift+Enter has made it
  for (const [typed, offered] of [['oocore.Op', 'Open'], ['oocore.Open("x.zarr").Sq', 'Sqrt'], ['%foot', '%footprint'], ['oocore.Open("x.z', 'x.zarr']]) {
    await step(`Tab behind ${typed} offers ${offered}`, async () => {
      await cell(last).locator('.cm-content').click();
      await page.keyboard.press('Control+a');
      await page.keyboard.type(typed);
      await page.keyboard.press('Tab');
      await page.waitForFunction(offered => {
        const text = [...document.querySelectorAll('.jp-CodeCell .cm-content')].pop().innerText;
        return text.includes(offered) || document.querySelector('.jp-Completer:not(.lm-mod-hidden)')?.innerText.includes(offered);
      }, offered, { polling: 20 });
      await page.keyboard.press('Escape');
    });
  }
  await step('Shift-Tab says what a function takes', async () => {
    await cell(last).locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('oocore.Open');
    await page.keyboard.press('Shift+Tab');
    await page.locator('.jp-Tooltip', { hasText: 'func oocore.Open' }).waitFor();
    await page.keyboard.press('Escape');
  });
  await step('and its page is there', () => existsSync(`${out}/steps/page.html`));
  await looks('JupyterLab, light', true);
  await page.keyboard.press('Control+s');
  await until(() => readFileSync(`${out}/steps/steps.ipynb`, 'utf8').includes('exit status 3'), 'the notebook is not saved');
  await page.screenshot({ path: `${out}/steps-lab-light.png` });

  // The same in a dark and narrow window.
  await theme('Dark');
  await page.setViewportSize({ width: 620, height: 1200 });
  await open('/lab/tree/steps.ipynb', { reset: '' });
  await scripted(page);
  await looks('JupyterLab, dark and narrow', true);
  await page.screenshot({ path: `${out}/steps-lab-dark.png` });
  await page.setViewportSize({ width: 1200, height: 1400 });

  // What a colleague opens: it is signed by nobody.
  const sent = JSON.parse(readFileSync(`${out}/steps/steps.ipynb`, 'utf8'));
  sent.metadata.sent = true;
  sent.cells.push({ cell_type: 'markdown', id: 'sent', metadata: {}, source: 'From a colleague.' });
  writeFileSync(`${out}/steps/sent.ipynb`, JSON.stringify(sent));
  for (const [name, path] of [['JupyterLab', '/lab/tree/sent.ipynb'], ['Notebook 7', '/notebooks/sent.ipynb']]) {
    for (const colours of ['Dark', 'Light']) {
      await theme(colours);
      await open(path, name === 'JupyterLab' ? { reset: '' } : {});
      await page.locator('.gonbext img').first().waitFor();
      await looks(`${name}, ${colours.toLowerCase()}, not trusted`, false);
      await page.screenshot({ path: `${out}/steps-${name.replace(' ', '')}-${colours}-sent.png` });
    }
  }

  // A fresh notebook in Notebook 7.
  notebook('steps/classic.ipynb', ['oocore.Open("x.zarr")', '%%memory --budget 64MiB\nz := oocore.Open("x.zarr")\ngonbext.Save(z.Add(1), "one.npy", oocore.Fresh())\ngonbext.Save(z.Add(2), "two.npy", oocore.Fresh())', '%chunks x.zarr', 'gonbext.Hist(oocore.Open("x.zarr"))', '%report']);
  await open('/notebooks/classic.ipynb');
  await step('Notebook 7 runs cells', async () => {
    for (const [i, wanted] of ['16 chunks', /Peak .* of 64/, '16 chunks', '2,000,000', 'Peak'].entries()) {
      await until(async () => { // what is run before there is a kernel comes to nothing, or has the page ask for one
        if (/\[(\*|\d+)\]/.test(await cell(i).locator('.jp-InputArea-prompt').innerText())) return true;
        const ask = page.locator('.jp-Dialog .jp-mod-accept');
        if (await ask.count() > 0) return void await ask.click();
        const free = await cell(i).locator('.cm-content').click({ timeout: 5000 }).then(() => true, () => false); // no dialog covers it
        if (free) await page.keyboard.press('Shift+Enter');
      }, `cell ${i} does not run`, undefined, 1000);
      const why = await says(i, wanted);
      if (why) return why;
    }
  });
  await looks('Notebook 7', true);
  await page.screenshot({ path: `${out}/steps-notebook7.png` });

  // The PDF.
  execFileSync(process.env.GONBEXT_PYTHON, ['-m', 'nbconvert', '--to', 'html', '--log-level', 'ERROR', `${out}/steps/steps.ipynb`], { stdio: 'inherit' });
  const html = await newPage();
  await load(html, `file://${out}/steps/steps.html`);
  await drawn(html);
  await step('nbconvert\'s page has charts', async () => await html.locator('.gonbext canvas').count() > 2);
  await html.emulateMedia({ media: 'print' });
  await step('folds stay closed in print', async () => {
    const open = await html.evaluate(() => [...document.querySelectorAll('details.gonbext-fold:not([open])')].filter(e => e.offsetHeight > 80).length);
    return open === 0 || `${open} are open`;
  });
  await step('no picture in print is larger than a third of a page', async () => {
    const large = await html.evaluate(() => [...document.querySelectorAll('.gonbext img')].filter(e => e.offsetHeight > 350).length);
    return large === 0 || `${large} are`;
  });
  await step('it prints', async () => (await html.pdf({ path: `${out}/steps.pdf`, format: 'A4' })).length > 100000);
} catch (e) {
  failed.push('the rest');
  console.log(e.message);
  await page.screenshot({ path: `${out}/steps-failed.png` });
}
await browser.close();
console.log(`${steps} steps, ${failed.length} failed`);
if (failed.length || steps < 60) {
  for (const what of failed) console.error('FAILED:', what);
  process.exit(1);
}
