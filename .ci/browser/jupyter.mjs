// What the scripts of this folder have in common: JupyterLab, as `gonbext lab` has started it, in
// a browser. Each is run as node SCRIPT LOG OUT, where LOG is what `gonbext lab` prints and OUT
// the folder that has its notebooks and takes the screenshots.
import { createRequire } from 'node:module';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [log, out] = process.argv.slice(2);
const require = createRequire(`${out}/node/`);
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

// limit is how long a busy machine may take for anything, in milliseconds: no step waits for a
// time, all wait for what they look at.
export const limit = 300000;

export async function until(look, what, most = limit, each = 100) {
  for (const end = Date.now() + most; ; await sleep(each)) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(what);
  }
}

const url = new URL((await until(() => existsSync(log) && readFileSync(log, 'utf8').match(/https?:\/\/(localhost|127\.0\.0\.1)\S*/), `no address in ${log}`))[0]);

// there is the address of a page of JupyterLab's server.
export function there(pathname, query = {}) {
  const at = Object.assign(new URL(url), { pathname });
  for (const [name, value] of Object.entries(query)) at.searchParams.set(name, value);
  return at.href;
}

export async function setting(name, value) {
  const answer = await fetch(there(`/lab/api/settings/${name}`), { method: 'PUT', headers: { Authorization: `token ${url.searchParams.get('token')}` }, body: JSON.stringify({ raw: JSON.stringify(value) }) });
  if (!answer.ok) throw new Error(`the setting ${name} is rejected: ${answer.status}`);
}
export const theme = name => setting('@jupyterlab/apputils-extension:themes', { theme: `JupyterLab ${name}` });
export const allCellsInPage = () => setting('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });

// notebook writes one with these cells.
export const notebook = (path, sources) => writeFileSync(`${out}/${path}`, JSON.stringify({
  nbformat: 4, nbformat_minor: 5, metadata: { kernelspec: { name: 'gonbext', display_name: 'Go (gonbext)', language: 'go' } },
  cells: sources.map((source, i) => ({ cell_type: 'code', id: `c${i}`, metadata: {}, source, outputs: [], execution_count: null })),
}));

export const browser = await require('playwright-core').chromium.launch({ executablePath, args: ['--no-sandbox'] });
export async function newPage(options) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(limit);
  page.on('pageerror', e => console.log('page error:', e.message.slice(0, 200)));
  return page;
}
export const load = (page, address) => page.goto(address, { waitUntil: 'domcontentloaded' });

// scripted waits until figures are in the page, and what draws them.
export const scripted = page => page.waitForFunction(() => window.gonbextCharts6?.draws && document.querySelector('.gonbext [id^=gonbext-]'));

// drawn has the scripts of a page, where they run, draw the figures that are open: each when it
// comes into sight.
export async function drawn(page) {
  await page.waitForFunction(() => {
    const left = window.gonbextCharts6 && [...document.querySelectorAll('.gonbext [id^=gonbext-]:not([data-live])')].find(e => !e.closest('details:not([open])'));
    left?.scrollIntoView();
    return !left;
  });
  await page.evaluate(() => document.querySelector('.gonbext')?.scrollIntoView({ block: 'center' }));
}

export const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
