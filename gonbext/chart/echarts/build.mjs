// Bundles the parts of ECharts that entry.js names, for build.sh. The report's charts run about
// half of their code: reached.json lists the branches that they reach, as exercise.mjs found
// them in a browser. Every other branch becomes a throw, after which report.js keeps the static
// picture. Usage:
//
//	node build.mjs OUT.gz reached.json    the library
//	node build.mjs OUT                    one that notes the branches that it reaches
import { gzipAsync } from '@gfx/zopfli';
import { parse } from 'acorn';
import { build } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { minify } from 'terser';

const [out, list] = process.argv.slice(2);
const reached = list && JSON.parse(readFileSync(list, 'utf8'));

// What depends on the browser, of which exercise.mjs uses only one, stays whole, and so do sorts
// and scales, whose branches depend on the data, and what answers the pointer, whose branches
// depend on the order of what a reader does.
const whole = /zrender\/lib\/(Handler|core\/(env|dom|timsort|event|platform|fourPointsTransform)|dom\/HandlerProxy|animation\/requestAnimationFrame)\.js$|echarts\/lib\/(scale\/(Interval|Ordinal|Time|helper)|coord\/axisTickLabelBuilder|util\/(number|time|vendor)|component\/(tooltip\/TooltipHTMLContent|axisPointer\/(axisTrigger|globalListener|findPointFromSeries)))\.js$/;

function walk(node, visit) {
  if (!node || typeof node.type !== 'string') return;
  visit(node);
  for (const child of Object.values(node)) {
    if (Array.isArray(child)) child.forEach(c => walk(c, visit));
    else if (child && typeof child === 'object') walk(child, visit);
  }
}

// The branches of a file, in the order of their beginnings, the outer first: bodies of functions
// and loops, and what runs on a condition.
function branches(code) {
  const all = [];
  const add = (node, kind = node?.type === 'BlockStatement' ? 'block' : 'statement') => node && all.push({ start: node.start, end: node.end, kind, nodes: [node] });
  walk(parse(code, { ecmaVersion: 2018, sourceType: 'module' }), n => {
    switch (n.type) {
      case 'FunctionDeclaration': case 'FunctionExpression': return add(n.body, 'function');
      case 'ForStatement': case 'ForInStatement': case 'WhileStatement': return n.body.type === 'BlockStatement' && add(n.body);
      case 'IfStatement': add(n.consequent); return n.alternate?.type !== 'IfStatement' && add(n.alternate);
      case 'ConditionalExpression': add(n.consequent, 'expression'); return add(n.alternate, 'expression');
      case 'LogicalExpression': return add(n.right, 'expression');
      case 'SwitchCase': return n.consequent.length && all.push({ start: n.consequent[0].start, end: n.consequent.at(-1).end, kind: 'statement', nodes: n.consequent });
    }
  });
  return all.sort((a, b) => a.start - b.start || b.end - a.end);
}

// The variables that nodes declare for the function around them.
function declared(nodes, names = new Set()) {
  for (const node of nodes) {
    if (!node || typeof node !== 'object' || /^Function/.test(node.type)) continue;
    if (node.type === 'VariableDeclaration') node.declarations.forEach(d => names.add(d.id.name));
    declared(Object.values(node), names);
  }
  return [...names];
}

function edit(code, edits) {
  // From the end; of those that begin at one place the outer first, of those that end there the inner.
  edits.sort((a, b) => b.at - a.at || a.closes - b.closes || b.order - a.order);
  for (const { at, until = at, text } of edits) code = code.slice(0, at) + text + code.slice(until);
  return code;
}

function noting(file, code) {
  const edits = [];
  branches(code).forEach(({ start, end, kind }, i) => {
    const note = `reached[${JSON.stringify(`${file} ${i}`)}]=1`;
    if (kind === 'block' || kind === 'function') edits.push({ at: start + 1, closes: 0, order: i, text: `${note};` });
    else {
      const [open, close] = kind === 'statement' ? [`{${note};`, '}'] : [`(${note},`, ')'];
      edits.push({ at: start, closes: 0, order: i, text: open }, { at: end, closes: 1, order: -i, text: close });
    }
  });
  return edit(code, edits);
}

function trimmed(file, code) {
  const kept = new Set(reached[file]), edits = [];
  let outer = 0;
  branches(code).forEach(({ start, end, kind, nodes }, i) => {
    const short = /^[\w.$'"\s]*$/.test(code.slice(start, end)) || end - start < 13;
    if (kept.has(i) || short || start < outer) return;
    outer = end;
    const names = kind === 'expression' || kind === 'function' ? [] : declared(nodes);
    const text = kind === 'expression' ? 'unreached()' : `unreached();${names.length ? `var ${names};` : ''}`;
    edits.push({ at: start, until: end, closes: 0, order: i, text: code[start] === '{' && kind !== 'expression' ? `{${text}}` : text });
  });
  return `import {unreached} from "unreached";${edit(code, edits)}`;
}

const { outputFiles } = await build({
  entryPoints: ['entry.js'], bundle: true, minify: true, format: 'cjs', target: 'es2018', legalComments: 'none', write: false, logLevel: 'warning',
  banner: reached ? {} : { js: 'var reached=window.reached=window.reached||{};' },
  plugins: [{
    name: 'branches',
    setup(b) {
      b.onResolve({ filter: /^unreached$/ }, () => ({ path: 'unreached', namespace: 'unreached' }));
      b.onLoad({ filter: /.*/, namespace: 'unreached' }, () => ({ contents: 'export function unreached(){throw Error("a part of ECharts is left out")}' }));
      b.onLoad({ filter: /node_modules\/(echarts|zrender)\/lib\/.*\.js$/ }, ({ path }) => {
        const file = path.replace(/.*\/node_modules\//, ''), code = readFileSync(path, 'utf8');
        if (file.endsWith('langZH.js')) return { contents: 'export { default } from "./langEN.js";', resolveDir: dirname(path) }; // no text of it is seen
        return { contents: whole.test(file) ? code : reached ? trimmed(file, code) : noting(file, code) };
      });
    },
  }],
});
let code = outputFiles[0].text;
if (reached) {
  // Private properties begin with an underscore; a word of a string may be the name of one.
  const words = new Set();
  walk(parse(code, { ecmaVersion: 2018 }), n => {
    if (n.type === 'Literal' && typeof n.value === 'string') n.value.split(/[^\w$]+/).forEach(w => words.add(w));
  });
  ({ code } = await minify(code, {
    module: true, compress: { passes: 3, ecma: 2018, pure_getters: true, keep_fargs: false },
    mangle: { properties: { regex: /^_/, reserved: [...words], keep_quoted: 'strict' } }, format: { ecma: 2018 },
  }));
}
// The licence asks for this in what is handed on, also where it is in a notebook.
const notice = '/* Apache ECharts 5.4.3, Copyright 2017-2023 The Apache Software Foundation, Apache-2.0, with ZRender, Copyright (c) 2017 Baidu Inc., BSD-3-Clause; changed: parts are left out */\n';
writeFileSync(out, reached ? await gzipAsync(Buffer.from(notice + code), {}) : code);
