package chart

import "testing"

func TestPageEscapesAllButMarkup(t *testing.T) {
	p := new(page)
	p.add(`<p title="%s" style="width:%s%">%s</p>%s`, `"'<%s>&`, 3, "a < b\x00", markup("<br>"))
	want := `<p title="&#34;&#39;&lt;%s&gt;&amp;" style="width:3%">a &lt; b` + "\uFFFD" + `</p><br>`
	if got := p.done(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
