#!/bin/sh
# Builds echarts.min.js.gz from the ECharts version that go-echarts writes
# options for: what entry.js imports of it, as esbuild tree-shakes it. With
# --check, compares it with the committed one instead. With --exercise, uses the
# charts with the committed one in Chromium, as a reader does.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.json "$here"/*.mjs "$here/entry.js" "$work"
cd "$work"
npm ci --no-audit --no-fund --loglevel=error >&2
if [ "${1:-}" = --exercise ]; then
	mkdir pages
	(cd "$here" && GONBEXT_PAGES="$work/pages" go test .. -count=1 -run '^TestWrite' >&2)
	node exercise.mjs pages "${2:-shots}"
	exit
fi
# The licence asks for the notice in what is handed on, also where it is in a notebook.
notice='/* Apache ECharts 5.4.3, Copyright 2017-2023 The Apache Software Foundation, Apache-2.0, with ZRender, Copyright (c) 2017 Baidu Inc., BSD-3-Clause */'
node_modules/.bin/esbuild entry.js --bundle --minify --format=cjs --target=es2018 --legal-comments=none --log-level=warning --banner:js="$notice" >echarts.min.js
if [ "${1:-}" = --check ]; then
	gzip -dc "$here/echarts.min.js.gz" | cmp - echarts.min.js
	exit
fi
gzip -9nc echarts.min.js >"$here/echarts.min.js.gz"
{
	printf 'echarts.min.js.gz is Apache ECharts 5.4.3, of which it has what entry.js imports.\n\n'
	cat node_modules/echarts/NOTICE node_modules/echarts/LICENSE
	for part in node_modules/echarts/licenses/* node_modules/zrender/LICENSE node_modules/tslib/LICENSE.txt; do
		printf '\n---- %s\n\n' "${part#node_modules/}"
		cat "$part"
	done
} >"$here/LICENSE"
