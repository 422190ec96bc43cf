#!/bin/sh
# Builds echarts.min.js.gz from the ECharts version that go-echarts writes
# options for. With --check, compares it with the committed one instead.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/package.json" "$here/package-lock.json" "$here/entry.js" "$work"
cd "$work"
npm ci --no-audit --no-fund --loglevel=error >&2
npx esbuild entry.js --bundle --minify --format=cjs --target=es2018 --legal-comments=none --outfile=echarts.min.js --log-level=warning
if [ "${1:-}" = --check ]; then
	gzip -dc "$here/echarts.min.js.gz" | cmp - echarts.min.js
	exit
fi
gzip -9n <echarts.min.js >"$here/echarts.min.js.gz"
{
	cat node_modules/echarts/NOTICE node_modules/echarts/LICENSE
	for part in node_modules/echarts/licenses/* node_modules/zrender/LICENSE node_modules/tslib/LICENSE.txt; do
		printf '\n---- %s\n\n' "${part#node_modules/}"
		cat "$part"
	done
} >"$here/LICENSE"
