package chart

import (
	"fmt"
	"html"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
)

// markup is HTML, CSS or JavaScript that goes into a page as it is. Nothing becomes markup that
// comes from a user or a file: page.add escapes all else.
type markup string

// page is HTML in the making. It is written in Go and not by html/template: that finds methods by
// name, so that the linker would keep every method of every type, an eighth of the command.
//
// Notebooks that are not trusted drop style sheets and scripts, some pages attributes too. So
// what a report needs to be read is inline, what it says is in words, and its headings are
// paragraphs: those of a page are huge, and are in its table of contents.
type page struct{ strings.Builder }

// add writes a text in which each %s is the next argument: markup as it is, all else escaped for
// text and for attributes in double quotes.
func (p *page) add(format markup, args ...any) {
	rest := string(format)
	for _, a := range args {
		before, after, _ := strings.Cut(rest, "%s")
		p.WriteString(before)
		if m, is := a.(markup); is {
			p.WriteString(string(m))
		} else {
			p.WriteString(strings.ReplaceAll(html.EscapeString(fmt.Sprint(a)), "\x00", "\uFFFD"))
		}
		rest = after
	}
	p.WriteString(rest)
}

// when returns m where the condition holds, and nothing otherwise.
func when(condition bool, m markup) markup {
	if condition {
		return m
	}
	return ""
}

// optionalEnds drops the end tags that HTML implies: a fifth of a table.
var optionalEnds = strings.NewReplacer("</td>", "", "</th>", "", "</tr>", "", "</thead>", "")

// done returns the page.
func (p *page) done() string { return optionalEnds.Replace(p.String()) }

const box markup = "\n" + `<div class=gonbext-hint style="background:rgba(128,128,128,.12);border-radius:4px;padding:6px 10px;margin:10px 0">`

func (p *page) begin(styled bool) {
	p.add(`<div class=gonbext style="max-width:1100px;font-size:13px;line-height:1.5">`)
	if styled {
		p.add("<style>%s</style>", markup(reportStyle))
	}
}

func (p *page) head(text string) {
	p.add(`<p class=gonbext-head role=heading aria-level=3><b>%s</b></p>`, text)
}

func (p *page) name(text string) {
	p.add(`<p class=gonbext-name role=heading aria-level=2 style="margin:0;font-size:12px"><code style=background:none>%s</code></p>`, text)
}

// verdict writes the line that sums up a run, beside a coloured bar.
func (p *page) verdict(color, text string) {
	p.add(`<p class=gonbext-verdict style="border-left:4px solid %s;padding:4px 0 4px 10px;margin:2px 0 6px;font-size:15px"><strong>%s</strong></p>`, color, text)
}

// fold opens a details element with its title and a line beside it.
func (p *page) fold(open bool, title markup, line string) {
	p.add(`<details class=gonbext-fold style="border-top:1px solid #999;padding:5px 0"%s><summary><b>%s</b> %s</summary>`, when(open, " open"), title, line)
}

func (p *page) table(label string) {
	p.add(`<div class=gonbext-wide tabindex=0 role=region aria-label="%s"><table style="table-layout:auto;margin:4px 0;font-size:12px">`, label)
}

// columns are the head of a table, whose first ones are texts.
func (p *page) columns(names []string, texts int) {
	p.add("<thead><tr>")
	for i, c := range names {
		if c == "" {
			p.add("<td></td>")
		} else {
			p.add("<th%s>%s</th>", when(i < texts, ` style="text-align:left"`), c)
		}
	}
	p.add("</tr></thead><tbody>")
}

// reportPage is the report of a cell's runs.
func reportPage(views []*view, s script) string {
	p := new(page)
	p.begin(s.Styled)
	for _, v := range views {
		p.view(v)
	}
	p.add("\n</div>")
	p.live(s)
	p.add("\n")
	return p.done()
}

func (p *page) view(v *view) {
	p.add("\n"+`<div class="gonbext-run" data-start="%s">`+"\n", v.Start())
	p.name(v.Title)
	p.add("\n")
	p.verdict(v.Color, v.Mark+" "+v.Verdict)
	p.figures(v.Figures, false)
	p.lines(v.Lines)
	if v.Hint.Text != "" {
		p.add(box+"%s", v.Hint.Text)
		if v.Hint.Line != "" {
			p.add("<pre>%s</pre>", v.Hint.Line)
		}
		p.add("</div>")
	}
	for _, note := range v.Notes {
		p.add(box+"%s</div>", note)
	}
	for i := range v.WhatIf {
		p.add("\n")
		p.rows(&v.WhatIf[i], "")
	}
	p.tree(v)
	p.operations(v)
	if v.HasFolded() {
		p.add("\n")
		p.fold(false, "Chunks", v.ChunksLine())
		p.figures(v.Figures, true)
		p.add("\n</details>")
	}
	p.rest(v)
	if len(v.Facts) > 0 {
		p.add("\n")
		p.fold(false, "Exact figures", "bytes as integers")
		p.add("<p>")
		for _, f := range v.Facts {
			p.add("%s: %s<br>", f.Name, f.Value)
		}
		p.add("</p></details>")
	}
	p.add("\n</div>")
}

// figures writes the figures that belong into the fold, or the others.
func (p *page) figures(all []figure, folded bool) {
	for _, f := range all {
		if f.Folded == folded {
			p.figure(f)
		}
	}
}

func (p *page) figure(f figure) {
	p.add("\n")
	if f.Title != "" {
		p.head(f.Title)
	}
	if f.Caption != "" {
		p.add("<small>%s</small>", f.Caption)
	}
	p.add("\n<div")
	if f.ID != "" {
		p.add(` id="%s"`, f.ID)
	}
	p.add(`><img style="width:100%;max-width:760px"`)
	alt := f.Alt
	if alt == "" {
		alt = f.Title
		if f.Caption != "" {
			alt += ": " + f.Caption
		}
	}
	p.add(` alt="%s" %s></div>`, alt, f.Picture)
}

func (p *page) live(s script) {
	if s.Live == "" {
		return
	}
	p.add("\n<script>")
	if s.Library != "" {
		p.add("%s(%s,%s);", markup(compact(bootScript)), s.Library, packedScript())
	}
	p.add("(window.gonbextCharts6=window.gonbextCharts6||[]).push(%s);</script>", s.Live)
}

func (p *page) lines(lines []line) {
	if len(lines) == 0 {
		return
	}
	p.add("\n")
	p.head("Go heap by line of the cell")
	p.add("\n")
	p.table("Go heap by line")
	p.add("<thead><tr><th style=text-align:left>line</th><th style=text-align:left>code</th><th>most at once</th><th>allocated in all</th></tr></thead><tbody>")
	for _, l := range lines {
		p.add("\n"+`<tr data-line="%s"><td style=text-align:left>%s</td><td style=text-align:left>`, l.Name(), l.Site)
		if l.Code != "" {
			p.add("<code>%s</code>", l.Code)
		}
		p.add("</td>")
		p.cell(l.Live, true, sizeCell(l.Live))
		p.cell(l.Allocated, true, sizeCell(l.Allocated))
		p.add("</tr>")
	}
	p.add("\n</table></div>")
}

// cell is a figure in a table; exact where it is given as an integer too, unless it is zero.
func (p *page) cell(n int64, exact bool, text string) {
	p.add("<td")
	if exact && n != 0 {
		p.add(` title="%s"`, countOrUnknown(n))
	}
	p.add(">%s</td>", text)
}

func sizeCell(n int64) string { return unbroken(sizeOrDash(n)) }

func (p *page) tree(v *view) {
	if v.TreeText == "" {
		return
	}
	title := markup("Plan")
	if !v.Planned {
		title = "Plan and what it did"
	}
	p.add("\n")
	p.fold(v.Planned, title, v.PlanLine())
	if t := v.Tree; t != nil {
		if t.Caption != "" {
			p.add("<small>%s</small>", t.Caption)
		}
		p.add("\n"+`<img style="width:100%;max-width:760px" alt="%s" %s>`+"\n<details><summary>The plan as text</summary>", t.Alt, t.Picture)
	}
	p.add("<pre>%s</pre>%s\n</details>", v.TreeText, when(v.Tree != nil, "</details>"))
}

func (p *page) operations(v *view) {
	if len(v.Operations) == 0 {
		return
	}
	title := markup("Memory and time by operation")
	if v.Planned {
		title = "Memory by operation"
	}
	p.add("\n")
	p.fold(false, title, v.OperationsLine())
	p.add("\n")
	p.table("operations")
	p.columns(v.operationHead(), 1)
	for _, o := range v.Operations {
		if o.Head {
			p.add("\n" + `<tr class="gonbext-stage"`)
			if o.Measured {
				p.add(` data-from="%s" data-to="%s"`, o.From, o.To)
			}
			p.add("><td style=text-align:left><strong>%s</strong><br><small>%s", o.Name, o.Detail)
			if o.Site != "" {
				p.add(" · %s", o.Site)
			}
			p.add("</small></td>")
		} else {
			p.add("\n<tr><td style=text-align:left><b style=color:%s>■</b> %s</td>", o.Color, o.Name)
		}
		for _, c := range v.operationCells(&o) {
			p.cell(c.exact, o.Head, unbroken(c.text))
		}
		p.add("</tr>")
	}
	p.add("\n</table></div>")
	if !v.Planned {
		p.add("\n<small>Requested is what a step asked for, reserved what it was given, in whole pages, of all chunks in flight")
		if slots := v.IdleSlots(); slots != "" {
			p.add(" (%s)", slots)
		}
		p.add(". The times of its parts are sums over what ran side by side.</small>")
	}
	p.add("\n</details>")
}

func (p *page) rest(v *view) {
	if len(v.Rest) == 0 {
		return
	}
	p.add("\n")
	p.fold(false, "Where the process's memory was", v.RestLine())
	p.add("\n<small>At its largest: %s.</small>\n"+`<div class=gonbext-split style="display:flex;height:18px;max-width:760px">`, v.RestWhen())
	for _, r := range v.Rest {
		if r.Percent != 0 {
			p.add(`<span style="width:%s%;background:%s"></span>`, fmt.Sprintf("%.1f", r.Percent), r.Color)
		}
	}
	p.add("</div>")
	p.table("where the memory was")
	for _, r := range v.Rest {
		p.add("\n<tr><td style=text-align:left>")
		if r.Color != "" {
			p.add("<b style=color:%s>■</b> ", r.Color)
		}
		p.add("%s", r.Name)
		if r.Note != "" {
			p.add(" <small>· %s</small>", r.Note)
		}
		p.add("</td>")
		p.cell(r.Bytes, true, sizeCell(r.Bytes))
		p.add("</tr>")
	}
	p.add("\n</table></div>\n</details>")
}

// sheetPage is what is no report of a run.
func sheetPage(sh *sheet, s script) string {
	p := new(page)
	p.begin(s.Styled)
	p.add("\n")
	if sh.Head != "" {
		p.head(sh.Head)
	} else {
		p.name(sh.Title)
	}
	p.add("\n")
	if sh.Quiet {
		p.add("<p>%s</p>", sh.Verdict)
	} else {
		p.verdict("#47a", sh.Verdict)
	}
	for _, f := range sh.Figures {
		p.figure(f)
	}
	for i := range sh.Tables {
		p.rows(&sh.Tables[i], sh.Title)
	}
	if sh.Note != "" {
		p.add("<small>%s</small>", sh.Note)
	}
	p.add("\n</div>")
	p.live(s)
	p.add("\n")
	return p.done()
}

// rows writes a table, whose label is its caption if it has one.
func (p *page) rows(t *Table, label string) {
	if t.Caption != "" {
		p.head(t.Caption)
		label = t.Caption
	}
	p.table(label)
	if len(t.Head) > 0 {
		p.columns(t.Head, t.Texts)
	}
	for _, row := range t.Rows {
		p.add("\n<tr>")
		for i, c := range row {
			if i < t.Texts {
				p.add(`<td style="text-align:left%s">%s</td>`, wrapped(c), c)
			} else {
				p.add("<td>%s</td>", c)
			}
		}
		p.add("</tr>")
	}
	p.add("\n</table></div>")
	if t.note != "" {
		p.add("\n<small>%s</small>", t.note)
	}
}

// cardPage shows an array; drawing is of its chunks, "" where there is nothing to see.
func cardPage(c *record.Card, styled bool, drawing markup) string {
	p := new(page)
	p.begin(styled)
	p.add("\n")
	p.name(plain(c.Title))
	p.add("\n")
	p.verdict("#47a", cardLine(c))
	for _, note := range c.Notes {
		p.add("<p>%s</p>", warn.Mark+" "+plain(note)+".")
	}
	if len(c.Labels) > 0 {
		p.add("<p>%s</p>", plain(strings.Join(c.Labels, " · ")))
	}
	if len(c.Stats) > 0 {
		p.add("<p>%s</p>", c.StatsLine(" · "))
	}
	p.add("\n" + `<div style="display:flex;flex-wrap:wrap;align-items:center;gap:8px 28px">`)
	if drawing != "" {
		p.add(`<img style="max-width:100%" alt="%s" %s>`, "Chunks: "+cardChunks(c), drawing)
	}
	if len(c.Sample) > 0 {
		p.add(`<div style="max-width:100%;min-width:0">`)
		if c.Within == "" {
			p.table("Its elements")
		} else {
			caption := "The elements at " + c.Within
			p.table(caption)
			p.add(`<caption style="text-align:left;caption-side:top;white-space:nowrap">%s</caption>`, caption)
		}
		p.add(`<tbody style="font-family:var(--jp-code-font-family,ui-monospace,monospace)">`)
		for _, row := range c.Sample {
			p.add("\n<tr>")
			for _, element := range row {
				p.add(`<td style="white-space:pre;text-align:right">%s</td>`, element)
			}
			p.add("</tr>")
		}
		p.add("</table></div></div>")
	}
	p.add("</div></div>\n")
	return p.done()
}

// progressPage is a bar; memory is a picture of it so far, "" where there is none.
func progressPage(title, line string, percent float64, memory markup, at Place) string {
	p := new(page)
	p.add(`<div class=gonbext data-kernel="%s" data-display="%s"><style>%s</style><p class=gonbext-name>%s</p><div class=gonbext-bar role=progressbar aria-label="%s" aria-valuemin="0" aria-valuemax="100" aria-valuenow="%s"><span style="width:%s%"></span></div><p>%s</p>`,
		at.Kernel, at.Display, markup(reportStyle), title, title, fmt.Sprintf("%.0f", percent), fmt.Sprintf("%.1f", percent), line)
	if memory != "" {
		p.add(`<img alt="Memory so far" width="760" height="280" %s>`, memory)
	}
	p.add("<p><small>If this has stopped moving, after a reload or a restart: %report shows the run.</small></p></div>\n<script>%s;</script>", markup(progressScript))
	return p.done()
}

// standalonePage is a page of its own around a report.
func standalonePage(title string, report markup) string {
	p := new(page)
	p.add(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<title>%s</title><style>:root{color-scheme:light dark}body{margin:24px auto;padding:0 16px;max-width:1100px;font-family:system-ui,-apple-system,"Segoe UI",sans-serif}h1{font-size:20px}body{background:#fff;color:#222}@media screen and (prefers-color-scheme:dark){body{background:#141414;color:#ddd}}</style></head>
<body><main><h1>%s</h1>
%s
</main></body></html>
`, title, title, report)
	return p.done()
}
