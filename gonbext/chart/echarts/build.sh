#!/bin/sh
# Builds echarts.min.js.gz from the ECharts version that go-echarts writes
# options for. With --check, compares it with the committed one instead. With
# --trace, first finds in Chromium which branches of ECharts the charts reach:
# run it after a change of the charts' options, or of report.js. With
# --exercise, uses the charts as --trace does, with the committed library.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.json "$here"/*.mjs "$here/entry.js" "$work"
cd "$work"
npm ci --no-audit --no-fund --loglevel=error >&2
case "${1:-}" in --trace | --exercise)
	mkdir pages
	(cd "$here" && GONBEXT_PAGES="$work/pages" go test .. -count=1 -run '^TestWrite' >&2)
	if [ "$1" = --exercise ]; then
		node exercise.mjs pages shots
		exit
	fi
	node build.mjs noting.js
	node exercise.mjs pages shots noting.js reached.json
	cp reached.json "$here"
	;;
esac
node build.mjs echarts.min.js.gz reached.json
if [ "${1:-}" = --check ]; then
	gzip -dc "$here/echarts.min.js.gz" >committed.js
	gzip -dc echarts.min.js.gz | cmp - committed.js
	exit
fi
cp echarts.min.js.gz "$here"
{
	printf 'echarts.min.js.gz is Apache ECharts 5.4.3 with parts left out, see build.mjs.\n\n'
	cat node_modules/echarts/NOTICE node_modules/echarts/LICENSE
	for part in node_modules/echarts/licenses/* node_modules/zrender/LICENSE node_modules/tslib/LICENSE.txt; do
		printf '\n---- %s\n\n' "${part#node_modules/}"
		cat "$part"
	done
} >"$here/LICENSE"
